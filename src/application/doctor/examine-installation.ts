import { type Diagnosis, problem } from '../../domain/diagnosis.js';
import { messageOf } from '../../domain/errors.js';
import { type Examination } from '../../ports/examination.js';

/** Looks at every part of the installation. What cannot be looked at is a problem of its own and keeps no other part from it. */
export class ExamineInstallation {
  private running: Promise<Diagnosis[]> | null = null;

  constructor(private readonly examinations: readonly Examination[]) {}

  /** In the order of the parts. Who asks while another look goes on gets its answer. */
  async examine(): Promise<Diagnosis[]> {
    this.running ??= this.examineAll().finally(() => (this.running = null));
    return this.running;
  }

  private async examineAll(): Promise<Diagnosis[]> {
    const found = await Promise.all(
      this.examinations.map(async (examination) => {
        try {
          return await examination.examine();
        } catch (error) {
          const finding = `could not be looked at: ${endOf(messageOf(error))}`;
          return [problem(examination.part, finding, 'see what else is wrong, mend it and look again')];
        }
      }),
    );
    return found.flat();
  }
}

/** A driver puts the whole statement before its words. */
const endOf = (text: string): string => text.replace(/\s+/g, ' ').slice(-200);

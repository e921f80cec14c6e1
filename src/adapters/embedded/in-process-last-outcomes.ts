import { type LastOutcome, type LastOutcomes } from '../../ports/last-outcomes.js';

/** Outcomes of one process, by task; there are no more than tasks that ran in it. */
export class InProcessLastOutcomes implements LastOutcomes {
  private readonly known = new Map<string, LastOutcome>();
  private filled: string | null = null;

  async read(taskId: string): Promise<LastOutcome | null> {
    return this.known.get(taskId) ?? null;
  }

  async note(outcomes: Parameters<LastOutcomes['note']>[0]): Promise<void> {
    for (const { taskId, outcome } of outcomes) this.noteOne(taskId, outcome);
  }

  async filledFor(): Promise<string | null> {
    return this.filled;
  }

  async markFilled(epoch: string): Promise<void> {
    this.filled = epoch;
  }

  noteOne(taskId: string, outcome: LastOutcome): void {
    if ((this.known.get(taskId)?.slot ?? -Infinity) <= outcome.slot) this.known.set(taskId, outcome);
  }
}

import { type HookRepo } from '../../ports/hook-repo.js';
import { type LastOutcomes } from '../../ports/last-outcomes.js';

/**
 * Completes what workers know of the outcomes of other tasks from the store, once in each life of the queue: before anything is published in
 * it, so that no pre-hook takes a task whose outcome the queue has lost for one that never ran.
 */
export class FillOutcomes {
  private filledFor: string | null = null;

  constructor(
    private readonly deps: {
      readonly hooks: Pick<HookRepo, 'watchedOutcomes'>;
      readonly lastOutcomes: Omit<LastOutcomes, 'read'>;
    },
  ) {}

  /** @throws AxError `unavailable`; the call can be repeated. */
  async ensure(queueEpoch: string): Promise<void> {
    if (this.filledFor === queueEpoch) return;
    const { hooks, lastOutcomes } = this.deps;
    if ((await lastOutcomes.filledFor()) !== queueEpoch) {
      await lastOutcomes.note(await hooks.watchedOutcomes());
      await lastOutcomes.markFilled(queueEpoch);
    }
    this.filledFor = queueEpoch;
  }
}

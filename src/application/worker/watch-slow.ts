import { type TaskSnapshot } from '../../ports/queue.js';
import { taskLabels } from '../count-ended.js';
import { type RunDeps } from './run-deps.js';

/**
 * Says once that a run takes longer than its task's `slow_after_sec`, seconds from now; nothing is done to the run. Call the result when
 * its end is decided: what its report then waits for is no slowness of its own.
 */
export function watchSlow(
  { clock, metrics, logger }: Pick<RunDeps, 'clock' | 'metrics' | 'logger'>,
  { id, group, policy: { slowAfterSec } }: TaskSnapshot,
  facts: Readonly<Record<string, unknown>>,
  onSlow: (slowAfterSec: number) => void,
): () => void {
  if (slowAfterSec === null) return () => undefined;
  return clock.schedule(slowAfterSec * 1000, () => {
    metrics.count('slow_executions_total', taskLabels({ id, group }));
    logger.warn({ ...facts, slow_after_sec: slowAfterSec }, 'the run is slow');
    onSlow(slowAfterSec);
  });
}

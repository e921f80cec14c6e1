import { type Clock } from '../../src/ports/clock.js';

/** `Clock.sleep` by way of `Clock.schedule`. */
export function sleepOn(clock: Pick<Clock, 'schedule'>, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

import { type Clock } from '../ports/clock.js';
import { type Wakeup } from '../ports/wakeup.js';

/** Sleeps that end early on a wake-up or a stop; a wake-up between two sleeps makes the second one return at once. */
export class WakeableSleep {
  private wasWoken = false;
  private endCurrent: () => void = () => undefined;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly clock: Clock,
    wakeup: Wakeup,
  ) {
    this.unsubscribe = wakeup.subscribe(() => this.wake());
  }

  wake(): void {
    this.wasWoken = true;
    this.endCurrent();
  }

  async sleep(ms: number, stop: AbortSignal): Promise<void> {
    if (!this.wasWoken && !stop.aborted && ms > 0) await this.untilWoken(ms, stop);
    this.wasWoken = false;
  }

  private untilWoken(ms: number, stop: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        stop.removeEventListener('abort', end);
        this.endCurrent = () => undefined;
        resolve();
      };
      const cancel = this.clock.schedule(ms, end);
      stop.addEventListener('abort', end, { once: true });
      this.endCurrent = end;
    });
  }

  close(): void {
    this.unsubscribe();
  }
}

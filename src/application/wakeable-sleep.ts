import { type Clock } from '../ports/clock.js';
import { type Wakeup } from '../ports/wakeup.js';

/** Sleeps that end early on a wake-up or a stop; a wake-up between two sleeps makes the second one return at once. */
export class WakeableSleep {
  private wasWoken = false;
  private current: AbortController | null = null;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly clock: Clock,
    wakeup: Wakeup,
  ) {
    this.unsubscribe = wakeup.subscribe(() => this.wake());
  }

  wake(): void {
    this.wasWoken = true;
    this.current?.abort();
  }

  async sleep(ms: number, stop: AbortSignal): Promise<void> {
    if (!this.wasWoken && !stop.aborted && ms > 0) {
      const controller = new AbortController();
      const onStop = () => controller.abort();
      this.current = controller;
      stop.addEventListener('abort', onStop, { once: true });
      await this.clock.sleep(ms, controller.signal);
      stop.removeEventListener('abort', onStop);
      this.current = null;
    }
    this.wasWoken = false;
  }

  close(): void {
    this.unsubscribe();
  }
}

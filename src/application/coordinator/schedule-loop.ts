import { messageOf } from '../../domain/errors.js';
import { type Clock } from '../../ports/clock.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Wakeup } from '../../ports/wakeup.js';
import { type Readiness } from '../readiness.js';
import { WakeableSleep } from '../wakeable-sleep.js';
import { type Leadership } from './leadership.js';
import { type Tick } from './tick.js';

/** After a failed turn; short, since a store that is back must see dispatch go on soon. */
const RETRY_MS = 500;

/** Drives the tick until stopped, then hands the leadership over. A failed turn is logged and repeated; it never ends the loop. */
export class ScheduleLoop {
  constructor(
    private readonly deps: {
      readonly tick: Tick;
      readonly leadership: Leadership;
      readonly wakeup: Wakeup;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
      readonly readiness: Readiness;
    },
  ) {
    deps.readiness.expect('tick');
  }

  async run(stop: AbortSignal): Promise<void> {
    const sleeper = new WakeableSleep(this.deps.clock, this.deps.wakeup);
    try {
      while (!stop.aborted) await sleeper.sleep(await this.turn(), stop);
    } finally {
      sleeper.close();
      await this.handOver();
    }
  }

  private async turn(): Promise<number> {
    const { tick, readiness, metrics, logger } = this.deps;
    try {
      const sleepMs = await tick.turn();
      readiness.good('tick');
      return sleepMs;
    } catch (error) {
      readiness.bad('tick', messageOf(error));
      metrics.count('tick_errors_total', {});
      logger.error({ err: error }, 'tick failed, trying again');
      return RETRY_MS;
    }
  }

  private async handOver(): Promise<void> {
    try {
      await this.deps.leadership.release();
      await this.deps.wakeup.notify();
    } catch (error) {
      this.deps.logger.warn({ err: error }, 'lease not released, it ends by itself');
    }
  }
}

import { AxError } from '../../src/domain/errors.js';

/**
 * What lies between one node and the ports of a store, for tests that disturb it:
 * - `passing`: calls go through;
 * - `cut`: calls are refused as `unavailable` and have no effect;
 * - `mute`: calls take effect, and their answers are lost: `unavailable`;
 * - `dead`: the node is gone; what it calls, or has called, never returns to it.
 */
export class Link {
  state: 'passing' | 'cut' | 'mute' | 'dead' = 'passing';
  /** Runs ahead of every call that would go through, and may disturb it; what it throws is what the call throws. */
  before: (method: string, args: readonly unknown[]) => void | Promise<void> = () => undefined;
  /** Runs when a call has taken effect, and may keep its answer back, or its error. */
  after: (method: string) => void | Promise<void> = () => undefined;
  /** Names of the calls that went through, in order. */
  readonly calls: string[] = [];
  /** Calls that the store has not answered yet. */
  open = 0;

  /** The port that `find` gives at the time of each call, which is asynchronous. */
  to<T extends object>(find: () => T): T {
    const known = new Map<string | symbol, unknown>();
    return new Proxy({} as T, {
      get: (_, name) => {
        if (!known.has(name)) known.set(name, (...args: unknown[]) => this.call(find(), String(name), args));
        return known.get(name);
      },
    });
  }

  private async call(port: object, method: string, args: unknown[]): Promise<unknown> {
    if (this.state === 'passing' || this.state === 'mute') {
      const pause = this.before(method, args);
      if (pause !== undefined) await pause;
    }
    if (this.is('cut')) throw away(method);
    if (this.is('dead')) return silence();
    this.calls.push(method);
    this.open += 1;
    let answer: unknown;
    try {
      answer = await (Reflect.get(port, method) as (...args: unknown[]) => Promise<unknown>).apply(
        port,
        args,
      );
    } finally {
      this.open -= 1;
      const pause = this.after(method);
      if (pause !== undefined) await pause;
    }
    if (this.is('dead')) return silence();
    if (this.is('mute')) throw away(method);
    return answer;
  }

  /** Asked anew, since the state may have changed during a call. */
  private is(state: Link['state']): boolean {
    return this.state === state;
  }
}

const away = (method: string): AxError => new AxError('unavailable', `${method}: the store is away`);

const silence = (): Promise<never> => new Promise(() => undefined);

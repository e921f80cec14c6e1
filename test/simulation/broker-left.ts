import { type InProcessReceipts } from '../../src/adapters/embedded/in-process-receipts.js';
import { type InProcessState } from '../../src/adapters/embedded/in-process-state.js';

interface Wait {
  readonly state: string;
  readonly tokenHash: string;
}

/**
 * What is left in a broker of runs that have all ended: in lines, and of runs that a worker has `finished` there, stops and waits whose token
 * a target has. Stops and waits of a run that ended elsewhere, as in a life of the queue that was lost, are forgotten in time; so is a wait
 * whose closing was lost.
 */
export function leftIn(
  { state, receipts }: { readonly state: InProcessState; readonly receipts: InProcessReceipts },
  known: {
    readonly tokens: ReadonlySet<string>;
    readonly finished: ReadonlySet<string>;
    readonly hasLostClosing: (executionId: string) => boolean;
  },
): Readonly<Record<string, number>> {
  const { tokens, finished, hasLostClosing } = known;
  const lines = Reflect.get(state.lines, 'byTask') as ReadonlyMap<string, readonly unknown[]>;
  const reasons = Reflect.get(state.stops, 'reasons') as ReadonlyMap<string, unknown>;
  const waits = [...(Reflect.get(receipts, 'waits') as ReadonlyMap<string, Wait>)];
  return {
    waiters: [...lines.values()].reduce((sum, line) => sum + line.length, 0),
    stops: [...reasons.keys()].filter((id) => finished.has(id)).length,
    waits: waits.filter(
      ([id, wait]) =>
        wait.state !== 'closed' && tokens.has(wait.tokenHash) && finished.has(id) && !hasLostClosing(id),
    ).length,
  };
}

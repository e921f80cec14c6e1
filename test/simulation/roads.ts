import { AxError } from '../../src/domain/errors.js';
import { type Link } from '../support/link.js';
import { type Chance } from './chance.js';
import { type NodeClock } from './node-clock.js';
import { type Side, type Trap } from './plan.js';
import { type VirtualTime } from './virtual-time.js';

/** Share of calls that take a moment even on a good day, and how long at most. */
const USUAL = { share: 0.05, mostMs: 40 };

/** What happens to the calls of one machine on their way: they take time, wait for a stopped process, and spring traps. */
export class Roads {
  /** Most ms that a call is kept back at each end, by link. */
  readonly slowMs: Record<Side, number> = { store: 0, redis: 0 };
  private trap: { readonly trap: NonNullable<Trap>; readonly spring: () => void } | null = null;

  constructor(
    private readonly time: VirtualTime,
    private readonly clock: NodeClock,
    private readonly chance: Chance,
  ) {}

  /** A blow that strikes at the next call of that name, or at once. */
  set(trap: Trap, blow: () => void): void {
    if (trap === null) return blow();
    this.trap = { trap, spring: blow };
  }

  clear(): void {
    this.trap = null;
  }

  heal(): void {
    this.trap = null;
    this.slowMs.store = this.slowMs.redis = 0;
  }

  lay(link: Link, side: Side): void {
    link.before = (method) => this.pass(method, 'before', side);
    link.after = (method) => this.pass(method, 'after', side);
  }

  /** The middle of a transaction of a process, which is rolled back if the process has died meanwhile. */
  async within(method: string, isAlive: () => boolean): Promise<void> {
    await this.pass(method, 'within', 'store');
    if (!isAlive()) throw new AxError('unavailable', `${method}: the connection died with its process`);
  }

  /** Undefined when nothing is to be waited for. */
  private pass(method: string, when: NonNullable<Trap>['when'], side: Side): Promise<void> | undefined {
    if (this.trap?.trap.method === method && this.trap.trap.when === when) {
      const { spring } = this.trap;
      this.trap = null;
      spring();
    }
    const slow = this.slowMs[side];
    const isUsual = slow === 0 && !this.chance.is(USUAL.share);
    if (isUsual) return this.clock.isPaused ? this.clock.awake() : undefined;
    const ms = slow > 0 ? this.chance.int(0, slow) : this.chance.int(1, USUAL.mostMs);
    return this.time.sleep(ms).then(() => this.clock.awake());
  }
}

/** The tasks of one episode, and when each of them is expected: plain arithmetic on seconds, none of ax's schedule code. */

export interface MixedTask {
  readonly id: string;
  /** The body of `POST /api/tasks`. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly isIdempotent: boolean;
  readonly windowMs: number;
  /** Every expected slot, epoch ms, in order. */
  readonly slots: readonly number[];
  /** What the episode does to the task in its middle. */
  readonly fate: 'stays' | 'disabled' | 'deleted';
}

interface Kind {
  readonly name: string;
  readonly count: number;
  readonly schedule:
    { readonly everySec: number } | { readonly cron: string; readonly seconds: readonly number[] };
  readonly workMs: number;
  readonly isIdempotent: boolean;
  readonly policy: Readonly<Record<string, unknown>>;
  readonly fate?: MixedTask['fate'];
}

const RETRIES = { retry_count: 3, retry_interval: 1 };
const CATCH_UP = { misfire_policy: 'catch_up', misfire_limit: 20 };
const everyThird = Array.from({ length: 20 }, (_, i) => i * 3);

const KINDS: readonly Kind[] = [
  { name: 'fast', count: 6, schedule: { everySec: 1 }, workMs: 20, isIdempotent: true, policy: RETRIES },
  {
    name: 'wide',
    count: 3,
    schedule: { everySec: 1 },
    workMs: 700,
    isIdempotent: true,
    policy: { ...RETRIES, max_concurrent: 10 },
  },
  {
    name: 'once',
    count: 4,
    schedule: { everySec: 1 },
    workMs: 20,
    isIdempotent: false,
    policy: { max_concurrent: 5 },
  },
  {
    name: 'once-busy',
    count: 3,
    schedule: { everySec: 1 },
    workMs: 600,
    isIdempotent: false,
    policy: { max_concurrent: 3 },
  },
  {
    name: 'caught-up',
    count: 2,
    schedule: { everySec: 2 },
    workMs: 50,
    isIdempotent: true,
    policy: { ...RETRIES, ...CATCH_UP, max_concurrent: 20 },
  },
  {
    name: 'long',
    count: 3,
    schedule: { everySec: 2 },
    workMs: 1500,
    isIdempotent: true,
    policy: { ...RETRIES, max_concurrent: 2 },
  },
  { name: 'once-long', count: 2, schedule: { everySec: 5 }, workMs: 2500, isIdempotent: false, policy: {} },
  {
    name: 'cron-skip',
    count: 2,
    schedule: { cron: '*/3 * * * * *', seconds: everyThird },
    workMs: 50,
    isIdempotent: true,
    policy: { misfire_policy: 'skip' },
  },
  {
    name: 'cron-list',
    count: 2,
    schedule: { cron: '4,11,19,28,33,41,50,59 * * * * *', seconds: [4, 11, 19, 28, 33, 41, 50, 59] },
    workMs: 50,
    isIdempotent: false,
    policy: {},
  },
  {
    name: 'disabled',
    count: 1,
    schedule: { everySec: 1 },
    workMs: 20,
    isIdempotent: true,
    policy: {},
    fate: 'disabled',
  },
  {
    name: 'deleted',
    count: 1,
    schedule: { everySec: 1 },
    workMs: 20,
    isIdempotent: false,
    policy: {},
    fate: 'deleted',
  },
];

/** The whole mix between two instants (epoch ms, whole seconds, both inclusive). */
export function taskMix(
  prefix: string,
  startAt: number,
  endAt: number,
  urlFor: (workMs: number) => string,
): MixedTask[] {
  const bounds = { start_at: startAt, end_at: endAt };
  return KINDS.flatMap((kind) =>
    Array.from({ length: kind.count }, (_, i) => {
      const id = `${prefix}-${kind.name}-${i}`;
      const { schedule } = kind;
      const when =
        'everySec' in schedule
          ? { schedule_type: 'interval', interval: schedule.everySec }
          : { schedule_type: 'cron', cron_expr: schedule.cron };
      return {
        id,
        body: {
          id,
          name: id,
          ...when,
          ...bounds,
          executor: { type: 'http', url: urlFor(kind.workMs) },
          timeout_sec: 3,
          idempotent: kind.isIdempotent,
          ...kind.policy,
        },
        isIdempotent: kind.isIdempotent,
        windowMs: 5000,
        slots: wholeSeconds(startAt, endAt).filter((at) =>
          'everySec' in schedule
            ? (at - startAt) % (schedule.everySec * 1000) === 0
            : schedule.seconds.includes((at / 1000) % 60),
        ),
        fate: kind.fate ?? 'stays',
      };
    }),
  );
}

const wholeSeconds = (from: number, to: number): number[] =>
  Array.from({ length: (to - from) / 1000 + 1 }, (_, i) => from + i * 1000);

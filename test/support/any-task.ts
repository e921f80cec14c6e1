import fc from 'fast-check';
import { DST_GAPS, DST_OVERLAPS } from '../../src/domain/cron.js';
import { HTTP_METHODS } from '../../src/domain/executors/http-spec.js';
import { type Json } from '../../src/domain/json.js';
import { OVERLAP_POLICIES, type Policy } from '../../src/domain/policy.js';
import { intervalAnchor, type Schedule } from '../../src/domain/schedule.js';
import { type Task } from '../../src/domain/task.js';
import { anyHooks } from './any-hooks.js';

const DAY_SEC = 86_400;
const whole = (min: number, max: number) => fc.integer({ min, max });
const text = (max: number) =>
  fc.string({ minLength: 1, maxLength: max }).filter((s) => s.trim() !== '' && !/\p{Cc}/u.test(s));

const policy: fc.Arbitrary<Policy> = fc
  .record({
    timeoutSec: whole(1, 7 * DAY_SEC),
    retryCount: whole(0, 100),
    retryIntervalSec: whole(1, DAY_SEC),
    retryStrategy: fc.constantFrom('fixed', 'exponential'),
    retryMaxIntervalSec: whole(DAY_SEC, 60 * DAY_SEC),
    hasRetryJitter: fc.boolean(),
    maxConcurrent: whole(1, 1000),
    slowAfterSec: fc.option(whole(1, 7 * DAY_SEC)),
    overlapPolicy: fc.constantFrom(...OVERLAP_POLICIES),
    misfirePolicy: fc.constantFrom('fire_once', 'skip', 'catch_up'),
    misfireLimit: whole(1, 1000),
    misfireMaxAgeSec: whole(1, 366 * DAY_SEC),
    windowSec: whole(1, DAY_SEC),
    isIdempotent: fc.boolean(),
  })
  .map((drawn) => ({ ...drawn, isIdempotent: drawn.isIdempotent || drawn.retryCount > 0 }));

/** Schedules that fire after `now`, of a task created at `createdAt`. */
const schedule = (createdAt: number): fc.Arbitrary<Schedule> => {
  const later = fc
    .integer({ min: 400 * DAY_SEC * 1000, max: 4000 * DAY_SEC * 1000 })
    .map((ms) => createdAt + ms);
  const bounds = {
    startAt: fc.option(fc.integer({ min: 0, max: createdAt + 300 * DAY_SEC * 1000 })),
    endAt: fc.option(fc.constant(Date.UTC(2200, 0, 1, 0, 0, 0, 1))),
    jitterSec: fc.constantFrom(0, 0, 30, DAY_SEC),
  };
  const cron = fc.record({
    type: fc.constant('cron' as const),
    expr: fc.constantFrom('0 * * * *', '*/5 8-18 * * MON-FRI', '30 15 3 1 * *', '@daily'),
    timezone: fc.constantFrom('UTC', 'Asia/Shanghai', 'America/New_York', 'Asia/Kathmandu'),
    dialect: fc.constant('unix' as const),
    dstGap: fc.constantFrom(...DST_GAPS),
    dstOverlap: fc.constantFrom(...DST_OVERLAPS),
    calendar: fc.constant(null),
    ...bounds,
  });
  const interval = fc
    .record({ type: fc.constant('interval' as const), everySec: whole(1, 366 * DAY_SEC), ...bounds })
    .map((drawn) => ({ ...drawn, anchorAt: intervalAnchor(drawn.startAt, createdAt) }));
  return fc.oneof(cron, interval, fc.record({ type: fc.constant('once' as const), runAt: later }));
};

/** Any valid task, created at `createdAt` (epoch ms). */
export const anyTask = (createdAt = Date.UTC(2026, 0, 5, 0, 0, 0, 123)): fc.Arbitrary<Task> =>
  fc.record({
    id: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
    name: text(100),
    group: text(30),
    schedule: schedule(createdAt),
    former: fc.array(fc.record({ schedule: schedule(createdAt), until: fc.constant(createdAt) }), {
      maxLength: 2,
    }),
    executor: fc.record({
      type: fc.constant('http' as const),
      url: fc.webUrl(),
      method: fc.constantFrom(...HTTP_METHODS),
      headers: fc.dictionary(fc.stringMatching(/^A[a-z-]{0,20}$/), fc.stringMatching(/^[ -~]{0,50}$/), {
        maxKeys: 5,
      }),
      ack: fc.constantFrom('response' as const, 'receipt' as const),
      signature: fc.constantFrom(null, { secret: 'ORDERS_2' }),
    }),
    params: fc
      .jsonValue({ maxDepth: 4 })
      .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as Json),
    policy,
    hooks: anyHooks,
    pool: fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/),
    labels: fc.dictionary(
      fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,20}$/),
      fc.string({ maxLength: 50 }),
      {
        maxKeys: 5,
      },
    ),
    owner: fc.option(text(30)),
    isEnabled: fc.boolean(),
    nextTriggerTime: fc.option(fc.integer({ min: createdAt, max: Date.UTC(2100, 0) })),
    version: whole(1, 1000),
    error: fc.constant(null),
    createdAt: fc.constant(createdAt),
    updatedAt: fc.constant(createdAt),
  });

import { DEFAULT_CRON } from '../../../src/domain/cron.js';
import { NO_HOOKS } from '../../../src/domain/hooks.js';
import { DEFAULT_POLICY, type Policy } from '../../../src/domain/policy.js';
import { type CronSchedule, type IntervalSchedule } from '../../../src/domain/schedule.js';
import { type TaskDefinition } from '../../../src/domain/task.js';

/** A valid definition: hourly, in UTC, with default policy. */
export const definition = (overrides: Partial<TaskDefinition> = {}): TaskDefinition => ({
  name: 'Sync orders',
  group: 'default',
  schedule: cronSchedule('0 * * * *'),
  executor: {
    type: 'http',
    url: 'http://orders:8080/jobs/sync',
    method: 'POST',
    headers: {},
    ack: 'response',
    signature: null,
  },
  params: {},
  policy: DEFAULT_POLICY,
  hooks: NO_HOOKS,
  pool: 'default',
  labels: {},
  owner: null,
  isEnabled: true,
  ...overrides,
});

export const policyOf = (overrides: Partial<Policy> = {}): Policy => ({ ...DEFAULT_POLICY, ...overrides });

export const cronSchedule = (
  expr: string,
  timezone = 'UTC',
  bounds: Partial<CronSchedule> = {},
): CronSchedule => ({
  type: 'cron',
  expr,
  timezone,
  ...DEFAULT_CRON,
  startAt: null,
  endAt: null,
  jitterSec: 0,
  ...bounds,
});

export const intervalSchedule = (
  everySec: number,
  anchorAt: number,
  bounds: Partial<Pick<IntervalSchedule, 'startAt' | 'endAt' | 'jitterSec'>> = {},
): IntervalSchedule => ({
  type: 'interval',
  everySec,
  anchorAt,
  startAt: null,
  endAt: null,
  jitterSec: 0,
  ...bounds,
});

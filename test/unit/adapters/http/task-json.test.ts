import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_CRON } from '../../../../src/domain/cron.js';
import { taskDraft, taskJson, taskReplacement } from '../../../../src/adapters/http/task-json.js';
import { type FieldProblem, InvalidInput } from '../../../../src/domain/errors.js';
import { NO_HOOKS } from '../../../../src/domain/hooks.js';
import { DEFAULT_POLICY } from '../../../../src/domain/policy.js';
import { type Task } from '../../../../src/domain/task.js';
import { BASE, buildTask } from '../../../support/builders.js';
import { anyTask } from '../../../support/any-task.js';

const executor = { type: 'http', url: 'http://callee/run' };
const minimal = { name: 'n', schedule_type: 'cron', cron_expr: '0 * * * *', executor };

const problemsOf = (read: () => unknown): readonly FieldProblem[] => {
  try {
    read();
  } catch (error) {
    if (error instanceof InvalidInput) return error.problems;
    throw error;
  }
  return [];
};
const refused = (json: unknown) => problemsOf(() => taskDraft(json));
const fieldsOf = (json: unknown) => refused(json).map(({ field }) => field);

describe('the JSON of a task', () => {
  it('read back, written again and judged anew is the same definition', () => {
    fc.assert(
      fc.property(anyTask(), (task) => {
        const json = JSON.parse(JSON.stringify(taskJson(task, null))) as unknown;
        const { version, draft } = taskReplacement(json, task.id);
        const { id, former, nextTriggerTime, version: v, error, createdAt, updatedAt, ...definition } = task;
        void [id, former, nextTriggerTime, error, updatedAt];
        expect(draft(createdAt)).toEqual(definition);
        expect(version).toBe(v);
      }),
    );
  });

  it('fills in the safe defaults', () => {
    const { id, draft } = taskDraft(minimal);
    expect(id).toBeNull();
    expect(draft(BASE)).toEqual({
      name: 'n',
      group: 'default',
      schedule: {
        type: 'cron',
        expr: '0 * * * *',
        timezone: 'UTC',
        ...DEFAULT_CRON,
        startAt: null,
        endAt: null,
        jitterSec: 0,
      },
      executor: {
        type: 'http',
        url: 'http://callee/run',
        method: 'POST',
        headers: {},
        ack: 'response',
        signature: null,
      },
      params: null,
      policy: DEFAULT_POLICY,
      hooks: NO_HOOKS,
      pool: 'default',
      labels: {},
      owner: null,
      isEnabled: true,
    });
  });

  it('anchors an interval at start_at, else at its creation', () => {
    const interval = { ...minimal, cron_expr: undefined, schedule_type: 'interval', interval: 60 };
    expect(taskDraft(interval).draft(BASE + 700).schedule).toMatchObject({ anchorAt: BASE });
    const started = { ...interval, start_at: '2026-01-05T08:00:30+08:00' };
    expect(taskDraft(started).draft(BASE + 700).schedule).toMatchObject({ anchorAt: BASE + 30_000 });
  });

  it('shows every field, null where the schedule has none', () => {
    const once: Task = buildTask({
      id: 'a',
      schedule: { type: 'once', runAt: BASE + 1 },
      nextTriggerTime: null,
    });
    expect(taskJson(once, null)).toMatchObject({
      schedule_type: 'once',
      cron_expr: null,
      timezone: null,
      interval: null,
      run_at: '2026-01-05T00:00:00.001Z',
      start_at: null,
      end_at: null,
      next_trigger_time: null,
      created_at: '2026-01-05T00:00:00.000Z',
      error: null,
    });
  });

  it('shows what is known of a broken row', () => {
    const broken = { id: 'a', name: 'n', group: 'g', isEnabled: true, version: 3, error: 'no such zone' };
    expect(taskJson(broken, null)).toEqual({
      id: 'a',
      name: 'n',
      group: 'g',
      enabled: true,
      version: 3,
      error: 'no such zone',
    });
  });
});

describe('a refused task', () => {
  it('names all its problems at once', () => {
    const json = {
      name: 7,
      schedule_type: 'interval',
      cron_expr: '* * * * *',
      executor: { type: 'http', url: null, body: 'x' },
      timeout_sec: '30',
      enabled: 'yes',
      labels: { a: 1 },
      misfire_policy: 'later',
      colour: 'red',
      id: '../etc',
    };
    expect(fieldsOf(json).toSorted()).toEqual(
      [
        'name',
        'executor.url',
        'executor.body',
        'timeout_sec',
        'enabled',
        'labels.a',
        'misfire_policy',
        'colour',
        'id',
        'interval',
        'cron_expr',
      ].toSorted(),
    );
    for (const { problem, fix } of refused(json)) expect([problem, fix]).not.toContain('');
  });

  it.each([
    ['timeoutSec', 'timeout_sec'],
    ['timeout', 'timeout_sec'],
    ['retries_count', 'retry_count'],
    ['cron', 'cron_expr'],
    ['time_zone', 'timezone'],
    ['maxConcurrent', 'max_concurrent'],
    ['label', 'labels'],
    ['nmae', 'name'],
    ['misfire_max_age', 'misfire_max_age_sec'],
  ])('with %s is asked whether it meant %s', (given, meant) => {
    expect(refused({ ...minimal, [given]: 1 })).toEqual([
      { field: given, problem: 'is not a known field', fix: `did you mean "${meant}"?` },
    ]);
  });

  it.each(['alert', 'constructor', '__proto__'])(
    'may not have %s, which this version does not know',
    (field) => {
      const json = JSON.parse(JSON.stringify(minimal).replace('{', `{"${field}":1,`)) as unknown;
      expect(refused(json)).toMatchObject([{ field, problem: 'is not a known field' }]);
    },
  );

  it.each(['version', 'next_trigger_time', 'created_at', 'updated_at', 'error'])(
    'may not set %s',
    (field) => {
      expect(refused({ ...minimal, [field]: null })).toEqual([
        { field, problem: 'is set by ax', fix: 'leave it out' },
      ]);
    },
  );

  it.each([
    [{ schedule_type: 'cron', cron_expr: undefined }, ['cron_expr']],
    [{ schedule_type: 'cron', cron_expr: null, interval: 5 }, ['cron_expr', 'interval']],
    [{ schedule_type: 'interval', interval: 5 }, ['cron_expr']],
    [{ schedule_type: 'interval', interval: 5, cron_expr: null, timezone: 'UTC' }, ['timezone']],
    [{ schedule_type: 'once', cron_expr: null }, ['run_at']],
    [
      { schedule_type: 'once', run_at: BASE, start_at: BASE, end_at: BASE },
      ['cron_expr', 'start_at', 'end_at'],
    ],
    [{ schedule_type: undefined }, ['schedule_type']],
    [{ schedule_type: 'daily' }, ['schedule_type']],
  ])('with the schedule %j names %j', (schedule, fields) => {
    expect(fieldsOf({ ...minimal, ...schedule })).toEqual(fields);
  });

  it.each(['name', 'timeout_sec', 'executor', 'labels', 'pool', 'enabled', 'group', 'retry_jitter'])(
    'may not have null as its %s',
    (field) => {
      expect(refused({ ...minimal, [field]: null })).toMatchObject([{ field, problem: 'is null' }]);
    },
  );

  it.each([
    [{ type: 'ftp', url: 'q' }, 'executor.type', '"ftp" is not possible'],
    [{ url: 'http://a' }, 'executor.type', 'is missing'],
    [{ type: 'http', url: 'http://a', method: 'TRACE' }, 'executor.method', '"TRACE" is not possible'],
    [{ type: 'http', url: 'http://a', headers: { a: ['b'] } }, 'executor.headers.a', 'is a list'],
    ['http://a', 'executor', 'is a string'],
  ])('with the executor %j names %s', (other, field, problem) => {
    expect(refused({ ...minimal, executor: other })).toMatchObject([{ field, problem }]);
  });

  it.each([undefined, null, [], 'task', 3])('may not be %j', (json) => {
    expect(refused(json)).toEqual([
      { field: 'body', problem: expect.any(String) as string, fix: 'give an object' },
    ]);
  });

  it('may not have params that could not be written again', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 70; i++) deep = [deep];
    for (const params of [deep, { n: Infinity }, [undefined], [() => 1]]) {
      expect(refused({ ...minimal, params })).toMatchObject([{ field: 'params' }]);
    }
  });

  it('gets an answer of bounded size and in little time', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`retry_cuont${i}`, i]));
    expect(refused({ ...minimal, ...many }).length).toBeLessThanOrEqual(110);
    expect(refused({ ...minimal, ['x'.repeat(200_000)]: 1 })[0]?.field.length).toBe(64);
    const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`l${i}`, i]));
    expect(refused({ ...minimal, labels }).length).toBeLessThanOrEqual(110);
  });
});

describe('a replacement', () => {
  it('may not name another id', () => {
    expect(problemsOf(() => taskReplacement({ ...minimal, id: 'b' }, 'a'))).toMatchObject([{ field: 'id' }]);
    expect(taskReplacement({ ...minimal, id: 'a' }, 'a').version).toBeNull();
  });

  it('checks the version that it names', () => {
    expect(taskReplacement({ ...minimal, version: 4 }, 'a').version).toBe(4);
    expect(problemsOf(() => taskReplacement({ ...minimal, version: '4' }, 'a'))).toEqual([
      { field: 'version', problem: 'is a string', fix: 'give a number' },
    ]);
  });
});

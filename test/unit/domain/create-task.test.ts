import fc from 'fast-check';
import { NO_HOOKS } from '../../../src/domain/hooks.js';
import { describe, expect, it } from 'vitest';
import { InvalidInput, messageOf } from '../../../src/domain/errors.js';
import { FireTimes, type Schedule } from '../../../src/domain/schedule.js';
import { assertParams, createTask, MAX_PARAMS_BYTES, type TaskDefinition } from '../../../src/domain/task.js';
import { anyTask } from '../../support/any-task.js';
import { cronSchedule, definition, intervalSchedule, policyOf } from './definition.js';
import { problemsOf } from './problems-of.js';

const NOW = Date.UTC(2026, 0, 5, 12, 0, 0, 250);
const HOUR_MS = 3_600_000;
const refusalsOf = (overrides: Partial<TaskDefinition>, id = 't') =>
  problemsOf(() => createTask(id, definition(overrides), NOW));

describe('a new task', () => {
  it('is its definition with the first slot after now', () => {
    const given = definition({ labels: { team: 'orders' }, owner: 'ann' });
    expect(createTask('sync-orders', given, NOW)).toEqual({
      ...given,
      id: 'sync-orders',
      nextTriggerTime: Date.UTC(2026, 0, 5, 13),
      former: [],
      version: 1,
      error: null,
      createdAt: NOW,
      updatedAt: NOW,
    });
  });

  it.each<[string, Schedule, number]>([
    ['cron exactly on a slot', cronSchedule('0 * * * *'), Date.UTC(2026, 0, 5, 13)],
    ['interval', intervalSchedule(60, Date.UTC(2026, 0, 5, 12)), Date.UTC(2026, 0, 5, 12, 1)],
    ['start_at', cronSchedule('0 * * * *', 'UTC', { startAt: NOW + 24 * HOUR_MS }), Date.UTC(2026, 0, 6, 13)],
    ['once', { type: 'once', runAt: NOW + 1 }, NOW + 1],
  ])('%s: the first slot', (_, schedule, slot) => {
    expect(createTask('t', definition({ schedule }), NOW).nextTriggerTime).toBe(slot);
  });

  it('has no slot while it is disabled', () => {
    expect(createTask('t', definition({ isEnabled: false }), NOW).nextTriggerTime).toBeNull();
  });

  it('every valid definition is taken', () => {
    fc.assert(
      fc.property(anyTask(NOW), (task) => {
        const created = createTask(task.id, task, NOW);
        const first = new FireTimes().next(task.schedule, NOW);
        expect(created.nextTriggerTime).toBe(task.isEnabled ? first : null);
      }),
      { numRuns: 200 },
    );
  });
});

describe('an id', () => {
  it.each(['a', 'A9', '0', 'sync-orders', 'a.b_c-d', 'x'.repeat(64)])('%j is taken', (id) => {
    expect(createTask(id, definition(), NOW).id).toBe(id);
  });

  it.each([
    '',
    ' ',
    '-a',
    '.a',
    'a b',
    'a/b',
    'a\n',
    'a\u0000',
    'a:b',
    'a%2f',
    'ä',
    '任务',
    '../etc',
    'x'.repeat(65),
  ])('%j is refused', (id) => {
    expect(refusalsOf({}, id)).toEqual([
      { field: 'id', problem: 'is not a task id', fix: expect.stringContaining('1 to 64 letters') as string },
    ]);
  });
});

describe('params', () => {
  const filled = (bytes: number) => ({ data: 'x'.repeat(bytes - '{"data":""}'.length) });

  it('of 64 KiB are taken, one byte more is refused', () => {
    expect(() => createTask('t', definition({ params: filled(MAX_PARAMS_BYTES) }), NOW)).not.toThrow();
    expect(refusalsOf({ params: filled(MAX_PARAMS_BYTES + 1) })).toEqual([
      {
        field: 'params',
        problem: `is ${MAX_PARAMS_BYTES + 1} bytes long`,
        fix: expect.stringContaining('within 65536 bytes') as string,
      },
    ]);
  });

  it('are measured in bytes, not characters', () => {
    expect(refusalsOf({ params: '任'.repeat(22_000) })).toMatchObject([{ field: 'params' }]);
    expect(() => assertParams('任'.repeat(21_000))).not.toThrow();
    expect(problemsOf(() => assertParams('任'.repeat(22_000)))).toMatchObject([{ field: 'params' }]);
  });
});

describe('names', () => {
  it.each<[keyof TaskDefinition, number]>([
    ['name', 128],
    ['group', 64],
    ['owner', 64],
  ])('%s is 1 to %d printable characters', (field, max) => {
    for (const value of ['', '   ', 'a\nb', 'a\u0000', 'a\u0085', 'x'.repeat(max + 1)]) {
      expect(refusalsOf({ [field]: value })).toEqual([
        {
          field,
          problem: 'is empty, too long or has control characters',
          fix: `give 1 to ${max} printable characters`,
        },
      ]);
    }
    for (const value of ['x', 'Ünï 任务 🎉', 'x'.repeat(max)]) {
      expect(() => createTask('t', definition({ [field]: value }), NOW)).not.toThrow();
    }
  });

  it.each(['', 'a b', '-x', 'x'.repeat(65)])('pool %j is refused', (pool) => {
    expect(refusalsOf({ pool })).toMatchObject([{ field: 'pool', problem: 'is not a pool name' }]);
  });
});

describe('labels', () => {
  it.each([
    ['', 'v'],
    ['a b', 'v'],
    ['-a', 'v'],
    ['k'.repeat(64), 'v'],
    ['k', 'v'.repeat(256)],
  ])('%j: %j is refused by its key', (key, value) => {
    expect(refusalsOf({ labels: { good: 'yes', [key]: value } })).toMatchObject([
      { field: `labels.${key}`, problem: 'is not a label' },
    ]);
  });

  it('are 32 at most, and bad ones among too many are named as well', () => {
    const labels = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`k${i}`, 'v'.repeat(255)]));
    expect(() => createTask('t', definition({ labels }), NOW)).not.toThrow();
    expect(refusalsOf({ labels: { ...labels, 'a b': '' } })).toMatchObject([
      { field: 'labels', problem: 'has 33 labels', fix: 'give at most 32' },
      { field: 'labels.a b' },
    ]);
  });
});

describe('all problems of a definition', () => {
  const bad: TaskDefinition = {
    name: '',
    group: '\n',
    schedule: cronSchedule('61 * * * * *', 'Mars/Phobos', { startAt: NOW + 1, endAt: NOW }),
    executor: {
      type: 'http',
      url: 'ftp://ann:secret@host/',
      method: 'POST',
      headers: { 'x y': '', 'X-A': 'a\nb' },
      ack: 'response',
      signature: null,
    },
    params: 'x'.repeat(MAX_PARAMS_BYTES),
    policy: policyOf({ timeoutSec: 0, retryCount: 1 }),
    hooks: NO_HOOKS,
    pool: 'a b',
    labels: { 'a b': '' },
    owner: '',
    isEnabled: false,
  };

  it('come in one answer, each with its field and what to do', () => {
    const problems = refusalsOf(bad, 'a b');
    expect(problems.map(({ field }) => field)).toEqual([
      'id',
      'name',
      'group',
      'owner',
      'pool',
      'executor.url',
      'executor.url',
      'executor.headers.x y',
      'executor.headers.X-A',
      'timeout_sec',
      'retry_count',
      'params',
      'labels.a b',
      'timezone',
      'cron_expr',
      'end_at',
    ]);
    expect(problems.every(({ problem, fix }) => problem.length > 3 && fix.length > 3)).toBe(true);
  });

  it('are an AxError that is not worth repeating, whose message names them all and no password', () => {
    try {
      createTask('a b', bad, NOW);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidInput);
      expect(error).toMatchObject({ name: 'InvalidInput', code: 'invalid_input', retryable: false });
      for (const text of ['id: ', 'timezone: ', 'params: ']) expect(messageOf(error)).toContain(text);
      expect(messageOf(error)).not.toContain('secret');
    }
  });
});

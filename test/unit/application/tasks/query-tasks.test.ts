import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QueryTasks } from '../../../../src/application/tasks/query-tasks.js';
import { BASE, buildTask } from '../../../support/builders.js';
import { every, NodeHarness } from '../../../support/node-harness.js';

const HOUR = 3_600_000;

describe('QueryTasks', () => {
  let harness: NodeHarness;
  let query: QueryTasks;
  beforeEach(async () => {
    harness = await NodeHarness.open();
    query = new QueryTasks({ tasks: harness.tasks, clock: harness.clock });
  });
  afterEach(() => harness.close());

  it('finds a task, and says when there is none', async () => {
    const task = buildTask({ id: 'hourly' });
    await harness.add(task);
    expect(await query.find('hourly')).toEqual(task);
    await expect(query.find('nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('lists tasks in pages', async () => {
    await harness.add(...['a', 'b', 'c'].map((id) => buildTask({ id })));
    const first = await query.list({}, { size: 2, cursor: null, offset: 0 });
    expect(first.items.map(({ id }) => id)).toEqual(['a', 'b']);
    const rest = await query.list({}, { size: 2, cursor: first.nextCursor, offset: 0 });
    expect([rest.items.map(({ id }) => id), rest.nextCursor]).toEqual([['c'], null]);
  });

  describe('tells the coming slots', () => {
    it('after now, also of a disabled task', async () => {
      await harness.add(buildTask({ id: 'hourly', isEnabled: false, nextTriggerTime: null }));
      await harness.clock.advance(HOUR);
      const { task, fires } = await query.nextFires('hourly', 3);
      expect(task.id).toBe('hourly');
      expect(fires).toEqual([2, 3, 4].map((h) => ({ slot: BASE + h * HOUR, firesAt: BASE + h * HOUR })));
    });

    it('and the instants at which they fire with their jitter, which are those of the tick', async () => {
      const jittered = every(60, { id: 'jittered' });
      const { schedule } = jittered;
      if (schedule.type !== 'interval') throw new Error('an interval is built');
      await harness.add({ ...jittered, schedule: { ...schedule, jitterSec: 30 } });
      const { fires } = await query.nextFires('jittered', 3);
      harness.coordinator('coordinator-1').start();
      await harness.clock.advance(4 * 60_000);
      const ledger = await harness.query(
        'SELECT slot, window_start FROM trigger_event ORDER BY slot LIMIT 3',
      );
      expect(ledger).toEqual(fires.map(({ slot, firesAt }) => ({ slot, window_start: firesAt })));
      expect(fires.some(({ slot, firesAt }) => firesAt > slot)).toBe(true);
    });

    it('up to the end of the schedule', async () => {
      const schedule = { type: 'interval', everySec: 3600, anchorAt: BASE, startAt: null } as const;
      await harness.add(
        every(3600, { id: 'ending', schedule: { ...schedule, endAt: BASE + 2 * HOUR, jitterSec: 0 } }),
      );
      expect((await query.nextFires('ending', 10)).fires).toMatchObject([
        { slot: BASE + HOUR },
        { slot: BASE + 2 * HOUR },
      ]);
      await harness.clock.advance(3 * HOUR);
      expect((await query.nextFires('ending', 10)).fires).toEqual([]);
    });

    it('not of a broken task, nor of none', async () => {
      await harness.add(buildTask({ id: 'broken' }));
      await harness.query(`UPDATE task_meta SET executor_json = 'no'`);
      await expect(query.nextFires('broken', 3)).rejects.toMatchObject({ code: 'conflict' });
      await expect(query.nextFires('nobody', 3)).rejects.toMatchObject({ code: 'not_found' });
    });
  });
});

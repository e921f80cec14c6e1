import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunExamination } from '../../src/application/doctor/run-examination.js';
import { TaskExamination } from '../../src/application/doctor/task-examination.js';
import { BASE, buildEvent, buildReport, buildTask } from '../support/builders.js';
import { lookAt, matching } from '../support/doctor.js';
import { openMysqlStore } from '../support/mysql-store.js';
import { recordEvents, runOf, uuidAt } from '../support/runs.js';
import { auditOf, type SettableClock } from '../support/store.js';

const MINUTE = 60_000;
const NOW = BASE + 60 * MINUTE;

/** Tasks and runs, as they should be and broken for real. */
describe('doctor', () => {
  let store: Awaited<ReturnType<typeof openMysqlStore>>;
  let clock: SettableClock;
  beforeEach(async () => {
    store = await openMysqlStore();
    clock = store.clock;
    clock.set(NOW);
  });
  afterEach(() => store.close());

  describe('the tasks', () => {
    const look = (isServed = true) => lookAt(new TaskExamination({ tasks: store.tasks, clock }, isServed));

    it('are broken when their rows cannot be read or triggered', async () => {
      for (const id of ['fine', 'spoilt', 'refused'])
        await store.tasks.insert(buildTask({ id }), auditOf(id));
      expect((await look())['broken_tasks']).toMatchObject(matching('ok', '3 tasks'));
      await store.spoil('spoilt', 'executor_json', 'nonsense');
      await store.spoil('refused', 'error', 'no such calendar');
      expect((await look())['broken_tasks']).toMatchObject(
        matching('problem', '2 of 3 tasks cannot be triggered: refused (no such calendar), spoilt ('),
      );
    });

    it('are overdue when a slot is undecided longer than window, jitter and some seconds', async () => {
      const slot = NOW - 20_000;
      const quiet = { nextTriggerTime: slot };
      const late = buildTask({ id: 'late', ...quiet });
      const { schedule } = late;
      if (schedule.type !== 'cron') throw new Error('a cron schedule is built');
      await store.tasks.insert(late, auditOf('late'));
      for (const task of [
        buildTask({ id: 'jittered', ...quiet, schedule: { ...schedule, jitterSec: 60 } }),
        buildTask({ id: 'off', isEnabled: false, nextTriggerTime: null }),
        buildTask({ id: 'due', nextTriggerTime: NOW - 14_000 }),
      ])
        await store.tasks.insert(task, auditOf(task.id));
      const { overdue_tasks } = await look();
      const since = new Date(slot).toISOString();
      expect(overdue_tasks).toMatchObject(matching('problem', `the oldest of ${since}: late`));
      expect(overdue_tasks?.finding).not.toContain('due,');
      clock.set(slot + 14_000);
      expect((await look())['overdue_tasks']).toMatchObject({ state: 'ok' });
      expect(Object.keys(await look(false))).toEqual(['broken_tasks']);
    });
  });

  describe('the runs', () => {
    const look = async () =>
      (await lookAt(new RunExamination({ executions: store.executions, clock })))['zombie_runs'];
    const event = (at: number, taskId = 'task') =>
      buildEvent({ id: uuidAt(at), taskId, slot: at, firedAt: at });
    beforeEach(async () => {
      await store.tasks.insert(buildTask({ id: 'task', nextTriggerTime: null }), auditOf('task'));
      clock.set(BASE);
    });

    it('are sound while they are young, wait in a line, or have ended', async () => {
      const [ended, waiting, young] = [event(BASE), event(BASE + 1), event(NOW - MINUTE)];
      await recordEvents(store, [ended, waiting, young]);
      await store.executions.apply(runOf(ended));
      const entry = { kind: 'waiting', at: BASE + 2, node: 'worker-1', detail: {} } as const;
      const state = { status: 'pending', startedAt: null, attempt: 0, entry } as const;
      await store.executions.apply([buildReport({ executionId: waiting.id, taskId: 'task', ...state })]);
      await store.executions.adoptPending(NOW);
      clock.set(NOW);
      expect(await look()).toMatchObject({ state: 'ok' });
    });

    it.each(['pending', 'running', 'retrying'] as const)(
      'are zombies when they are %s for too long',
      async (status) => {
        const stuck = event(BASE);
        await recordEvents(store, [stuck]);
        if (status === 'pending') await store.executions.adoptPending(BASE + MINUTE);
        else
          await store.executions.apply([
            buildReport({ executionId: stuck.id, taskId: 'task', status, startedAt: BASE }),
          ]);
        clock.set(BASE + 5 * MINUTE);
        expect(await look()).toMatchObject({ state: 'ok' });
        clock.set(NOW);
        expect(await look()).toMatchObject(
          matching('problem', `1 runs had to end long ago: ${stuck.id} of task (${status})`),
        );
      },
    );
  });
});

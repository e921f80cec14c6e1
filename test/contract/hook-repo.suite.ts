import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { type Hooks, httpTarget, NO_HOOKS, type PostHook } from '../../src/domain/hooks.js';
import { type TriggerEvent } from '../../src/domain/trigger.js';
import { type HookTry } from '../../src/ports/hook-repo.js';
import { BASE, buildEvent, buildReport, buildTask } from '../support/builders.js';
import { recordEvents } from '../support/runs.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

const HOOK: PostHook = {
  on: 'always',
  target: httpTarget({ url: 'http://oncall/runs', method: 'POST', headers: { 'X-Team': 'orders' } }),
  retryCount: 3,
  retryIntervalSec: 10,
};
const LEASE_MS = 60_000;
const OWED = { hook: HOOK, taskName: 'Sync orders', group: 'orders' };

const ended = (event: TriggerEvent, overrides: Partial<ExecutionReport> = {}): ExecutionReport =>
  buildReport({
    executionId: event.id,
    taskId: event.taskId,
    seq: 5,
    status: 'fail',
    reason: 'http_status',
    message: 'answered 503',
    finishedAt: BASE + 900,
    entry: { kind: 'finished', at: BASE + 900, node: 'worker-1', detail: { attempt: 1 } },
    owed: OWED,
    ...overrides,
  });

/** A report whose task has no hook. */
function unasked({ owed, ...report }: ExecutionReport): ExecutionReport {
  expect(owed).toBeDefined();
  return report;
}

/** The contract of HookRepo, together with the repositories that make its deliveries. */
export function hookRepoSuite(name: string, open: StoreFactory): void {
  describe(`HookRepo: ${name}`, () => {
    let store: Store;
    beforeAll(async () => void (store = await open()));
    afterEach(() => store.clear());
    afterAll(() => store.close());

    const lease = (now = BASE + 1000, limit = 10) => store.hooks.lease({ now, leaseMs: LEASE_MS, limit });
    const tryOf = (event: TriggerEvent, overrides: Partial<HookTry> = {}): HookTry => ({
      executionId: event.id,
      failures: 0,
      retryAt: null,
      entry: { kind: 'post_hook_sent', at: BASE + 2000, node: 'coordinator-1', detail: { try: 1 } },
      ...overrides,
    });
    async function owe(event = buildEvent(), report = ended(event)): Promise<TriggerEvent> {
      await recordEvents(store, [event]);
      await store.executions.apply([report]);
      return event;
    }

    describe('a summary is owed', () => {
      it('from the report that ends its execution, with all that is to be told', async () => {
        const event = await owe();
        expect(await lease()).toEqual([
          {
            executionId: event.id,
            taskId: event.taskId,
            ...OWED,
            failures: 0,
            execution: (await store.executions.find(event.id))?.execution,
          },
        ]);
      });

      it('also of a slot that the tick skipped', async () => {
        const task = buildTask({ id: 'late', nextTriggerTime: 1000 });
        const event = buildEvent({ taskId: 'late' });
        await store.tasks.insert(task, auditOf(task.id));
        const report = ended(event, { status: 'skipped', reason: 'misfire', generation: 0 });
        await store.triggers.decideDue({ now: 1000, limit: 1, mayCommit: () => true }, () => ({
          fired: [],
          skipped: [{ event, report }],
          advances: [],
          errors: [],
        }));
        expect(await lease()).toMatchObject([{ executionId: event.id, execution: { status: 'skipped' } }]);
      });

      it('once, whether its report comes twice at once, later, or after it was told', async () => {
        const event = buildEvent();
        await recordEvents(store, [event]);
        await Promise.all(Array.from({ length: 5 }, () => store.executions.apply([ended(event)])));
        await store.executions.apply([ended(event), ended(event)]);
        expect(await lease()).toHaveLength(1);
        await store.executions.apply([ended(event)]);
        expect(await lease()).toEqual([]);
        await store.hooks.settle(tryOf(event));
        await store.executions.apply([ended(event)]);
        expect(await lease(BASE + 10 * LEASE_MS)).toEqual([]);
      });

      it('of the end that counts, not of one that came too late', async () => {
        const event = buildEvent();
        await owe(event, unasked(ended(event, { status: 'skipped', reason: 'overlap' })));
        await store.executions.apply([ended(event, { generation: 2 })]);
        expect(await lease()).toEqual([]);
      });

      it('neither before the end, nor if nobody asks, and then it costs no statement', async () => {
        const [first, second] = [buildEvent(), buildEvent()];
        await recordEvents(store, [first, second]);
        const running = ended(second, { status: 'running', finishedAt: null });
        const statements = await store.statementsOf(() =>
          store.executions.apply([unasked(ended(first)), running]),
        );
        expect(statements.filter((sql) => /hook_delivery|^SELECT/.test(sql))).toEqual([]);
        expect(await lease()).toEqual([]);
      });

      it('only if its execution ended: a commit that fails leaves neither', async () => {
        const event = buildEvent();
        await recordEvents(store, [event]);
        store.loseCommit();
        await expect(store.executions.apply([ended(event)])).rejects.toMatchObject({ code: 'unavailable' });
        expect(await lease()).toEqual([]);
        expect((await store.executions.find(event.id))?.execution.status).toBe('pending');
      });
    });

    describe('a lease', () => {
      it('keeps a delivery from others until it ends', async () => {
        const event = await owe();
        expect(await lease(BASE + 1000)).toHaveLength(1);
        expect(await lease(BASE + 1000 + LEASE_MS - 1)).toEqual([]);
        expect(await lease(BASE + 1000 + LEASE_MS)).toMatchObject([{ executionId: event.id, failures: 0 }]);
      });

      it('goes to one of many callers', async () => {
        const events = Array.from({ length: 20 }, () => buildEvent());
        await recordEvents(store, events);
        await store.executions.apply(events.map((event) => ended(event)));
        const taken = (await Promise.all(Array.from({ length: 8 }, () => lease(BASE + 1000, 5)))).flat();
        const ids = taken.map(({ executionId }) => executionId);
        expect(new Set(ids).size).toBe(ids.length);
        const rest = await lease(BASE + 1000, 20);
        expect([...ids, ...rest.map(({ executionId }) => executionId)].sort()).toEqual(
          events.map(({ id }) => id).sort(),
        );
      });

      it('is given on what is due, the longest due first, and no more than asked for', async () => {
        const [a, b] = [await owe(), await owe()];
        await lease();
        await store.hooks.settle(tryOf(a, { failures: 1, retryAt: BASE + 9000, entry: FAILED }));
        await store.hooks.settle(tryOf(b, { failures: 2, retryAt: BASE + 8000, entry: FAILED }));
        expect(await lease(BASE + 7999)).toEqual([]);
        expect(await lease(BASE + 9000, 1)).toMatchObject([{ executionId: b.id, failures: 2 }]);
        expect(await lease(BASE + 9000)).toMatchObject([{ executionId: a.id, failures: 1 }]);
      });
    });

    it('puts every try on the ledger and leaves the execution as it is', async () => {
      const event = await owe();
      const before = await store.executions.find(event.id);
      await store.hooks.settle(tryOf(event, { failures: 1, retryAt: BASE + 8000, entry: FAILED }));
      await store.hooks.settle(tryOf(event, { failures: 1, entry: { ...FAILED, kind: 'post_hook_sent' } }));
      const after = await store.executions.find(event.id);
      expect(after?.execution).toEqual(before?.execution);
      expect(after?.ledger.map(({ kind }) => kind)).toEqual([
        ...(before?.ledger ?? []).map(({ kind }) => kind),
        'post_hook_failed',
        'post_hook_sent',
      ]);
    });

    describe('what watched tasks came to', () => {
      const watching = (taskId: string): Hooks => ({
        ...NO_HOOKS,
        pre: {
          check: { type: 'task_succeeded', taskId, withinSec: 60 },
          onFail: 'skip',
          retryCount: 0,
          retryIntervalSec: 1,
        },
      });
      const add = async (...tasks: Parameters<typeof buildTask>) => {
        const task = buildTask(...tasks);
        await store.tasks.insert(task, auditOf(task.id));
      };

      it('is their newest run that has ended and was not skipped', async () => {
        await add({ id: 'load' });
        await add({ id: 'sync', hooks: watching('load') });
        await add({ id: 'sync-2', hooks: watching('load') });
        const statuses = ['fail', 'success', 'skipped', 'running'] as const;
        const events = statuses.map(() => buildEvent({ taskId: 'load' }));
        await recordEvents(store, events);
        for (const [i, event] of events.entries()) {
          const status = statuses[i] ?? 'fail';
          const finishedAt = status === 'running' ? null : BASE + i;
          await store.executions.apply([ended(event, { status, finishedAt })]);
        }
        const slot = events[1]?.slot;
        expect(await store.hooks.watchedOutcomes()).toEqual([
          { taskId: 'load', outcome: { status: 'success', slot, finishedAt: BASE + 1 } },
        ]);
      });

      it('is told of tasks that an enabled task names and that have run', async () => {
        for (const id of ['load', 'idle', 'other', 'named-by-none']) await add({ id });
        await add({ id: 'sync', hooks: watching('load') });
        await add({ id: 'sync-idle', hooks: watching('idle') });
        await add({ id: 'sync-nothing', hooks: watching('no-such-task') });
        await add({ id: 'sync-off', hooks: watching('other'), isEnabled: false, nextTriggerTime: null });
        for (const taskId of ['load', 'other', 'named-by-none']) await owe(buildEvent({ taskId }));
        expect(await store.hooks.watchedOutcomes()).toMatchObject([
          { taskId: 'load', outcome: { status: 'fail' } },
        ]);
      });
    });
  });
}

const FAILED: HookTry['entry'] = {
  kind: 'post_hook_failed',
  at: BASE + 1500,
  node: 'coordinator-1',
  detail: { try: 1, reason: 'http_status' },
};

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { type TriggerEvent } from '../../src/domain/trigger.js';
import { BASE, buildEvent, buildReport, nextUuid } from '../support/builders.js';
import { type Store, type StoreFactory } from '../support/store.js';
import { recordEvents, runOf } from '../support/runs.js';

export function executionRepoSuite(name: string, open: StoreFactory): void {
  describe(`ExecutionRepo: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const record = async (overrides: Partial<TriggerEvent> = {}) => {
      const event = buildEvent(overrides);
      await recordEvents(store, [event]);
      return event;
    };
    const stateOf = async (id: string) => (await store.executions.find(id))?.execution;
    const kindsOf = async (id: string) => (await store.executions.find(id))?.ledger.map(({ kind }) => kind);

    it('shows an event without reports as pending, triggered', async () => {
      const event = await record({ slot: BASE + 59_999, params: { a: 1 } });
      const found = await store.executions.find(event.id);
      expect(found?.execution).toEqual({
        event,
        status: 'pending',
        reason: null,
        message: null,
        worker: null,
        generation: 0,
        attempt: 0,
        startedAt: null,
        finishedAt: null,
        evidence: {},
      });
      expect(found?.ledger).toMatchObject([{ kind: 'triggered', at: event.firedAt, node: event.node }]);
    });

    it('knows nothing of ids that are not there', async () => {
      for (const id of [nextUuid(), '', 'é', "'"]) expect(await store.executions.find(id)).toBeNull();
    });

    it('keeps a run with its ledger, each entry at its millisecond', async () => {
      const event = await record();
      const run = runOf(event);
      await store.executions.apply(run);
      expect(await stateOf(event.id)).toEqual({
        event,
        status: 'success',
        reason: null,
        message: null,
        worker: 'worker-1',
        generation: 1,
        attempt: 2,
        startedAt: run[0]!.startedAt,
        finishedAt: run.at(-1)!.finishedAt,
        evidence: { http_status: 200, ok: true, output_tail: 'done' },
      });
      const ledger = (await store.executions.find(event.id))!.ledger;
      expect(ledger.slice(2)).toEqual(run.map(({ entry }) => entry));
      expect(ledger.slice(0, 2)).toMatchObject([
        { kind: 'triggered', at: event.firedAt },
        { kind: 'published', at: event.firedAt + 3, node: event.node },
      ]);
    });

    it('comes to the same state in any order, in any batches, once or twice', async () => {
      await fc.assert(
        fc.asyncProperty(fc.infiniteStream(fc.nat()), async (numbers) => {
          const pick = (n: number) => (numbers.next().value as number) % n;
          const event = buildEvent();
          const reports = [...runOf(event), ...runOf(event).filter(() => pick(2) === 0)];
          const shuffled = reports.map((report) => ({ report, at: pick(1000) }));
          shuffled.sort((a, b) => a.at - b.at);
          await recordEvents(store, [event]);
          for (let rest = shuffled.map(({ report }) => report); rest.length > 0;) {
            await store.executions.apply(rest.splice(0, 1 + pick(4)));
          }
          expect(await stateOf(event.id)).toMatchObject({
            status: 'success',
            generation: 1,
            attempt: 2,
            startedAt: runOf(event)[0]!.startedAt,
            finishedAt: runOf(event).at(-1)!.finishedAt,
            evidence: { http_status: 200, ok: true, output_tail: 'done' },
          });
          expect(await kindsOf(event.id)).toEqual([
            'triggered',
            'published',
            ...runOf(event).map(({ entry }) => entry.kind),
          ]);
        }),
        { numRuns: 25 },
      );
    });

    it('keeps the latest claim on top, and the earliest start of all', async () => {
      const event = await record();
      const of = (generation: number, seq: number, startedAt: number): ExecutionReport =>
        buildReport({
          executionId: event.id,
          taskId: event.taskId,
          generation,
          seq,
          startedAt,
          worker: `worker-${generation}`,
          attempt: generation,
          entry: {
            kind: seq === 0 ? 'claimed' : 'attempt_started',
            at: startedAt + seq,
            node: 'w',
            detail: {},
          },
        });
      const reports = [of(2, 0, BASE + 900), of(1, 1, BASE + 100), of(1, 0, BASE + 100)];
      for (const report of reports) await store.executions.apply([report]);
      expect(await stateOf(event.id)).toMatchObject({
        status: 'running',
        generation: 2,
        worker: 'worker-2',
        attempt: 2,
        startedAt: BASE + 100,
      });
      expect(await kindsOf(event.id)).toEqual(['triggered', 'claimed', 'attempt_started', 'claimed']);
    });

    it('never overwrites a terminal state, whatever comes later', async () => {
      const event = await record();
      const run = runOf(event);
      const verdict: ExecutionReport = {
        ...run.at(-1)!,
        generation: 0,
        seq: 0,
        status: 'fail',
        reason: 'outcome_unknown',
        message: 'lost',
        entry: { kind: 'finished', at: BASE + 1, node: 'coordinator-1', detail: {} },
      };
      await store.executions.apply([verdict]);
      await store.executions.apply(run);
      await store.executions.apply([{ ...run.at(-1)!, generation: 9, seq: 9 }]);
      await store.executions.apply([{ ...run[0]!, generation: 99 }]);
      expect(await stateOf(event.id)).toMatchObject({
        status: 'fail',
        reason: 'outcome_unknown',
        message: 'lost',
      });
      const other = await record();
      const last = runOf(other).at(-1)!;
      await store.executions.apply([last, { ...last, status: 'timeout', generation: 2 }]);
      expect((await stateOf(other.id))?.status).toBe('success');
    });

    it('comes to the same end when two callers apply overlapping reports at once', async () => {
      const events = Array.from({ length: 40 }, () => buildEvent());
      await recordEvents(store, events);
      const all = events.flatMap((event) => runOf(event));
      const halves = [all, all.toReversed()];
      await Promise.all(
        halves.flatMap((reports) => [
          store.executions.apply(reports.slice(0, 120)),
          store.executions.apply(reports.slice(80)),
        ]),
      );
      for (const event of events) {
        expect((await stateOf(event.id))?.status).toBe('success');
        expect(await kindsOf(event.id)).toHaveLength(2 + runOf(event).length);
      }
    });

    it('keeps reports of an event that is not known yet', async () => {
      const event = buildEvent();
      await store.executions.apply(runOf(event));
      expect(await store.executions.find(event.id)).toBeNull();
      await recordEvents(store, [event]);
      expect((await stateOf(event.id))?.status).toBe('success');
    });

    it('cuts what is too long, with a mark, rather than refuse it', async () => {
      const event = await record();
      const last = runOf(event).at(-1)!;
      const monster = '🚀'.repeat(200_000);
      await store.executions.apply([
        {
          ...last,
          status: 'fail',
          reason: 'network',
          message: `boom ${monster}`,
          worker: 'w'.repeat(1000),
          evidence: {
            output_tail: monster,
            lone: '\ud83d',
            nul: '\u0000',
            ['k'.repeat(500)]: 1,
            bytes: 2 ** 40,
          },
          entry: {
            ...last.entry,
            node: 'n'.repeat(1000),
            detail: { attempt: 3, evidence: { tail: monster } },
          },
        },
      ]);
      const found = (await store.executions.find(event.id))!;
      expect(found.execution.message).toMatch(/^boom (🚀)+… \[cut\]$/u);
      expect(found.execution.evidence['output_tail']).toMatch(/^(🚀)+… \[cut\]$/u);
      expect(found.execution.evidence).toMatchObject({ nul: '\u0000', bytes: 2 ** 40 });
      expect(found.ledger.at(-1)).toMatchObject({ kind: 'finished', detail: { attempt: 3, is_cut: true } });
    });

    it('keeps an output of 64 KiB whole in the ledger', async () => {
      const event = buildEvent();
      await recordEvents(store, [event]);
      const output = '名"\n'.repeat(13_107);
      const last = runOf(event).at(-1)!;
      const detail = { attempt: 3, evidence: { stdout_tail: output, stderr_tail: output } };
      await store.executions.apply([{ ...last, entry: { ...last.entry, detail } }]);
      expect((await store.executions.find(event.id))?.ledger.at(-1)?.detail).toEqual(detail);
    });

    it('applies two thousand reports in a number of statements that does not grow, all or nothing', async () => {
      const events = Array.from({ length: 1000 }, () => buildEvent());
      await recordEvents(store, events);
      const reports = events.flatMap((event) => [runOf(event)[0]!, runOf(event).at(-1)!]);
      store.failNext(/execution_event/);
      await expect(store.executions.apply(reports)).rejects.toThrow('failed on purpose');
      expect((await stateOf(events[0]!.id))?.status).toBe('pending');
      const statements = await store.statementsOf(() => store.executions.apply(reports));
      expect(statements.length).toBeLessThanOrEqual(5);
      const page = await store.executions.list(
        { status: 'success' },
        { size: 2000, cursor: null, offset: 0 },
      );
      expect(page.items).toHaveLength(1000);
    });

    it('does nothing for no reports', async () => {
      expect(await store.statementsOf(() => store.executions.apply([]))).toEqual([]);
    });
  });
}

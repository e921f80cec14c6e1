import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { type Claim } from '../../src/ports/claims.js';
import {
  type BrokerCapabilities,
  type BrokerHarness,
  claimed,
  NO_PROGRESS,
  publishAndTake,
  reportOf,
  takeResults,
} from '../support/broker-harness.js';
import { buildMessage, buildReport } from '../support/builders.js';
import { until } from '../support/until.js';

/** What every Results does. */
export function resultsSuite(
  name: string,
  open: () => Promise<BrokerHarness>,
  capabilities: BrokerCapabilities,
): void {
  describe(`${name} as Results`, () => {
    let harness: BrokerHarness;
    let claim: Claim;
    beforeEach(async () => {
      harness = await open();
      const [delivery] = await publishAndTake(harness, [buildMessage()]);
      claim = (await claimed(harness, delivery, 'worker-1')).claim;
    });
    afterEach(() => harness.close());

    /** Sends that many reports at once. */
    async function send(count: number, overrides: Partial<ExecutionReport> = {}): Promise<ExecutionReport[]> {
      const reports = Array.from({ length: count }, (_, seq) =>
        buildReport({ ...reportOf(claim), seq, ...overrides }),
      );
      const progress = { ...NO_PROGRESS, attempt: 1, failures: 0 };
      const answers = await Promise.all(
        reports.map((report) => harness.claims.report(claim, report, progress)),
      );
      expect(answers).toEqual(reports.map(() => true));
      return reports;
    }

    it('hands out a report as it was sent', async () => {
      const [report] = await send(1, {
        status: 'fail',
        reason: 'http_status',
        message: 'HTTP 503 – „überlastet“ 🚧',
        finishedAt: 4_102_444_800_000,
        evidence: { http_status: 503, is_last: true, output_tail: 'a\u0000b\n' },
      });
      expect((await takeResults(harness)).reports).toEqual([report]);
    });

    it('takes a batch of 1000, up to max at a time, each report once', async () => {
      const reports = await send(1000);
      const batches = [await takeResults(harness, { max: 700 }), await takeResults(harness, { max: 700 })];
      expect(batches.map((batch) => batch.reports.length)).toEqual([700, 300]);
      const seqs = batches.flatMap((batch) => batch.reports.map(({ seq }) => seq));
      expect(seqs.sort((a, b) => a - b)).toEqual(reports.map(({ seq }) => seq));
      for (const batch of batches) await harness.results.acknowledge(batch);
      expect(await harness.results.backlog()).toEqual({ depth: 0, oldestAgeMs: 0 });
    });

    it('acknowledges batches beyond the argument limit of the store', async () => {
      await send(2500);
      await harness.results.acknowledge(await takeResults(harness));
      expect((await harness.results.backlog()).depth).toBe(0);
    });

    it('keeps a report until it is acknowledged, which can be repeated', async () => {
      await send(3);
      const batch = await takeResults(harness);
      expect((await harness.results.backlog()).depth).toBe(3);
      await harness.results.acknowledge(batch);
      await harness.results.acknowledge(batch);
      await harness.results.acknowledge({ reports: [], handles: [] });
      expect((await harness.results.backlog()).depth).toBe(0);
      await harness.advance(300);
      expect((await takeResults(harness, { taker: 'other', reclaimAfterMs: 300 })).reports).toEqual([]);
    });

    it('gives what a dead collector held to another one, not before its time', async () => {
      const reports = await send(3);
      await takeResults(harness, { taker: 'dead' });
      expect((await takeResults(harness, { taker: 'heir', reclaimAfterMs: 30_000 })).reports).toEqual([]);
      await harness.advance(300);
      const batch = await until('the reports of the dead', async () => {
        const taken = await takeResults(harness, { taker: 'heir', reclaimAfterMs: 300 });
        return taken.reports.length > 0 && taken;
      });
      expect(batch.reports).toEqual(reports);
    });

    it('counts what it takes over with new reports towards max', async () => {
      const old = await send(3);
      await takeResults(harness, { taker: 'dead' });
      await send(3, { seq: 9 });
      await harness.advance(300);
      const request = { taker: 'heir', reclaimAfterMs: 300, max: 4 };
      const { reports } = await until('reports', async () => {
        const batch = await takeResults(harness, request);
        return batch.reports.length > 0 && batch;
      });
      expect(reports.map(({ seq }) => seq)).toEqual([...old.map(({ seq }) => seq), 9]);
    });

    it('tells how long the oldest has waited', async () => {
      await send(1);
      await harness.advance(400);
      await send(1);
      const { depth, oldestAgeMs } = await harness.results.backlog();
      expect(depth).toBe(2);
      expect(oldestAgeMs).toBeGreaterThanOrEqual(390);
      expect(oldestAgeMs).toBeLessThan(60_000);
    });

    it('waits for the first report', async () => {
      const taking = takeResults(harness, { waitMs: 20_000 });
      await turn();
      await send(1);
      expect((await taking).reports).toHaveLength(1);
    });

    it('returns nothing when nothing came in time, or when aborted', async () => {
      const taking = takeResults(harness, { waitMs: 300 });
      await harness.advance(300);
      expect(await taking).toEqual({ reports: [], handles: [] });
      const stop = new AbortController();
      const stopped = takeResults(harness, { waitMs: 60_000, signal: stop.signal });
      await turn();
      stop.abort();
      expect(await stopped).toEqual({ reports: [], handles: [] });
    });

    it.skipIf(!capabilities.holdsText)('drops what is no report, and hands out the rest', async () => {
      const spoils = ['', '[]', JSON.stringify({ ...buildReport(), status: 'maybe' }), '{"status":"fail"}'];
      for (const text of spoils) await harness.spoilResults?.(text);
      const [report] = await send(1);
      const poisons: unknown[] = [];
      const batch = await takeResults(harness, { onPoison: (_, error) => poisons.push(error) });
      expect(batch.reports).toEqual([report]);
      expect(poisons).toHaveLength(spoils.length);
      await harness.results.acknowledge(batch);
      await until('the poison is gone', async () => (await harness.results.backlog()).depth === 0);
    });
  });
}

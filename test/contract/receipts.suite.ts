import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_RECEIPTS, type Receipt, type Receipts } from '../../src/ports/receipts.js';
import { until } from '../support/until.js';

export interface ReceiptsHarness {
  /** Two nodes of one namespace; the same object where there can be only one. */
  readonly nodes: readonly [Receipts, Receipts];
  /** Lets `ms` pass by the store's clock. */
  advance(ms: number): Promise<void>;
  /** The store goes on, empty. */
  loseData(): Promise<void>;
  /** Takes the store away and gives it back; only where it can be away. */
  readonly outage?: { begin(): void; end(): void };
  close(): Promise<void>;
}

const ID = 'execution-1';
const NEVER_MS = 600_000;
const SHORT_MS = 300;
const DONE = { kind: 'success', message: null } as const;
const progress = (n: number) => ({ kind: 'progress', message: `${n} of many` }) as const;
const waitOf = (attempt: number, keepMs = NEVER_MS) => ({
  executionId: ID,
  attempt,
  tokenHash: `token-${attempt}`,
  keepMs,
});

/** What every Receipts does. `canBeAway`: the store can become unreachable. */
export function receiptsSuite(
  name: string,
  open: () => Promise<ReceiptsHarness>,
  capabilities: { readonly canBeAway: boolean },
): void {
  describe(`${name} as Receipts`, () => {
    let harness: ReceiptsHarness;
    /** The one that waits, and the one that takes receipts in. */
    let worker: Receipts;
    let coordinator: Receipts;
    beforeEach(async () => {
      harness = await open();
      [worker, coordinator] = harness.nodes;
    });
    afterEach(() => harness.close());

    const post = (attempt: number, receipt: Omit<Receipt, 'at'> = DONE) =>
      coordinator.post(ID, `token-${attempt}`, receipt);
    /** What came, without its instants. */
    const read = async () => (await worker.read([ID]))[0]?.map(({ kind, message }) => ({ kind, message }));

    it('gives what came to the one that waits, in the order of coming and with its instants', async () => {
      await worker.open(waitOf(1));
      const sent = [progress(1), progress(2), { kind: 'fail', message: 'no paper – „A4“ 🖨' } as const];
      for (const receipt of sent) expect(await post(1, receipt)).toBe('accepted');
      const [came = []] = await worker.read([ID]);
      expect(came.map(({ kind, message }) => ({ kind, message }))).toEqual(sent);
      const instants = came.map(({ at }) => at);
      expect(instants).toEqual(instants.toSorted((a, b) => a - b));
      expect(Math.min(...instants)).toBeGreaterThan(Date.UTC(2020));
    });

    it('reads many waits at once, each for itself, also those that it does not know', async () => {
      for (const executionId of ['a', 'b', 'c']) await worker.open({ ...waitOf(1), executionId });
      await coordinator.post('c', 'token-1', DONE);
      await coordinator.post('a', 'token-1', progress(1));
      const came = await worker.read(['a', 'stranger', 'b', 'c']);
      expect(came.map((receipts) => receipts.map(({ kind }) => kind))).toEqual([
        ['progress'],
        [],
        [],
        ['success'],
      ]);
      expect(await worker.read([])).toEqual([]);
    });

    it('accepts one of 20 receipts that would end the wait', async () => {
      await worker.open(waitOf(1));
      const rivals = Array.from({ length: 20 }, (_, i) => harness.nodes[i % 2] ?? worker);
      const answers = await Promise.all(
        rivals.map((node, i) =>
          node.post(ID, 'token-1', { kind: i % 3 ? 'success' : 'fail', message: `${i}` }),
        ),
      );
      expect(answers.filter((answer) => answer === 'accepted')).toHaveLength(1);
      expect(answers.filter((answer) => answer === 'second')).toHaveLength(19);
      expect(await read()).toMatchObject([{ message: `${answers.indexOf('accepted')}` }]);
      expect(await post(1, progress(1))).toBe('second');
      expect(await read()).toHaveLength(1);
    });

    it('keeps a bounded number of progress receipts and a place for the last one', async () => {
      await worker.open(waitOf(1));
      const all = Array.from({ length: MAX_RECEIPTS + 5 }, (_, i) => post(1, progress(i)));
      const answers = await Promise.all(all);
      expect(answers.filter((answer) => answer === 'accepted')).toHaveLength(MAX_RECEIPTS - 1);
      expect(answers.filter((answer) => answer === 'too_many')).toHaveLength(6);
      expect(await post(1)).toBe('accepted');
      expect(await read()).toHaveLength(MAX_RECEIPTS);
    });

    it('refuses what it was not asked for, and changes nothing', async () => {
      expect(await post(1)).toBe('unknown');
      await worker.open(waitOf(1));
      await worker.open({ ...waitOf(1), executionId: 'other', tokenHash: 'token-other' });
      expect(await coordinator.post(ID, 'token-other', DONE)).toBe('wrong_token');
      expect(await coordinator.post(ID, '', DONE)).toBe('wrong_token');
      expect(await coordinator.post('stranger', 'token-1', DONE)).toBe('unknown');
      expect(await worker.read([ID, 'other'])).toEqual([[], []]);
      expect(await post(1)).toBe('accepted');
    });

    it('begins anew with a later attempt, and knows the tokens of earlier ones', async () => {
      await worker.open(waitOf(1));
      await post(1, { kind: 'fail', message: 'first' });
      await worker.open(waitOf(2));
      expect(await read()).toEqual([]);
      expect(await post(1)).toBe('superseded');
      expect(await post(2)).toBe('accepted');
      await worker.close(ID, NEVER_MS);
      await worker.open(waitOf(3));
      expect([await post(1), await post(2), await post(4)]).toEqual([
        'superseded',
        'superseded',
        'wrong_token',
      ]);
      expect(await read()).toEqual([]);
      expect(await post(3)).toBe('accepted');
    });

    it('leaves a later attempt alone when an earlier one is opened again', async () => {
      await worker.open(waitOf(2));
      await post(2, progress(1));
      await coordinator.open(waitOf(1, SHORT_MS));
      expect([await post(1), await post(2)]).toEqual(['superseded', 'accepted']);
      expect(await read()).toEqual([progress(1), DONE]);
    });

    it('keeps what came when the same attempt is opened again, by another worker with another token, too', async () => {
      await worker.open(waitOf(1));
      await post(1, progress(1));
      await worker.open(waitOf(1));
      await coordinator.open({ ...waitOf(1), tokenHash: 'token-b' });
      expect(await post(1, progress(2))).toBe('superseded');
      expect(await coordinator.post(ID, 'token-b', DONE)).toBe('accepted');
      await worker.open({ ...waitOf(1), tokenHash: 'token-b' });
      expect(await coordinator.post(ID, 'token-b', DONE)).toBe('second');
      expect(await read()).toEqual([progress(1), DONE]);
    });

    it('answers late once the wait is closed, and stays closed', async () => {
      await worker.open(waitOf(1));
      await worker.open(waitOf(2));
      await post(2, progress(1));
      await worker.close(ID, NEVER_MS);
      await worker.close(ID, NEVER_MS);
      await worker.open(waitOf(2));
      expect([await post(2), await post(2, progress(2)), await post(1)]).toEqual(['late', 'late', 'late']);
      expect(await coordinator.post(ID, 'token-other', DONE)).toBe('wrong_token');
      expect(await read()).toEqual([progress(1)]);
    });

    it('closes nothing that it does not know', async () => {
      await worker.close(ID, NEVER_MS);
      expect(await post(1)).toBe('unknown');
      await worker.open(waitOf(1));
      expect(await post(1)).toBe('accepted');
    });

    it('goes on after a loss of data when it is opened again', async () => {
      await worker.open(waitOf(1));
      await post(1, progress(1));
      await harness.loseData();
      [worker, coordinator] = harness.nodes;
      expect(await post(1)).toBe('unknown');
      expect(await read()).toEqual([]);
      await worker.open(waitOf(1));
      expect(await post(1)).toBe('accepted');
      expect(await read()).toEqual([DONE]);
    });

    it('forgets a wait and its receipts after their time, which each opening and the closing set anew', async () => {
      await worker.open(waitOf(1, SHORT_MS));
      await worker.open(waitOf(1, NEVER_MS));
      await post(1, progress(1));
      await worker.open({ ...waitOf(1, NEVER_MS), executionId: 'other' });
      await worker.open({ ...waitOf(1, SHORT_MS), executionId: 'other' });
      await coordinator.post('other', 'token-1', DONE);
      await harness.advance(SHORT_MS);
      expect(await worker.read(['other'])).toEqual([[]]);
      expect(await coordinator.post('other', 'token-1', DONE)).toBe('unknown');
      expect(await read()).toEqual([progress(1)]);
      await worker.close(ID, 1000);
      expect(await post(1)).toBe('late');
      await harness.advance(1000);
      expect(await post(1)).toBe('unknown');
      expect(await read()).toEqual([]);
    });

    it('tells every node which execution got a receipt, until it does not listen any more', async () => {
      const heard: [string, string][] = [];
      const stops = harness.nodes.map((node, i) => node.subscribe((id) => heard.push([`node ${i}`, id])));
      let attempt = 0;
      const has = (node: string, id: string) => heard.some(([at, what]) => at === node && what === id);
      // Listening begins a moment after the call.
      await until('both hear of the execution', async () => {
        await worker.open(waitOf((attempt += 1)));
        await post(attempt);
        return has('node 0', ID) && has('node 1', ID);
      });
      heard.length = 0;
      stops[0]?.();
      await worker.open({ ...waitOf(1), executionId: 'other' });
      expect(await coordinator.post('other', 'wrong', DONE)).toBe('wrong_token');
      expect(await coordinator.post('other', 'token-1', progress(1))).toBe('accepted');
      expect(await coordinator.post('other', 'token-1', DONE)).toBe('accepted');
      await until('the other node hears of both', () => heard.filter(([, id]) => id === 'other').length >= 2);
      stops[1]?.();
      expect(heard.filter(([, id]) => id === 'other')).toEqual([
        ['node 1', 'other'],
        ['node 1', 'other'],
      ]);
    });

    it.skipIf(!capabilities.canBeAway)(
      'says so when the store is away, and goes on when it is back',
      async () => {
        await worker.open(waitOf(1));
        harness.outage?.begin();
        const unavailable = { code: 'unavailable', retryable: true };
        await expect(worker.open(waitOf(1))).rejects.toMatchObject(unavailable);
        await expect(worker.read([ID])).rejects.toMatchObject(unavailable);
        await expect(worker.close(ID, NEVER_MS)).rejects.toMatchObject(unavailable);
        await expect(worker.post(ID, 'token-1', DONE)).rejects.toMatchObject(unavailable);
        harness.outage?.end();
        await until('the store answers', () =>
          worker.open(waitOf(1)).then(
            () => true,
            () => null,
          ),
        );
        expect(await worker.post(ID, 'token-1', DONE)).toBe('accepted');
      },
    );
  });
}

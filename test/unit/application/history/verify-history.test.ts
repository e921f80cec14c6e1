import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_RANGE_DAYS, VerifyHistory } from '../../../../src/application/history/verify-history.js';
import { SETTLE_MS } from '../../../../src/domain/check-history.js';
import { type HistoryRepo } from '../../../../src/ports/history-repo.js';
import { BASE, buildTask } from '../../../support/builders.js';
import { every, NodeHarness } from '../../../support/node-harness.js';
import { SettableClock } from '../../../support/store.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('VerifyHistory', () => {
  describe('of coordinators and workers', () => {
    let harness: NodeHarness;
    let history: VerifyHistory;
    beforeEach(async () => {
      harness = await NodeHarness.open();
      history = new VerifyHistory(harness, { maxSteps: 10_000 });
      const off = buildTask({ id: 'off', isEnabled: false, nextTriggerTime: null });
      for (const task of [every(30, { id: 'half' }), every(60, { id: 'minute' }), off]) {
        const audit = { at: BASE, actor: 'test', action: 'task.create', subject: task.id };
        await harness.tasks.insert(task, { ...audit, before: null, after: task });
      }
    });
    afterEach(() => harness.close());

    const run = async () => {
      const first = harness.coordinator('coordinator-1').start();
      harness.worker('worker-1').start();
      await harness.clock.advance(4 * MINUTE);
      first.crash();
      await harness.clock.advance(2 * MINUTE);
      harness.coordinator('coordinator-2').start();
      await harness.clock.advance(4 * MINUTE);
    };

    it('finds nothing after a crash of the leader and two minutes of outage', async () => {
      await run();
      const { from, to, checked, findings } = await history.verify({});
      expect([from, to]).toEqual([BASE + 9 * MINUTE - 24 * HOUR, BASE + 10 * MINUTE - SETTLE_MS]);
      expect([findings.violations, findings.unknown]).toEqual([[], []]);
      expect(checked).toMatchObject({ tasks: 2, slots: 18 + 9 });
      expect(checked.events).toBeLessThan(checked.slots);
    });

    it('finds an event that was lost, and one whose run never ended', async () => {
      await run();
      const lost = BASE + 3 * MINUTE;
      await harness.query(`DELETE FROM trigger_event WHERE task_id = 'minute' AND slot = ${lost}`);
      const stuck = `SELECT id FROM trigger_event WHERE task_id = 'half' AND slot = ${lost}`;
      await harness.query(`UPDATE execution_log SET status = 'running' WHERE id = (${stuck})`);
      const { violations } = (await history.verify({ from: BASE })).findings;
      expect(violations.map(({ rule, taskId, slot }) => [rule, taskId, slot])).toEqual([
        ['overdue_running', 'half', lost],
        ['missing', 'minute', lost],
      ]);
    });

    it('looks at the time asked for alone', async () => {
      await run();
      const { checked } = await history.verify({ from: BASE + MINUTE, to: BASE + 3 * MINUTE });
      expect(checked).toEqual({ tasks: 2, slots: 8, events: 8 });
    });
  });

  describe('bounds', () => {
    const NOW = BASE + 100 * 24 * HOUR;
    /** One task that is due every second and never was decided. */
    const idle: HistoryRepo = {
      nextTaskId: async (after) => (after === '' ? 'idle' : null),
      taskHistory: async () => ({ current: every(1, { createdAt: BASE }), changes: [] }),
      eventBefore: async () => null,
      events: async () => [],
    };
    const verify = (range: { from?: number; to?: number }, maxSteps = 10_000) =>
      new VerifyHistory({ history: idle, clock: new SettableClock(NOW) }, { maxSteps }).verify(range);

    it('judges no slot that may still be on its way', async () => {
      const { to, findings } = await verify({ from: NOW - 2 * MINUTE, to: NOW + HOUR });
      expect(to).toBe(NOW - SETTLE_MS);
      expect(findings.countOf('missing')).toBe(56);
    });

    it('lets others run in between', async () => {
      let turns = 0;
      let isDone = false;
      const count = () => {
        turns++;
        if (!isDone) setImmediate(count);
      };
      setImmediate(count);
      const { findings } = await verify({ from: NOW - HOUR });
      isDone = true;
      expect(findings.violationCount).toBeGreaterThan(3500);
      expect(turns).toBeGreaterThan(2);
    });

    it('goes on once at a time, since it takes its share of the store', async () => {
      const verifier = new VerifyHistory(
        { history: idle, clock: new SettableClock(NOW) },
        { maxSteps: 10_000 },
      );
      const first = verifier.verify({ from: NOW - HOUR });
      await expect(verifier.verify({ from: NOW - HOUR })).rejects.toMatchObject({ code: 'conflict' });
      await first;
      await expect(verifier.verify({ from: NOW - HOUR })).resolves.toMatchObject({ checked: { tasks: 1 } });
    });

    it.each([
      ['nothing to judge yet', { from: NOW }, 'from: leaves nothing to judge'],
      ['a range that runs backwards', { from: NOW - HOUR, to: NOW - 2 * HOUR }, 'from: is after to; give'],
      [
        'more than a month',
        { from: NOW - SETTLE_MS - MAX_RANGE_DAYS * 24 * HOUR - 1 },
        'from: is more than 31 days',
      ],
    ])('refuses %s', async (_, range, message) => {
      await expect(verify(range)).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining(message) as string,
      });
    });

    it('refuses more slots than it may look at, and says what to do', async () => {
      const refused = {
        code: 'invalid_input',
        message: expect.stringMatching(/^from: and to are 3 h apart.*shorter range/) as string,
      };
      await expect(verify({ from: NOW - 3 * HOUR }, 9000)).rejects.toMatchObject(refused);
    });
  });
});

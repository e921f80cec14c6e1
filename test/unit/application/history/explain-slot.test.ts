import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  coordinatorVerdict,
  duplicateVerdict,
} from '../../../../src/application/coordinator/coordinator-verdict.js';
import { type Explanation } from '../../../../src/application/history/explain-slot.js';
import { RunReports, waitingReport } from '../../../../src/application/worker/run-reports.js';
import { type Outcome } from '../../../../src/domain/execution.js';
import { type TriggerEvent } from '../../../../src/domain/trigger.js';
import { WHY_CODES, type WhyCode } from '../../../../src/domain/why/why.js';
import { type Reason } from '../../../../src/domain/reason.js';
import { BASE, buildEvent, buildMessage } from '../../../support/builders.js';
import { buildUse } from '../../../support/calendars.js';
import { buildWorker } from '../../../support/pools.js';
import { auditOf } from '../../../support/store.js';
import { MINUTE, SAID, SLOT, WhyScene } from '../../../support/why-scene.js';
import { cronSchedule, policyOf } from '../../domain/definition.js';

const HOUR = 60 * MINUTE;
const RETRIES = policyOf({ isIdempotent: true, retryCount: 2, retryIntervalSec: 60 });

/** Monday, the day of the scene, is a holiday. */
const newYear = cronSchedule('*/5 * * * *', 'Asia/Shanghai', {
  calendar: buildUse({ holidays: [{ date: '2026-01-05', name: '元旦' }] }),
});

const outcome = (overrides: Partial<Outcome> = {}): Outcome => ({
  status: 'fail',
  reason: 'connect',
  message: 'connection refused',
  evidence: { error_code: 'ECONNREFUSED' },
  ...overrides,
});
const attempt = (event: TriggerEvent, result: Outcome) => ({
  attempt: 1,
  startedAt: event.firedAt + 5,
  finishedAt: event.firedAt + 100,
  outcome: result,
});

/** The slot is fired, and its run ends so. */
async function ended(result: Outcome): Promise<Explanation> {
  const scene = await WhyScene.open();
  const event = await scene.fire();
  await scene.apply((await scene.run(event)).finished(attempt(event, result)));
  return scene.why();
}

/** The slot is fired, and ax ends its run so before it begins. */
async function skipped(reason: Reason, message: string | null = null): Promise<Explanation> {
  const scene = await WhyScene.open();
  const event = await scene.fire();
  await scene.apply(coordinatorVerdict(event, { status: 'skipped', reason, message, at: SLOT + 50 }));
  return scene.why();
}

/** Disturbs the chain at one link; what is said of the slot, which words its summary has, and what its evidence. */
const CASES: Readonly<
  Record<
    WhyCode,
    () => Promise<{ why: Explanation; says: readonly string[]; evidence?: Readonly<Record<string, unknown>> }>
  >
> = {
  not_due: async () => {
    const scene = (await WhyScene.open()).at(SLOT + HOUR);
    const why = await scene.why(SLOT + 2 * MINUTE);
    const evidence = { slot_before: SLOT, slot_after: SLOT + 5 * MINUTE };
    return { why, says: [SAID, 'the next is 2026-01-05 08:10:00 +08:00'], evidence };
  },
  not_created: async () => {
    const why = await (await WhyScene.open()).why(BASE - HOUR);
    return { why, says: ['created at 2026-01-05 08:00:00 +08:00'], evidence: { created_at: BASE } };
  },
  deleted: async () => {
    const scene = (await WhyScene.open()).at(SLOT - MINUTE);
    await scene.delete();
    const why = await scene.at(SLOT + MINUTE).why();
    const undecided = (await WhyScene.open()).at(SLOT + 20);
    await undecided.delete();
    for (const at of [SLOT, SLOT + 20, SLOT + 5000]) {
      expect(await undecided.why(at)).toMatchObject({
        ...{ code: 'deleted', slot: SLOT, evidence: { deleted_at: SLOT + 20 } },
        summary: expect.stringContaining('was not decided yet when the task was deleted') as string,
      });
    }
    return { why, says: ['deleted at 2026-01-05 08:04:00'], evidence: { deleted_at: SLOT - MINUTE } };
  },
  disabled: async () => {
    const undecided = (await WhyScene.open()).at(SLOT + 20);
    await undecided.edit({ isEnabled: false });
    for (const at of [SLOT, SLOT + 20, SLOT + 5000]) {
      expect(await undecided.why(at)).toMatchObject({
        ...{ code: 'disabled', slot: SLOT, evidence: { disabled_since: SLOT + 20, disabled_until: null } },
        summary: expect.stringContaining('was not decided yet when the task was disabled') as string,
      });
    }
    const scene = (await WhyScene.open()).at(SLOT - 2 * MINUTE);
    await scene.edit({ isEnabled: false });
    await scene.at(SLOT - MINUTE).edit({ owner: 'someone' });
    await scene.at(SLOT + MINUTE).edit({ isEnabled: true });
    const evidence = { disabled_since: SLOT - 2 * MINUTE, disabled_until: SLOT + MINUTE };
    return { why: await scene.why(), says: [SAID, 'until 2026-01-05 08:06:00'], evidence };
  },
  outside_bounds: async () => {
    const endAt = SLOT - MINUTE + HOUR;
    const scene = await WhyScene.open({
      schedule: cronSchedule('*/5 * * * *', 'Asia/Shanghai', { startAt: SLOT + MINUTE, endAt }),
    });
    expect(await scene.at(SLOT + 2 * HOUR).why(SLOT + HOUR)).toMatchObject({
      code: 'outside_bounds',
      evidence: { end_at: endAt },
    });
    return {
      why: await scene.why(),
      says: ['start_at is 2026-01-05 08:06:00'],
      evidence: { start_at: SLOT + MINUTE },
    };
  },
  calendar_excluded: async () => {
    const scene = await WhyScene.open({ schedule: newYear });
    const says = [SAID, '2026-01-05 (元旦) is left out by version 1 of calendar works, rule workdays'];
    const evidence = {
      calendar: 'works',
      calendar_rule: 'workdays',
      excluded_date: '2026-01-05',
      day_name: '元旦',
    };
    const ahead = await scene.why();
    expect(ahead).toMatchObject({
      code: 'calendar_excluded',
      next: SLOT + 24 * HOUR - 5 * MINUTE - 8 * HOUR,
    });
    expect(ahead.summary).toContain('will not run');
    return { why: await scene.at(SLOT + 10).why(), says: [...says, 'does not run'], evidence };
  },
  not_decided: async () => {
    const why = await (await WhyScene.open()).at(SLOT + 3000).why();
    return { why, says: [SAID, 'due for 3 s'], evidence: { next_trigger_time: SLOT, late_ms: 3000 } };
  },
  dispatch_paused: async () => {
    const scene = await WhyScene.open();
    scene.depth = 101;
    return { why: await scene.at(SLOT + 3000).why(), says: ['holds 101 messages', 'AX_QUEUE_LIMIT is 100'] };
  },
  task_broken: async () => {
    const scene = await WhyScene.open();
    await scene.store.spoil('task', 'cron_expr', 'never');
    const why = await scene.at(SLOT + 3000).why();
    return {
      why,
      says: ['cannot be triggered as stored'],
      evidence: { error: expect.stringContaining('never') },
    };
  },
  missing: async () => {
    const scene = (await WhyScene.open()).at(SLOT + MINUTE);
    const advances = [{ taskId: 'task', nextSlot: SLOT + 5 * MINUTE, holdUntil: null }];
    const request = { now: SLOT + MINUTE, limit: 1, mayCommit: () => true };
    await scene.store.triggers.decideDue(request, () => ({ fired: [], skipped: [], advances, errors: [] }));
    return { why: await scene.why(), says: [SAID, 'neither an event nor a misfire verdict'] };
  },
  misfire_skipped: async () => {
    const scene = await WhyScene.open({ policy: policyOf({ misfirePolicy: 'skip' }) });
    await scene.at(SLOT + 17 * MINUTE).tick();
    const alone = await scene.why(SLOT + 10 * MINUTE);
    expect(alone).toMatchObject({ code: 'misfire_skipped' });
    const evidence = { range_end: SLOT + 15 * MINUTE, policy: 'skip', slots: 4 };
    return { why: await scene.why(), says: ['with all slots up to 2026-01-05 08:20:00'], evidence };
  },
  calendar: async () => {
    const scene = await WhyScene.open({ schedule: newYear });
    await scene.at(SLOT + 12 * MINUTE).tick();
    const says = [
      SAID,
      'with all slots up to 2026-01-05 08:15:00',
      '2026-01-05 (元旦) is left out by version 1',
    ];
    const evidence = { calendar: 'works', excluded_date: '2026-01-05', from: SLOT, to: SLOT + 10 * MINUTE };
    expect(await scene.why(SLOT + 10 * MINUTE)).toMatchObject({ code: 'calendar', slot: SLOT });
    return { why: await scene.why(), says, evidence };
  },
  duplicate_refused: async () => {
    const scene = await WhyScene.open();
    await scene.apply(duplicateVerdict(await scene.fire(), SLOT + 20, 'coordinator-2'));
    return { why: await scene.why(), says: ['another event of the same slot'] };
  },
  triggered: async () => {
    const scene = await WhyScene.open();
    await scene.fire();
    scene.redis = 'away';
    const why = await scene.why();
    expect(why.notTold).toHaveLength(3);
    return {
      why,
      says: ['triggered at 2026-01-05 08:05:00.012 +08:00 by coordinator-1', 'the queue did not answer'],
    };
  },
  not_published: async () => {
    const scene = await WhyScene.open();
    await scene.fire();
    scene.runState = 'unknown';
    return { why: await scene.why(), says: ['is not in the queue'], evidence: { queue_state: 'unknown' } };
  },
  no_worker: async () => {
    const scene = await WhyScene.open({ pool: 'batch' });
    await scene.fire();
    return {
      why: await scene.why(),
      says: ['no live worker serves pool "batch"'],
      evidence: { live_workers: 0 },
    };
  },
  not_claimed: async () => {
    const scene = await WhyScene.open();
    const reports = await scene.run(await scene.fire());
    await scene.apply(reports.handedBack(SLOT + 900, 'drained'));
    const evidence = { live_workers: 1, queue_depth: 1, queue_state: 'queued' };
    return { why: await scene.why(), says: ['handed back by worker-1/1', '1 live workers'], evidence };
  },
  waiting_overlap: async () => {
    const scene = await WhyScene.open({ policy: policyOf({ overlapPolicy: 'queue' }) });
    const event = await scene.fire();
    await scene.apply(waitingReport(buildMessage({ event }), SLOT + 30, 'worker-1/1'));
    scene.runState = 'waiting';
    const evidence = { waiting_since: SLOT + 30, max_concurrent: 1 };
    const why = await scene.why();
    scene.redis = 'away';
    expect((await scene.why()).code).toBe('waiting_overlap');
    return { why, says: ['waits its turn', 'max_concurrent = 1'], evidence };
  },
  claimed: async () => {
    const scene = await WhyScene.open();
    await scene.fire();
    scene.runState = 'claimed';
    return { why: await scene.why(), says: ['a worker has claimed it'] };
  },
  overlap_skipped: async () => ({
    why: await skipped('overlap', 'already running max_concurrent = 1 times'),
    says: ['skipped, as the task ran already', 'max_concurrent = 1'],
  }),
  cancelled: async () => ({
    why: await skipped('cancelled', 'cancelled by ann'),
    says: ['before it began', 'by ann'],
  }),
  precheck: async () => {
    const scene = await WhyScene.open();
    const { id: executionId } = await scene.fire();
    const claim = { executionId, taskId: 'task', generation: 1, worker: 'worker-1/1' };
    await scene.apply(new RunReports(claim, 0).prechecked(SLOT + 50, 1, outcome(), 10_000));
    scene.runState = 'claimed';
    const again = await scene.why();
    expect(again).toMatchObject({ code: 'precheck', evidence: { check: 1, retry_at: SLOT + 10_050 } });
    expect(again.summary).toContain('connection refused and is made again at 2026-01-05 08:05:10.050');
    return { why: await skipped('precheck', 'stock is empty'), says: ['check before it', 'stock is empty'] };
  },
  skipped: async () => ({ why: await skipped('blocked'), says: ['was skipped (blocked)'] }),
  running: async () => {
    const scene = await WhyScene.open();
    const reports = await scene.run(await scene.fire());
    await scene.apply(
      reports.delivered(SLOT + 100, 1, { http_status: 202 }, SLOT + HOUR),
      reports.slow(SLOT + 10_000, 10),
    );
    scene.runState = 'claimed';
    const evidence = {
      worker: 'worker-1/1',
      attempt: 1,
      receipt_until: SLOT + HOUR,
      slow_since: SLOT + 10_000,
    };
    const why = await scene.why();
    scene.workers = [buildWorker({ instance: 'another' })];
    expect((await scene.why()).summary).toContain('does not announce itself any more');
    return {
      why,
      says: ['worker-1/1 since', '(attempt 1)', 'awaiting a receipt until 2026-01-05 09:05', 'slow since'],
      evidence,
    };
  },
  worker_lost: async () => {
    const scene = await WhyScene.open();
    await scene.run(await scene.fire());
    return {
      why: await scene.why(),
      says: ['on worker-1/1', 'holds it no longer'],
      evidence: { worker: 'worker-1/1' },
    };
  },
  queue_lost: async () => {
    const scene = await WhyScene.open();
    await scene.run(await scene.fire());
    scene.runState = 'unknown';
    return { why: await scene.why(), says: ['the queue has lost it'] };
  },
  retrying: async () => {
    const scene = await WhyScene.open({ policy: RETRIES });
    const event = await scene.fire();
    const reports = await scene.run(event);
    await scene.apply(
      reports.attemptFailed(attempt(event, outcome())),
      reports.retryPlanned(SLOT + 200, 60_000),
    );
    scene.runState = 'claimed';
    const says = [
      'failed in attempt 1 (connect): connection refused',
      'attempt 2 comes at 2026-01-05 08:06:00.200',
    ];
    return { why: await scene.why(), says, evidence: { retry_at: SLOT + 60_200 } };
  },
  not_persisted: async () => {
    const scene = await WhyScene.open();
    await scene.fire();
    scene.runState = 'finished';
    expect((await scene.why()).code).toBe('not_persisted');
    await scene.run(await scene.at(SLOT + 5 * MINUTE).tick());
    return {
      why: await scene.why(SLOT + 5 * MINUTE),
      says: ['its result is reported, but not in the store'],
    };
  },
  succeeded: async () => ({
    why: await ended(outcome({ status: 'success', reason: null, message: null })),
    says: ['succeeded at 2026-01-05 08:05:00.112', 'attempt 1'],
  }),
  failed: async () => ({ why: await ended(outcome()), says: ['failed at', '(connect): connection refused'] }),
  timed_out: async () => ({
    why: await ended(outcome({ status: 'timeout', reason: 'deadline', message: null })),
    says: ['timed out at', '(deadline)'],
  }),
  outcome_unknown: async () => {
    const scene = await WhyScene.open();
    const reports = await scene.run(await scene.fire());
    const verdict = { status: 'fail', reason: 'outcome_unknown', message: 'worker-1 was lost' } as const;
    await scene.apply(reports.ended(SLOT + 900, verdict));
    return { why: await scene.why(), says: ['nobody knows how', 'worker-1 was lost'] };
  },
  unknown: async () => {
    const scene = await WhyScene.open();
    await scene.at(SLOT + MINUTE).edit({ isEnabled: false });
    const evidence = { missing: expect.stringContaining('undecided when the task was') as string };
    return { why: await scene.at(SLOT + HOUR).why(SLOT), says: ['cannot tell'], evidence };
  },
};

const page = readFileSync(new URL('../../../../docs/why.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| `([a-z_]+)` \| .+? \| .+? \|$/gm)].map(([, code = '']) => code);

describe('docs/why.md', () => {
  it('has a row for every code', () => expect(rows).toEqual([...WHY_CODES]));

  it.each(rows)('%s', async (code) => {
    const { why, says, evidence } = await CASES[code as WhyCode]();
    expect(why.code, why.summary).toBe(code);
    for (const part of says) expect(why.summary).toContain(part);
    expect(why.summary).toMatch(/^[A-Zax][^\n]*\.$/);
    expect(why.evidence).toMatchObject(evidence ?? {});
  });
});

describe('ExplainSlot', () => {
  it('without an instant tells of the last slot and names the next one', async () => {
    const scene = await WhyScene.open();
    expect(await scene.why(null)).toMatchObject({ code: 'not_due', at: BASE, slot: null, next: SLOT });
    const event = await scene.fire();
    await scene.apply((await scene.run(event)).finished(attempt(event, outcome())));
    scene.at(SLOT + 2 * MINUTE);
    const next = SLOT + 5 * MINUTE;
    expect(await scene.why(null)).toMatchObject({ code: 'failed', at: SLOT, slot: SLOT, next });
    scene.at(SLOT + 12 * MINUTE);
    expect(await scene.why(null)).toMatchObject({ code: 'not_decided', slot: SLOT + 10 * MINUTE });
    await scene.edit({ isEnabled: false });
    expect(await scene.why(null)).toMatchObject({ code: 'disabled', next: null });
  });

  it('takes an instant in the window, in the run and in a skipped range for that of the slot', async () => {
    const scene = await WhyScene.open();
    const event = await scene.fire();
    const reports = await scene.run(event);
    scene.runState = 'claimed';
    scene.at(SLOT + 4 * MINUTE);
    expect(await scene.why(SLOT + 3 * MINUTE)).toMatchObject({ code: 'running', slot: SLOT });
    const finishedAt = SLOT + 2 * MINUTE;
    await scene.apply(reports.finished({ ...attempt(event, outcome()), finishedAt }));
    expect(await scene.why(SLOT + MINUTE)).toMatchObject({ code: 'failed', slot: SLOT });
    expect(await scene.why(SLOT + 3 * MINUTE)).toMatchObject({ code: 'not_due', slot: null });
    expect(await scene.why(SLOT - 1)).toMatchObject({ code: 'not_due', next: SLOT });
    await scene.run(await scene.at(SLOT + 17 * MINUTE).tick());
    expect(await scene.why(SLOT + 8 * MINUTE)).toMatchObject({ code: 'misfire_skipped' });
    const late = await scene.why(SLOT + 15 * MINUTE);
    expect(late.summary).toContain('was made up for at 2026-01-05 08:22:00 +08:00 and runs on');
  });

  it('knows that the jitter of a slot makes it later', async () => {
    const schedule = { ...cronSchedule('*/5 * * * *', 'Asia/Shanghai'), jitterSec: 120 };
    const scene = (await WhyScene.open({ schedule })).at(SLOT);
    const early = await scene.why();
    const start = Number(early.evidence['window_start']);
    expect(early).toMatchObject({ code: 'not_due', slot: SLOT });
    expect(early.summary).toMatch(/is to come, by its jitter at 2026-01-05 08:0[567]:/);
    scene.at(start + 3000);
    expect(await scene.why(start + 4000)).toMatchObject({ code: 'not_decided', evidence: { late_ms: 3000 } });
    await scene.tick();
    expect(await scene.why(start + 4000)).toMatchObject({ code: 'not_claimed', slot: SLOT });
  });

  it('knows a run by hand by its slot', async () => {
    const scene = await WhyScene.open();
    const { store } = scene;
    const event = buildEvent({ taskId: 'task', kind: 'manual', slot: SLOT + 777 });
    await store.triggers.recordManual(event, null, auditOf('task', 'task.run'));
    scene.at(SLOT + MINUTE);
    const why = await scene.why(SLOT + 777);
    expect([why.code, why.summary]).toEqual(['not_claimed', expect.stringMatching(/^The run by hand of/)]);
  });

  it('looks again when the run moves on in between', async () => {
    const scene = await WhyScene.open();
    const event = await scene.fire();
    const reports = await scene.run(event);
    scene.runState = 'finished';
    scene.onAsked = () => scene.apply(reports.finished(attempt(event, outcome())));
    expect((await scene.why()).code).toBe('failed');
  });

  it('does not wait for a queue that never answers', async () => {
    const scene = await WhyScene.open();
    await scene.run(await scene.fire());
    scene.redis = 'silent';
    const { code, summary, notTold } = await scene.why();
    expect([code, notTold.length]).toEqual(['running', 3]);
    expect(summary).toContain('as recorded last');
  });

  it('refuses a task that never was', async () => {
    const scene = await WhyScene.open();
    await expect(scene.why(BASE, 'nobody')).rejects.toMatchObject({ code: 'not_found' });
  });
});

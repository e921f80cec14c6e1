import { describe, expect, it } from 'vitest';
import { RunReports } from '../../../../src/application/worker/run-reports.js';
import { progressOf } from '../../../../src/domain/execution.js';
import { BASE } from '../../../support/builders.js';
import { failed, succeeded } from '../../../support/scripted-executor.js';

const claim = { executionId: 'execution', taskId: 'task', generation: 3, worker: 'worker-1' };
const attempt = (number: number, outcome = failed()) => ({
  attempt: number,
  startedAt: BASE + number * 1000,
  finishedAt: BASE + number * 1000 + 500,
  outcome,
});

describe('RunReports', () => {
  it('each carry more progress than the ones before, so that they may arrive in any order', () => {
    const reports = new RunReports(claim, 0);
    const made = [reports.claimed(BASE, BASE - 10)];
    reports.firstAttempt();
    made.push(
      reports.attemptFailed(attempt(1)),
      reports.retryPlanned(BASE + 1500, 10_000),
      reports.attemptStarted(BASE + 11_500, 2),
      reports.finished(attempt(2, succeeded())),
    );
    const progress = made.map(progressOf);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(new Set(progress).size).toBe(made.length);
    expect(made.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
    expect(made.map(({ attempt: number }) => number)).toEqual([0, 1, 1, 2, 2]);
  });

  it('each carry the whole state', () => {
    const reports = new RunReports(claim, 0);
    reports.claimed(BASE, BASE - 10);
    reports.firstAttempt();
    expect(reports.attemptFailed(attempt(1))).toMatchObject({
      ...claim,
      status: 'retrying',
      reason: 'http_status',
      message: 'failed: http_status',
      startedAt: BASE,
      finishedAt: null,
      evidence: { http_status: 500 },
      entry: {
        kind: 'attempt_failed',
        at: BASE + 1500,
        node: 'worker-1',
        detail: { attempt: 1, status: 'fail', started_at: BASE + 1000, finished_at: BASE + 1500 },
      },
    });
    expect(reports.handedBack(BASE + 2000, 'drained')).toMatchObject({
      status: 'pending',
      reason: 'drained',
      attempt: 1,
      startedAt: BASE,
    });
  });

  it('carry a long output once, with the attempt that ended the run; else its last 4096 characters', () => {
    const reports = new RunReports(claim, 0);
    reports.claimed(BASE, BASE - 10);
    reports.firstAttempt();
    const outcome = {
      ...failed(),
      evidence: { exit_code: 1, stdout_tail: `${'x'.repeat(60_000)}🚀${'y'.repeat(4095)}` },
    };
    const brief = { exit_code: 1, stdout_tail: 'y'.repeat(4095) };
    const retried = [
      reports.attemptFailed(attempt(1, outcome)),
      reports.retryPlanned(BASE + 1500, 10_000),
      reports.attemptStarted(BASE + 11_500, 2),
    ];
    expect(retried.map(({ evidence }) => evidence)).toEqual([brief, brief, brief]);
    expect(retried[0]?.entry.detail).toMatchObject({ attempt: 1, evidence: brief });
    const last = reports.finished(attempt(2, outcome));
    expect(last.evidence).toEqual(brief);
    expect(last.entry.detail).toMatchObject({ attempt: 2, evidence: outcome.evidence });
  });

  it('of a later claim go on counting attempts', () => {
    const reports = new RunReports(claim, 2);
    expect(reports.claimed(BASE, BASE).attempt).toBe(2);
    const previous = { worker: 'worker-0', generation: 2, retryAt: null };
    expect(reports.reclaimed(BASE, previous)).toMatchObject({
      status: 'running',
      entry: { kind: 'reclaimed', detail: { previous_worker: 'worker-0', previous_generation: 2 } },
    });
    expect(reports.reclaimed(BASE, { ...previous, retryAt: BASE + 1000 })).toMatchObject({
      status: 'retrying',
      entry: { detail: { retry_at: BASE + 1000 } },
    });
    expect(reports.attemptStarted(BASE, 3).attempt).toBe(3);
  });

  it('never leave a final status, and never tell what could not have happened', () => {
    const ended = new RunReports(claim, 0);
    const verdict = { status: 'skipped', reason: 'overlap', message: null } as const;
    expect(ended.ended(BASE, verdict)).toMatchObject({
      status: 'skipped',
      finishedAt: BASE,
      startedAt: null,
    });
    expect(ended.attemptStarted(BASE, 1).status).toBe('skipped');

    const running = new RunReports(claim, 0);
    running.claimed(BASE, BASE);
    expect(() => running.ended(BASE, verdict)).toThrow('cannot go from running to skipped');
  });
});

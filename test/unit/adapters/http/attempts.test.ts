import { describe, expect, it } from 'vitest';
import { attemptsOf } from '../../../../src/adapters/http/attempts.js';
import { type LedgerEntry, type LedgerKind } from '../../../../src/domain/execution.js';

const entry = (kind: LedgerKind, at: number, detail: Record<string, unknown> = {}): LedgerEntry => ({
  kind,
  at,
  node: 'worker-1',
  detail,
});
const ended = (
  kind: 'attempt_failed' | 'finished',
  attempt: number,
  from: number,
  to: number,
  status = 'fail',
) =>
  entry(kind, to, {
    attempt,
    status,
    reason: status === 'success' ? null : 'http_status',
    message: status === 'success' ? null : 'answered 500',
    started_at: from,
    finished_at: to,
    evidence: { http_status: status === 'success' ? 200 : 500 },
  });
const START = [entry('triggered', 1), entry('published', 2), entry('claimed', 10)];
const running = {
  status: 'running',
  reason: null,
  error_msg: null,
  finished_at: null,
  evidence: {},
};
const lost = { status: 'fail', reason: 'outcome_unknown', evidence: {} };

describe('attempts of a ledger', () => {
  it('are none before a claim', () => {
    expect(attemptsOf(START.slice(0, 2))).toEqual([]);
  });

  it('begin with the claim', () => {
    expect(attemptsOf(START)).toEqual([{ ...running, attempt: 1, started_at: 10 }]);
  });

  it('are one row each, with what they came to', () => {
    const ledger = [
      ...START,
      ended('attempt_failed', 1, 11, 20),
      entry('retry_planned', 20, { attempt: 2, retry_at: 30, delay_ms: 10 }),
      entry('attempt_started', 30, { attempt: 2 }),
      ended('finished', 2, 31, 40, 'success'),
    ];
    expect(attemptsOf(ledger)).toEqual([
      {
        attempt: 1,
        status: 'fail',
        reason: 'http_status',
        error_msg: 'answered 500',
        started_at: 11,
        finished_at: 20,
        evidence: { http_status: 500 },
      },
      {
        attempt: 2,
        status: 'success',
        reason: null,
        error_msg: null,
        started_at: 31,
        finished_at: 40,
        evidence: { http_status: 200 },
      },
    ]);
    expect(attemptsOf(ledger.slice(0, -1)).at(-1)).toEqual({ ...running, attempt: 2, started_at: 30 });
  });

  it('show an end whose start was never reported', () => {
    expect(attemptsOf([ended('finished', 1, 11, 20)])).toMatchObject([
      { attempt: 1, started_at: 11, finished_at: 20 },
    ]);
  });

  it('are none when ax ended the run before any', () => {
    const overlap = entry('finished', 11, {
      attempt: 0,
      status: 'skipped',
      reason: 'overlap',
      message: 'full',
    });
    expect(attemptsOf([...START, overlap])).toEqual([]);
    expect(attemptsOf([entry('triggered', 1), overlap])).toEqual([]);
  });

  it('go on with the next number after another worker took over; the lost one stays open to nobody', () => {
    const takenOver = [
      ...START,
      entry('claimed', 50),
      entry('reclaimed', 50, { previous_worker: 'worker-0', previous_generation: 1 }),
      entry('attempt_started', 51, { attempt: 2 }),
    ];
    expect(attemptsOf(takenOver)).toMatchObject([
      { ...lost, attempt: 1, started_at: 10, finished_at: 50 },
      { ...running, attempt: 2, started_at: 51 },
    ]);
  });

  it('know of a take-over also when the claim itself was not reported', () => {
    const ledger = [...START, entry('reclaimed', 50), entry('attempt_started', 51, { attempt: 2 })];
    expect(attemptsOf(ledger)).toMatchObject([
      { ...lost, attempt: 1 },
      { ...running, attempt: 2 },
    ]);
  });

  it('begin with a claim that may not be the first one, when the queue lost data', () => {
    const forgotten = entry('reclaimed', 11, { previous_worker: null, previous_generation: null });
    expect(attemptsOf([...START, forgotten, ended('finished', 1, 10, 20)])).toMatchObject([
      { attempt: 1, started_at: 10, finished_at: 20, reason: 'http_status' },
    ]);
  });

  it('end as unknown when ax may not run the task again', () => {
    const verdict = { attempt: 0, status: 'fail', reason: 'outcome_unknown', message: 'worker lost' };
    expect(attemptsOf([...START, entry('finished', 60, verdict)])).toMatchObject([
      { ...lost, attempt: 1, started_at: 10, finished_at: 60 },
    ]);
  });

  it('are none after a hand-back before the first, which then starts with the next claim', () => {
    const handedBack = [...START, entry('handed_back', 12, { attempt: 0 })];
    expect(attemptsOf(handedBack)).toEqual([]);
    expect(attemptsOf([...handedBack, entry('claimed', 20), entry('reclaimed', 20)])).toEqual([
      { ...running, attempt: 1, started_at: 20 },
    ]);
  });

  it('end as drained when a running one was handed back', () => {
    expect(attemptsOf([...START, entry('handed_back', 12, { attempt: 1 })])).toMatchObject([
      { attempt: 1, status: 'fail', reason: 'drained', started_at: 10, finished_at: 12 },
    ]);
  });

  it('end as unknown when another worker left the run to recovery, since the queue had lost data', () => {
    expect(
      attemptsOf([...START, entry('handed_back', 12, { attempt: 1, reason: 'queue_lost' })]),
    ).toMatchObject([{ ...lost, attempt: 1, started_at: 10, finished_at: 12 }]);
  });

  it('number anew after the queue lost the run and it was published again', () => {
    const ledger = [
      ...START,
      entry('republished', 100),
      entry('claimed', 110),
      ended('finished', 1, 110, 120),
    ];
    expect(attemptsOf(ledger)).toMatchObject([
      { ...lost, attempt: 1, started_at: 10 },
      { attempt: 1, started_at: 110, finished_at: 120, reason: 'http_status' },
    ]);
  });
});

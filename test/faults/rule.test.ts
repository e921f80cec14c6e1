import { describe, expect, it } from 'vitest';
import { type Call, type Expectation, judge, type RecordedEvent } from './rule.js';

const SLOT = 1_000_000;
const expectation: Expectation = {
  taskId: 't',
  isIdempotent: true,
  windowMs: 5000,
  slots: new Set([SLOT]),
  undecidable: new Set(),
};
const event: RecordedEvent = {
  id: 'e',
  taskId: 't',
  slot: SLOT,
  rangeEnd: null,
  firedAt: SLOT + 5,
  isMisfire: false,
  status: 'success',
  reason: null,
  recordedTries: 1,
};
const call: Call = { taskId: 't', slot: SLOT, executionId: 'e', attempt: 1, at: SLOT + 9, isAnswered: true };
const skipped = { ...event, status: 'skipped', reason: 'misfire' };

function breaches(
  events: readonly RecordedEvent[],
  calls: readonly Call[],
  expected: Partial<Expectation> = {},
): string[] {
  const { findings } = judge([{ ...expectation, ...expected }], events, calls);
  return findings.map(({ breach, what }) => `${breach}: ${what}`);
}

describe('the rule of the fault campaign', () => {
  it('is content with a slot that was triggered in its window and called once', () => {
    expect(judge([expectation], [event], [call])).toEqual({
      slots: 1,
      findings: [],
      outcomeUnknown: 0,
      skipped: 0,
      failed: 0,
      worstLatenessMs: 9,
    });
  });

  it('is content with recorded verdicts', () => {
    const late = { ...event, isMisfire: true, firedAt: SLOT + 60_000 };
    expect(breaches([late], [call])).toEqual([]);
    expect(breaches([skipped], [])).toEqual([]);
    expect(
      breaches([{ ...skipped, slot: SLOT - 2000, rangeEnd: SLOT + 2000 }], [], {
        slots: new Set([SLOT - 2000, SLOT, SLOT + 2000]),
      }),
    ).toEqual([]);
    expect(
      breaches([{ ...event, status: 'fail', reason: 'outcome_unknown' }], [call], { isIdempotent: false }),
    ).toEqual([]);
    expect(breaches([{ ...event, status: 'fail', reason: 'connect' }], [])).toEqual([]);
    expect(breaches([{ ...event, recordedTries: 2 }], [call, { ...call, attempt: 2 }])).toEqual([]);
    expect(breaches([event], [call], { slots: new Set(), undecidable: new Set([SLOT]) })).toEqual([]);
  });

  it.each<[string, readonly RecordedEvent[], readonly Call[], Partial<Expectation>]>([
    ['lost: no event', [], [], {}],
    ['lost: success without an answered call', [event], [], {}],
    ['lost: success without an answered call', [event], [{ ...call, isAnswered: false }], {}],
    [
      'lost: idempotent, and ended as fail / outcome_unknown',
      [{ ...event, status: 'fail', reason: 'outcome_unknown' }],
      [call],
      {},
    ],
    ['lost: skipped without a verdict (null)', [{ ...skipped, reason: null }], [], {}],
    [
      'doubled: 2 events',
      [event, { ...skipped, id: 'r', slot: SLOT - 1000, rangeEnd: SLOT }],
      [call],
      { slots: new Set([SLOT, SLOT - 1000]) },
    ],
    ['doubled: called for two executions', [event], [call, { ...call, executionId: 'x' }], {}],
    ['doubled: called 2 times', [{ ...event, recordedTries: 2 }], [call, call], { isIdempotent: false }],
    ['doubled: 2 calls, 1 recorded tries', [event], [call, call], {}],
    ['outside: an event that was not expected', [event], [call], { slots: new Set() }],
    ['outside: called 3 ms before its time', [event], [{ ...call, at: SLOT - 3 }], {}],
    ['outside: fired 3 ms before its time', [{ ...event, firedAt: SLOT - 3 }], [call], {}],
    [
      'outside: fired 5001 ms after its slot, not flagged as late',
      [{ ...event, firedAt: SLOT + 5001 }],
      [call],
      {},
    ],
    ['outside: called, and recorded as skipped (misfire)', [skipped], [call], {}],
    ['open: still pending', [{ ...event, status: null }], [], {}],
    ['open: still running', [{ ...event, status: 'running' }], [call], {}],
  ])('finds %s', (what, events, calls, expected) => {
    expect(breaches(events, calls, expected)).toEqual([what]);
  });

  it('finds a call that nothing was recorded for', () => {
    expect(breaches([], [call])).toEqual(['lost: no event', 'outside: called without an event']);
    expect(breaches([], [call], { slots: new Set() })).toEqual(['outside: called without an event']);
  });
});

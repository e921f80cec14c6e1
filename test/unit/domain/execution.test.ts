import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isTerminal,
  pendingExecution,
  progressOf,
  STATUSES,
  type Status,
  transition,
} from '../../../src/domain/execution.js';
import { triggerWindow } from '../../../src/domain/trigger.js';
import { buildEvent } from '../../support/builders.js';

/** Rows are the status before, columns the one reported, in the order of STATUSES: goes there, stays, or is refused. */
const TABLE: Readonly<Record<Status, readonly ('go' | 'stay' | 'refuse')[]>> = {
  //          pending   running   retrying  success   fail      timeout   skipped
  pending: ['stay', 'go', 'refuse', 'refuse', 'go', 'refuse', 'go'],
  running: ['go', 'stay', 'go', 'go', 'go', 'go', 'refuse'],
  retrying: ['go', 'go', 'stay', 'refuse', 'go', 'refuse', 'refuse'],
  success: ['stay', 'stay', 'stay', 'stay', 'stay', 'stay', 'stay'],
  fail: ['stay', 'stay', 'stay', 'stay', 'stay', 'stay', 'stay'],
  timeout: ['stay', 'stay', 'stay', 'stay', 'stay', 'stay', 'stay'],
  skipped: ['stay', 'stay', 'stay', 'stay', 'stay', 'stay', 'stay'],
};

const pairs = STATUSES.flatMap((from) =>
  STATUSES.map((to, i) => ({ from, to, does: TABLE[from][i] ?? 'refuse' })),
);

describe('the status of an execution', () => {
  it('is one of seven', () => {
    expect(STATUSES).toEqual(['pending', 'running', 'retrying', 'success', 'fail', 'timeout', 'skipped']);
    expect(pairs).toHaveLength(49);
  });

  it.each(pairs)('$from, $to is reported: $does', ({ from, to, does }) => {
    if (does === 'refuse') {
      const refusal = { name: 'AxError', code: 'illegal_transition', retryable: false };
      expect(() => transition(from, to)).toThrow(expect.objectContaining(refusal));
    } else {
      expect(transition(from, to)).toBe(does === 'go' ? to : from);
    }
  });

  it('never leaves its end, whatever is reported afterwards', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STATUSES), { maxLength: 20 }), (reported) => {
        let status: Status = 'pending';
        for (const to of reported) {
          const before: Status = status;
          try {
            status = transition(status, to);
          } catch {
            expect(isTerminal(before)).toBe(false);
          }
          if (isTerminal(before)) expect(status).toBe(before);
        }
      }),
    );
  });

  it('has four ends', () => {
    expect(STATUSES.filter(isTerminal)).toEqual(['success', 'fail', 'timeout', 'skipped']);
  });

  it('begins as pending, with nothing known but the event', () => {
    const event = buildEvent();
    expect(pendingExecution(event)).toEqual({
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
  });
});

describe('progress', () => {
  const open = fc.constantFrom<Status>('pending', 'running', 'retrying');
  const count = fc.nat(999_999);
  const report = fc.record({ status: open, generation: fc.nat(1_000_000), seq: count });

  it('grows with the generation first, then with the report of it, whatever the status', () => {
    fc.assert(
      fc.property(report, report, (a, b) => {
        const order = a.generation - b.generation || a.seq - b.seq;
        expect(Math.sign(progressOf(a) - progressOf(b))).toBe(Math.sign(order));
      }),
    );
  });

  it('no number of reports makes one generation overtake the next', () => {
    const endless = progressOf({ status: 'running', generation: 1, seq: 10_000_000 });
    expect(endless).toBeLessThan(progressOf({ status: 'pending', generation: 2, seq: 0 }));
  });

  it('an end is above everything and equal to any other end, so that the first one stays', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Status>('success', 'fail', 'timeout', 'skipped'),
        report,
        (status, other) => {
          const end = progressOf({ status, generation: 0, seq: 0 });
          expect(end).toBeGreaterThan(progressOf(other));
          expect(progressOf({ ...other, status: 'success' })).toBe(end);
          expect(Number.isSafeInteger(end)).toBe(true);
        },
      ),
    );
  });
});

describe('the trigger window', () => {
  it('begins at the slot and ends after window_sec', () => {
    expect(triggerWindow(1000, 5)).toEqual({ start: 1000, end: 6000 });
  });
});

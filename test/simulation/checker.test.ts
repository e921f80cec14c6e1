import { describe, expect, it } from 'vitest';
import { type AuditEntry } from '../../src/ports/audit.js';
import { BASE } from '../support/builders.js';
import { checkSlots } from './check-slots.js';
import { reignsOf, slotsOf } from './oracle.js';
import { type StoredEvent } from './watched-store.js';

const SECOND = 1000;
const interval = { type: 'interval', everySec: 60, anchorAt: BASE } as const;

const created = (schedule: object = interval): AuditEntry => ({
  at: BASE,
  actor: 'someone',
  action: 'task.create',
  subject: 't1',
  before: null,
  after: { isEnabled: true, schedule },
});

const eventAt = (minute: number, overrides: Partial<StoredEvent> = {}): StoredEvent => {
  const slot = BASE + minute * 60 * SECOND;
  return {
    id: `event-${minute}`,
    taskId: 't1',
    kind: 'schedule',
    slot,
    rangeEnd: null,
    windowStart: slot,
    windowEnd: slot + 5 * SECOND,
    firedAt: slot + 10,
    isMisfire: false,
    node: 'c1.1',
    recordedAt: slot + 12,
    status: 'success',
    reason: null,
    ...overrides,
  };
};

const rules = (events: readonly StoredEvent[], audit: readonly AuditEntry[] = [created()]) =>
  checkSlots(audit, events).map(({ rule }) => rule);

describe('Expected slots', () => {
  it('of an interval are its multiples after the anchor', () => {
    expect(slotsOf(interval, BASE - SECOND, BASE + 150 * SECOND)).toEqual([
      BASE + 60 * SECOND,
      BASE + 120 * SECOND,
    ]);
    expect(slotsOf(interval, BASE + 60 * SECOND, BASE + 60 * SECOND)).toEqual([]);
  });

  it('of a cron expression are its minutes of every hour, in UTC', () => {
    const cron = { type: 'cron', expr: '3,33 * * * *', calendar: null } as const;
    const minutes = slotsOf(cron, BASE + 3 * 60 * SECOND, BASE + 4000 * SECOND).map(
      (slot) => (slot - BASE) / 60_000,
    );
    expect(minutes).toEqual([33, 63]);
  });

  it('begin anew with each enabling and change of schedule, and go on through other changes', () => {
    const change = (at: number, task: object | null): AuditEntry => {
      const action = task === null ? 'task.delete' : 'task.update';
      return { ...created(), at: BASE + at, action, before: { nextTriggerTime: BASE + 60_000 }, after: task };
    };
    const reigns = reignsOf([
      created(),
      change(10, { isEnabled: true, name: 'other', schedule: interval }),
      change(20, { isEnabled: false, schedule: interval }),
      change(30, { isEnabled: true, schedule: { ...interval, everySec: 5 } }),
      change(40, null),
    ]);
    expect(reigns.map(({ from, to }) => [from - BASE, to - BASE])).toEqual([
      [0, 20],
      [30, 40],
    ]);
  });
});

describe('The checker of slots', () => {
  it('has nothing to say of one event per slot', () => {
    expect(rules([eventAt(1), eventAt(2), eventAt(3)])).toEqual([]);
  });

  it('finds a lost slot', () => expect(rules([eventAt(1), eventAt(3)])).toEqual(['lost']));

  it('finds a doubled slot', () =>
    expect(rules([eventAt(1), eventAt(2), eventAt(2, { id: 'again' })])).toEqual(['doubled']));

  it('finds an event between slots', () =>
    expect(rules([eventAt(1), eventAt(1.5), eventAt(2)])).toEqual(['stray']));

  it('takes old slots before an edit of the schedule and new ones after it, also undecided ones, and no others', () => {
    const edit = {
      ...created({ ...interval, everySec: 90 }),
      at: BASE + 310 * SECOND,
      action: 'task.update',
      before: { nextTriggerTime: BASE + 240 * SECOND },
    };
    const late = { isMisfire: true, firedAt: BASE + 400 * SECOND };
    const events = [eventAt(1), eventAt(2), eventAt(3), eventAt(4, late), eventAt(5, late), eventAt(6)];
    expect(rules(events, [created(), edit])).toEqual([]);
    expect(rules([...events, eventAt(4.5, late)], [created(), edit])).toEqual(['stray']);
    const unowed = events.filter(({ id }) => id !== 'event-5');
    expect(rules(unowed, [created(), edit])).toEqual(['lost']);
  });

  it('finds an event of a disabled task', () => {
    const disabled = {
      ...created(),
      at: BASE + 90 * SECOND,
      action: 'task.toggle',
      after: { isEnabled: false },
    };
    expect(rules([eventAt(1), eventAt(2)], [created(), disabled])).toEqual(['stray']);
  });

  it('takes a skipped range for its slots, and finds one that covers a slot which fired', () => {
    const range = {
      rangeEnd: BASE + 180 * SECOND,
      isMisfire: true,
      reason: 'misfire',
      firedAt: BASE + 200 * SECOND,
    };
    expect(rules([eventAt(1), eventAt(2, range), eventAt(4)])).toEqual([]);
    expect(rules([eventAt(1), eventAt(2, range), eventAt(3), eventAt(4)])).toEqual(['doubled']);
  });

  it('takes the verdict of a calendar where that leaves a slot out, and finds it, or a run, in the wrong place', () => {
    const audit = [created({ type: 'cron', expr: '1,2,3,4 * * * *', calendar: { name: 'minutes-2-4' } })];
    const leftOut = { status: 'skipped', reason: 'calendar' } as const;
    const range = { ...leftOut, rangeEnd: BASE + 180 * SECOND, firedAt: BASE + 900 * SECOND };
    expect(rules([eventAt(1), eventAt(2, leftOut), eventAt(3, leftOut), eventAt(4)], audit)).toEqual([]);
    expect(rules([eventAt(1), eventAt(2, range), eventAt(4)], audit)).toEqual([]);
    expect(rules([eventAt(1), eventAt(2, leftOut), eventAt(3), eventAt(4)], audit)).toEqual(['calendar']);
    expect(rules([eventAt(1, leftOut), eventAt(2, range), eventAt(4)], audit)).toEqual(['calendar']);
  });

  it.each([
    ['late', { firedAt: BASE + 70 * SECOND }],
    ['flagged on time', { isMisfire: true }],
    ['recorded long before its slot', { recordedAt: BASE + 50 * SECOND }],
    ['recorded long after its window', { recordedAt: BASE + 90 * SECOND }],
  ])('finds an event that is %s', (_, overrides) =>
    expect(rules([eventAt(1, overrides)])).toEqual(['window']),
  );
});

import { assertCalendar, type Calendar, type CalendarDefinition } from '../../domain/calendar.js';
import { CalendarDays } from '../../domain/calendar-days.js';
import { CalendarUse } from '../../domain/calendar-use.js';
import { type BrokenTask, isBroken, replanTask, type Task } from '../../domain/task.js';
import { type AuditEntry } from '../../ports/audit.js';
import { type CalendarRepo } from '../../ports/calendar-repo.js';
import { type Clock } from '../../ports/clock.js';
import { type Wakeup } from '../../ports/wakeup.js';
import { type Actor } from '../actor.js';

/** Create, replace and delete calendars. A changed calendar is an edit of the schedule of every task that uses it. */
export class ManageCalendars {
  constructor(
    private readonly deps: {
      readonly calendars: CalendarRepo;
      readonly wakeup: Wakeup;
      readonly clock: Clock;
    },
  ) {}

  /** @throws InvalidInput with every problem; AxError `already_exists`, `unavailable`. */
  async create(definition: CalendarDefinition, actor: Actor): Promise<Calendar> {
    assertCalendar(definition);
    return this.deps.calendars.insert(definition, (calendar) =>
      this.audit('calendar.create', actor, calendar.name, null, calendar),
    );
  }

  /**
   * The next version, with which all its tasks are planned anew from now on; their slots up to now are still those of the version before.
   * @throws InvalidInput with every problem; AxError `not_found`, `version_conflict`, `unavailable`; `conflict` while a task that uses it has
   * been changed too often since its oldest undecided slot. Then nothing has changed.
   */
  async replace(
    expectedVersion: number | null,
    definition: CalendarDefinition,
    actor: Actor,
  ): Promise<Calendar> {
    assertCalendar(definition);
    const replaced = await this.deps.calendars.update(definition.name, expectedVersion, (current, users) => {
      const calendar = { ...definition, version: current.version + 1 };
      const edits = this.edits(users, new CalendarDays(calendar), actor);
      const own = this.audit('calendar.update', actor, calendar.name, current, calendar);
      return {
        calendar,
        tasks: edits.map(({ task }) => task),
        audit: [own, ...edits.map(({ audit }) => audit)],
      };
    });
    await this.deps.wakeup.notify();
    return replaced;
  }

  /** @throws AxError `not_found`, `version_conflict`, `conflict` (a task uses it), `unavailable`. */
  async delete(name: string, expectedVersion: number | null, actor: Actor): Promise<void> {
    await this.deps.calendars.delete(name, expectedVersion, (current) =>
      this.audit('calendar.delete', actor, name, current, null),
    );
  }

  /** A task that cannot be read stays as it is: nothing is triggered for it before somebody has replaced it. */
  private edits(users: readonly (Task | BrokenTask)[], days: CalendarDays, actor: Actor) {
    const now = this.deps.clock.now();
    return users.flatMap((user) => {
      if (isBroken(user) || user.schedule.type !== 'cron' || user.schedule.calendar === null) return [];
      const { rule, shift } = user.schedule.calendar;
      const schedule = { ...user.schedule, calendar: new CalendarUse(days, rule, shift) };
      const task = replanTask(user, schedule, now);
      return [{ task, audit: this.audit('task.update', actor, task.id, user, task) }];
    });
  }

  private audit(action: string, actor: Actor, subject: string, before: unknown, after: unknown): AuditEntry {
    return { at: this.deps.clock.now(), actor: actor.name, action, subject, before, after };
  }
}

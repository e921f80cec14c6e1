import { type SchedulePreview } from '../../application/tasks/preview-schedule.js';
import { type QueryCalendars } from '../../application/calendars/query-calendars.js';
import { type QueryTasks } from '../../application/tasks/query-tasks.js';
import { zoneDataVersion } from '../../domain/cron/time-zone.js';
import { InvalidInput } from '../../domain/errors.js';
import { type Schedule } from '../../domain/schedule.js';
import { type ScheduleWords } from '../../domain/schedule-words.js';
import { check, readWith, Refusal, strict } from './field-problems.js';
import { instantText, localText, readInstant } from './instant.js';
import { NO_QUERY } from './list-query.js';
import { route, type Route } from './route.js';
import { scheduleFieldProblems, scheduleFields, taskId } from './task-fields.js';
import { scheduleOf } from './task-json.js';

const howMany = (value: unknown): number | Refusal =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 100
    ? value
    : new Refusal('is not possible', 'give a whole number from 1 to 100');

const PREVIEW = strict({
  ...scheduleFields,
  id: taskId.nullish(),
  from: readWith(readInstant).nullish(),
  n: readWith(howMany).default(5),
});

/** Schedules that no task has yet. */
export function scheduleRoutes({
  queryTasks,
  queryCalendars,
}: {
  readonly queryTasks: QueryTasks;
  readonly queryCalendars: Pick<QueryCalendars, 'named'>;
}): Route[] {
  return [
    route({
      method: 'post',
      path: '/schedules/preview',
      query: NO_QUERY,
      handle: async ({ body }) => {
        const { fields, ...request } = previewRequest(body);
        const days = typeof fields.calendar === 'string' ? await queryCalendars.named(fields.calendar) : null;
        const draft = (now: number) => scheduleOf(fields, now, days);
        return { status: 200, json: previewJson(queryTasks.preview(draft, request)) };
      },
    }),
  ];
}

/** Without `schedule_type` it is `cron`. */
function previewRequest(body: unknown) {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const json: unknown = isObject ? { schedule_type: 'cron', ...body } : body;
  const { value, problems } = check(PREVIEW, json);
  const all = [...problems, ...scheduleFieldProblems(json)];
  if (value === undefined || all.length > 0) throw new InvalidInput(all);
  const { from, n, id, ...fields } = value;
  return { fields, from: from ?? null, n, taskId: id ?? null };
}

/** The zone in which a schedule's local times are told. */
export const zoneOf = (schedule: Schedule): string => (schedule.type === 'cron' ? schedule.timezone : 'UTC');

/** The JSON of a preview. */
export function previewJson(preview: SchedulePreview): Readonly<Record<string, unknown>> {
  const timezone = zoneOf(preview.schedule);
  const fires = preview.fires.map(({ slot, firesAt, note }) => ({
    at: instantText(slot),
    local: localText(slot, timezone),
    fires_at: firesAt === null ? null : instantText(firesAt),
    note,
  }));
  return { ...wordsJson(preview), fires, zone_data: zoneDataVersion() };
}

/** What was understood of a schedule, as members of a JSON object. */
export const wordsJson = ({ description, warnings }: ScheduleWords) => ({
  description: description.en,
  description_zh: description.zh,
  warnings,
});

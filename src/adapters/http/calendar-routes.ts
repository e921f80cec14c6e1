import { type FillCalendar } from '../../application/calendars/fill-calendar.js';
import { type ManageCalendars } from '../../application/calendars/manage-calendars.js';
import { type QueryCalendars } from '../../application/calendars/query-calendars.js';
import { type Calendar } from '../../domain/calendar.js';
import { type CalendarDraft, calendarDraft, calendarJson } from './calendar-json.js';
import { CALENDAR_FILE, importSource, renamingFields } from './calendar-source-json.js';
import { writeCursor } from './cursor.js';
import { expectedVersion, versionTag } from './expected-version.js';
import { ANY_QUERY, CALENDAR_LIST, NO_QUERY, pageRequest } from './list-query.js';
import { type Reply, route, type Route } from './route.js';

/** Calendars: list, create, read, replace, delete, import days. */
export function calendarRoutes({
  fillCalendar,
  manageCalendars,
  queryCalendars,
}: {
  readonly fillCalendar: FillCalendar;
  readonly manageCalendars: ManageCalendars;
  readonly queryCalendars: QueryCalendars;
}): Route[] {
  const reply = (
    calendar: Calendar,
    status = 200,
    headers: Readonly<Record<string, string>> = {},
  ): Reply => ({
    status,
    headers: { ...headers, ETag: versionTag(calendar.version) },
    json: { ...calendarJson(calendar), warnings: queryCalendars.warnings(calendar) },
  });
  const filled = async ({ definition, source }: CalendarDraft) =>
    source === null
      ? definition
      : renamingFields(fillCalendar.fill(definition, source), (field) => `source.${field}`);
  return [
    route({
      method: 'get',
      path: '/calendars',
      query: CALENDAR_LIST,
      handle: async ({ query }) => {
        const { items, nextCursor } = await queryCalendars.list(pageRequest(query));
        return {
          status: 200,
          json: {
            items: items.map(({ calendar, tasks }) => ({
              ...calendarJson(calendar),
              tasks,
              warnings: queryCalendars.warnings(calendar),
            })),
            next_cursor: writeCursor('calendars', nextCursor),
          },
        };
      },
    }),
    route({
      method: 'post',
      path: '/calendars',
      query: NO_QUERY,
      handle: async ({ body, actor }) => {
        const calendar = await manageCalendars.create(await filled(calendarDraft(body, null)), actor);
        return reply(calendar, 201, { Location: `/api/calendars/${calendar.name}` });
      },
    }),
    route({
      method: 'get',
      path: '/calendars/:id',
      query: NO_QUERY,
      handle: async ({ id }) => reply(await queryCalendars.find(id)),
    }),
    route({
      method: 'put',
      path: '/calendars/:id',
      query: NO_QUERY,
      handle: async (request) => {
        const draft = calendarDraft(request.body, request.id);
        const ifMatch = request.header('if-match');
        const expected = ifMatch === undefined ? draft.version : expectedVersion(ifMatch);
        return reply(await manageCalendars.replace(expected, await filled(draft), request.actor));
      },
    }),
    route({
      method: 'delete',
      path: '/calendars/:id',
      query: NO_QUERY,
      handle: async (request) => {
        const expected = expectedVersion(request.header('if-match'));
        await manageCalendars.delete(request.id, expected, request.actor);
        return { status: 204 };
      },
    }),
    route({
      method: 'post',
      path: '/calendars/:id/import',
      query: ANY_QUERY,
      textType: CALENDAR_FILE,
      handle: async (request) => {
        const { id, actor, text } = request;
        const expected = expectedVersion(request.header('if-match'));
        const { calendar, isNew } = await renamingFields(
          fillCalendar.import(id, importSource(request), expected, actor),
          (field) => (field === 'text' && text !== null ? 'body' : field),
        );
        return isNew ? reply(calendar, 201, { Location: `/api/calendars/${id}` }) : reply(calendar);
      },
    }),
  ];
}

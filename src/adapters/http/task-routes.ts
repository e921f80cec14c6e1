import { type QueryCalendars } from '../../application/calendars/query-calendars.js';
import { type ManageTasks, type TaskDraft } from '../../application/tasks/manage-tasks.js';
import { type QueryWorkers } from '../../application/pools/query-workers.js';
import { type QueryTasks } from '../../application/tasks/query-tasks.js';
import { AxError } from '../../domain/errors.js';
import { FireTimes } from '../../domain/schedule.js';
import { type BrokenTask, isBroken, isTaskId, type Task } from '../../domain/task.js';
import { z } from 'zod';
import { expectedVersion, versionTag } from './expected-version.js';
import { writeCursor } from './cursor.js';
import { checked, strict } from './field-problems.js';
import { instantText, localText } from './instant.js';
import { NEXT_FIRES, NO_QUERY, pageRequest, TASK_LIST, taskFilter } from './list-query.js';
import { type ApiRequest, type Reply, route, type Route } from './route.js';
import { wordsJson, zoneOf } from './schedule-routes.js';
import { type NamedDraft, taskDraft, taskJson, taskReplacement } from './task-json.js';

const TOGGLE_BODY = strict({ enabled: z.boolean().optional() });

/** Tasks: list, create, read, replace, delete, toggle, coming fire times. */
export function taskRoutes(useCases: TaskUseCases): Route[] {
  const { manageTasks, queryTasks, queryWorkers, queryCalendars } = useCases;
  /** The draft with the days of the calendar that it names. */
  const complete = async ({ calendar, draft }: NamedDraft): Promise<TaskDraft> => {
    const days = calendar === null ? null : await queryCalendars.named(calendar);
    return (createdAt) => draft(createdAt, days);
  };
  const reply = async (
    task: Task | BrokenTask,
    status = 200,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> => ({
    status,
    headers: { ...headers, ETag: versionTag(task.version) },
    json: {
      ...taskJson(task, await queryWorkers.live()),
      // Said wherever one task is answered, so that a wrong weekday number is seen at once.
      ...(isBroken(task) ? {} : wordsJson(queryTasks.words(task.schedule))),
    },
  });
  return [
    route({
      method: 'get',
      path: '/tasks',
      query: TASK_LIST,
      handle: async ({ query }) => {
        const [{ items, nextCursor }, live] = await Promise.all([
          queryTasks.list(taskFilter(query), pageRequest(query)),
          queryWorkers.live(),
        ]);
        const times = new FireTimes();
        return {
          status: 200,
          json: {
            items: items.map((task) => taskJson(task, live, times)),
            next_cursor: writeCursor('tasks', nextCursor),
          },
        };
      },
    }),
    route({
      method: 'post',
      path: '/tasks',
      query: NO_QUERY,
      handle: async ({ body, actor }) => {
        const { id, ...named } = taskDraft(body);
        const task = await manageTasks.create(id, await complete(named), actor);
        return reply(task, 201, { Location: `/api/tasks/${task.id}` });
      },
    }),
    route({
      method: 'get',
      path: '/tasks/:id',
      query: NO_QUERY,
      handle: async (request) => reply(await queryTasks.find(taskIdOf(request))),
    }),
    route({
      method: 'put',
      path: '/tasks/:id',
      query: NO_QUERY,
      handle: async (request) => {
        const id = taskIdOf(request);
        const ifMatch = request.header('if-match');
        const { version, ...named } = taskReplacement(request.body, id);
        const expected = ifMatch === undefined ? version : expectedVersion(ifMatch);
        return reply(await manageTasks.replace(id, expected, await complete(named), request.actor));
      },
    }),
    route({
      method: 'delete',
      path: '/tasks/:id',
      query: NO_QUERY,
      handle: async (request) => {
        const expected = expectedVersion(request.header('if-match'));
        await manageTasks.delete(taskIdOf(request), expected, request.actor);
        return { status: 204 };
      },
    }),
    route({
      method: 'post',
      path: '/tasks/:id/toggle',
      query: NO_QUERY,
      handle: async (request) => {
        const expected = expectedVersion(request.header('if-match'));
        const { enabled = null } = checked(TOGGLE_BODY, request.body ?? {});
        return reply(await manageTasks.toggle(taskIdOf(request), expected, enabled, request.actor));
      },
    }),
    route({
      method: 'get',
      path: '/tasks/:id/next',
      query: NEXT_FIRES,
      handle: async (request) => nextReply(queryTasks, taskIdOf(request), request.query.n),
    }),
  ];
}

interface TaskUseCases {
  readonly manageTasks: ManageTasks;
  readonly queryTasks: QueryTasks;
  readonly queryWorkers: QueryWorkers;
  readonly queryCalendars: Pick<QueryCalendars, 'named'>;
}

/** The id in the path. No store is asked for what cannot be an id. @throws AxError `not_found`. */
export function taskIdOf({ id }: Pick<ApiRequest, 'id'>): string {
  if (isTaskId(id)) return id;
  throw new AxError('not_found', `there is no task ${JSON.stringify(id)}`);
}

async function nextReply(queryTasks: QueryTasks, id: string, n: number): Promise<Reply> {
  const { task, fires } = await queryTasks.nextFires(id, n);
  const timezone = zoneOf(task.schedule);
  const shown = fires.map(({ slot, firesAt }) => ({
    at: instantText(slot),
    local: localText(slot, timezone),
    fires_at: instantText(firesAt),
  }));
  return { status: 200, json: { fires: shown } };
}

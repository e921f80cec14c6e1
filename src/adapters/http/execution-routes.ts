import { type CancelExecution } from '../../application/executions/cancel-execution.js';
import { type QueryExecutions } from '../../application/executions/query-executions.js';
import { type QueryWorkers } from '../../application/pools/query-workers.js';
import { type RunRequest, type RunTask } from '../../application/tasks/run-task.js';
import { AxError, InvalidInput } from '../../domain/errors.js';
import { type Execution, pendingExecution } from '../../domain/execution.js';
import { executionDetailJson, executionJson } from './execution-json.js';
import { writeCursor } from './cursor.js';
import { checked, strict } from './field-problems.js';
import { EXECUTION_LIST, executionFilter, NO_QUERY, pageRequest } from './list-query.js';
import { type ApiRequest, type Reply, route, type Route } from './route.js';
import { json } from './task-fields.js';
import { taskIdOf } from './task-routes.js';

const RUN_BODY = strict({ params: json.optional() });
const NO_BODY = strict({});

/** Executions: trigger one by hand, list, read one, cancel one. */
export function executionRoutes({
  runTask,
  queryExecutions,
  queryWorkers,
  cancelExecution,
}: ExecutionUseCases): Route[] {
  return [
    route({
      method: 'post',
      path: '/tasks/:id/run',
      query: NO_QUERY,
      handle: async (request) => {
        const { event, isNew } = await runTask.run(taskIdOf(request), runRequest(request), request.actor);
        if (isNew) return runReply(pendingExecution(event), 202, {});
        const { execution } = await queryExecutions.find(event.id);
        return runReply(execution, 200, { 'Idempotent-Replayed': 'true' });
      },
    }),
    route({
      method: 'get',
      path: '/executions',
      query: EXECUTION_LIST,
      handle: async ({ query }) => {
        const { items, nextCursor } = await queryExecutions.list(executionFilter(query), pageRequest(query));
        return {
          status: 200,
          json: { items: items.map(executionJson), next_cursor: writeCursor('executions', nextCursor) },
        };
      },
    }),
    route({
      method: 'get',
      path: '/executions/:id',
      query: NO_QUERY,
      handle: async (request) => {
        const found = await queryExecutions.find(executionIdOf(request));
        const { event, status } = found.execution;
        const poolStatus = status === 'pending' ? await queryWorkers.statusOf(event.taskId) : null;
        return { status: 200, json: executionDetailJson(found, poolStatus) };
      },
    }),
    route({
      method: 'post',
      path: '/executions/:id/cancel',
      query: NO_QUERY,
      handle: async (request) => {
        checked(NO_BODY, request.body ?? {});
        const { result, execution } = await cancelExecution.cancel(executionIdOf(request), request.actor);
        return {
          status: result === 'requested' ? 202 : 200,
          json: { result, execution: executionJson(execution) },
        };
      },
    }),
  ];
}

interface ExecutionUseCases {
  readonly runTask: RunTask;
  readonly queryExecutions: QueryExecutions;
  readonly queryWorkers: QueryWorkers;
  readonly cancelExecution: CancelExecution;
}

/** @throws AxError `not_found` for what cannot be one. */
export function executionIdOf({ id }: Pick<ApiRequest, 'id'>): string {
  if (/^[A-Za-z0-9-]{1,64}$/.test(id)) return id;
  throw new AxError('not_found', `there is no execution ${JSON.stringify(id)}`);
}

function runRequest(request: ApiRequest): RunRequest {
  const { params = null } = checked(RUN_BODY, request.body ?? {});
  const runKey = request.header('idempotency-key') ?? null;
  if (runKey !== null && !/^[\x20-\x7e]{1,128}$/.test(runKey)) {
    const fix = 'send 1 to 128 printable ASCII characters, the same ones to repeat the request';
    throw InvalidInput.of('Idempotency-Key', 'is not a key', fix);
  }
  return { runKey, ...(params === null ? {} : { params }) };
}

const runReply = (
  execution: Execution,
  status: number,
  headers: Readonly<Record<string, string>>,
): Reply => ({
  status,
  headers: { ...headers, Location: `/api/executions/${execution.event.id}` },
  json: { ...executionJson(execution), execution_id: execution.event.id },
});

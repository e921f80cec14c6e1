import { type ExecutorRequest } from '../../ports/executor.js';

/** What a target is told of its run, or of the hook that it is called for, as JSON, however it is called. */
export const runBody = (request: ExecutorRequest): string =>
  JSON.stringify(
    request.hook?.body ?? {
      execution_id: request.executionId,
      task_id: request.taskId,
      schedule_at: request.slot,
      fired_at: request.firedAt,
      attempt: request.attempt,
      params: request.params,
    },
  );

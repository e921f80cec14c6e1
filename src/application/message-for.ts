import { laneOf } from '../domain/lane.js';
import { type Task } from '../domain/task.js';
import { type TriggerEvent } from '../domain/trigger.js';
import { type QueueMessage } from '../ports/queue.js';

/** The message that carries an event to a worker, with the task as it is now; a manual run's own params win. */
export const messageFor = (
  event: TriggerEvent,
  task: Task,
  generationFloor: number,
  publishedAt: number,
  queueEpoch: string,
): QueueMessage => ({
  event,
  task: {
    id: task.id,
    name: task.name,
    group: task.group,
    executor: task.executor,
    params: event.params ?? task.params,
    policy: task.policy,
    hooks: task.hooks,
    pool: laneOf(task),
  },
  generationFloor,
  publishedAt,
  queueEpoch,
});

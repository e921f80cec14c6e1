import { z } from 'zod';
import { InvalidInput } from '../../domain/errors.js';
import { STATUSES } from '../../domain/execution.js';
import { isTaskId } from '../../domain/task.js';
import { type ExecutionFilter } from '../../ports/execution-repo.js';
import { type PageRequest, type TaskFilter } from '../../ports/task-repo.js';
import { readCursor } from './cursor.js';
import { readWith, Refusal, strict } from './field-problems.js';

/** Deeper than this a list is read with `cursor`, which costs the same everywhere. */
const MAX_DEPTH = 10_000;

const GIVE_ONCE = new Refusal('is empty, too long or given twice', 'give it once, or leave it out');

export const text = readWith((value) =>
  typeof value === 'string' && value !== '' && value.length <= 512 ? value : GIVE_ONCE,
);

const whole = (min: number, max: number) =>
  readWith((value) => {
    const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    return new Refusal('is not possible', `give a whole number from ${min} to ${max}`);
  });

const label = readWith((value) => {
  const [, key, wanted] =
    (typeof value === 'string' ? /^([\w./-]{1,63}):(.{0,255})$/u.exec(value) : null) ?? [];
  if (key === undefined || wanted === undefined) return new Refusal('is not a label', 'give key:value');
  return { key, value: wanted };
});

const page = (list: 'tasks' | 'executions' | 'calendars') => ({
  page: whole(1, MAX_DEPTH).optional(),
  page_size: whole(1, 200).default(50),
  cursor: readWith((value) => readCursor(list, value)).optional(),
});

export const TASK_LIST = strict({
  ...page('tasks'),
  group: text.optional(),
  owner: text.optional(),
  enabled: z.enum(['true', 'false']).optional(),
  label: label.optional(),
  text: text.optional(),
});

export const EXECUTION_LIST = strict({
  ...page('executions'),
  task_id: readWith((value) =>
    typeof value === 'string' && isTaskId(value)
      ? value
      : new Refusal('is not a task id', 'give the id of one task'),
  ).optional(),
  status: z.enum(STATUSES).optional(),
});

export const CALENDAR_LIST = strict(page('calendars'));

export const NEXT_FIRES = strict({ n: whole(1, 100).default(5) });
export const NO_QUERY = strict({});
/** For those who add parameters of their own: probes and scrapers. */
export const ANY_QUERY = z.unknown();

export function taskFilter({ group, owner, enabled, label, text }: z.output<typeof TASK_LIST>): TaskFilter {
  return {
    ...(group === undefined ? {} : { group }),
    ...(owner === undefined ? {} : { owner }),
    ...(enabled === undefined ? {} : { isEnabled: enabled === 'true' }),
    ...(label === undefined ? {} : { label }),
    ...(text === undefined ? {} : { text }),
  };
}

export const executionFilter = (query: z.output<typeof EXECUTION_LIST>): ExecutionFilter => ({
  ...(query.task_id === undefined ? {} : { taskId: query.task_id }),
  ...(query.status === undefined ? {} : { status: query.status }),
});

/** @throws InvalidInput on `page`. */
export function pageRequest(query: {
  readonly page?: number | undefined;
  readonly page_size: number;
  readonly cursor?: string | undefined;
}): PageRequest {
  const { page = 1, page_size: size, cursor = null } = query;
  if (query.page !== undefined && cursor !== null) {
    throw InvalidInput.of('page', 'is given together with cursor', 'give one of the two');
  }
  if (page * size > MAX_DEPTH) {
    throw InvalidInput.of(
      'page',
      `reaches beyond item ${MAX_DEPTH}`,
      'go on with cursor, from the next_cursor of an earlier page',
    );
  }
  return { size, cursor, offset: (page - 1) * size };
}

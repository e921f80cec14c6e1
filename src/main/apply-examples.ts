import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { taskDraft } from '../adapters/http/task-json.js';
import { type UseCases } from '../application/use-cases.js';
import { AxError } from '../domain/errors.js';
import { type ExecutorSpec } from '../domain/executor-spec.js';
import { isBroken } from '../domain/task.js';

const FILE = z.strictObject({ tasks: z.array(z.looseObject({ id: z.string() })) });
const ACTOR = { name: 'examples', traceparent: null };
const PLACEHOLDER = '${EXAMPLE_URL}';

/**
 * Creates the tasks of a YAML file if ax has no task and no history yet; later it only tells those that are still there the endpoint's
 * address of this run.
 * @throws InvalidInput if a task of the file is refused.
 */
export async function applyExamples(file: string, endpointUrl: string, useCases: UseCases): Promise<void> {
  const text = (await readFile(file, 'utf8')).replaceAll(PLACEHOLDER, endpointUrl);
  const { tasks } = FILE.parse(parse(text));
  const isFirstRun = await isEmpty(useCases);
  for (const json of tasks) {
    const { id, draft } = taskDraft(json);
    if (isFirstRun) await useCases.manageTasks.create(id, draft, ACTOR);
    else await moveToEndpoint(json.id, draft(0).executor, useCases);
  }
}

async function isEmpty({ queryTasks, queryExecutions }: UseCases): Promise<boolean> {
  const page = { size: 1, cursor: null, offset: 0 };
  const tasks = await queryTasks.list({}, page);
  return tasks.items.length === 0 && (await queryExecutions.list({}, page)).items.length === 0;
}

async function moveToEndpoint(
  id: string,
  executor: ExecutorSpec,
  { queryTasks, manageTasks }: UseCases,
): Promise<void> {
  try {
    const task = await queryTasks.find(id);
    if (isBroken(task) || task.executor.type !== 'http' || executor.type !== 'http') return;
    const { url } = executor;
    if (task.executor.url === url || !isExampleUrl(task.executor.url)) return;
    const moved = { ...task, executor: { ...task.executor, url } };
    await manageTasks.replace(id, task.version, () => moved, ACTOR);
  } catch (error) {
    if (!(error instanceof AxError && error.code === 'not_found')) throw error;
  }
}

/** An owner may have pointed the task elsewhere meanwhile. */
const isExampleUrl = (url: string): boolean => /^http:\/\/127\.0\.0\.1:\d+\/(echo|flaky)$/.test(url);

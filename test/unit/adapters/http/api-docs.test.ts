import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { calendarJson } from '../../../../src/adapters/http/calendar-json.js';
import { calendarRoutes } from '../../../../src/adapters/http/calendar-routes.js';
import { doctorRoutes } from '../../../../src/adapters/http/doctor-routes.js';
import { executionDetailJson } from '../../../../src/adapters/http/execution-json.js';
import { executionRoutes } from '../../../../src/adapters/http/execution-routes.js';
import { forecastRoutes } from '../../../../src/adapters/http/forecast-routes.js';
import { processRoutes } from '../../../../src/adapters/http/process-routes.js';
import { receiptRoutes } from '../../../../src/adapters/http/receipt-routes.js';
import { scheduleRoutes } from '../../../../src/adapters/http/schedule-routes.js';
import { statsRoutes } from '../../../../src/adapters/http/stats-routes.js';
import { taskJson } from '../../../../src/adapters/http/task-json.js';
import { taskRoutes } from '../../../../src/adapters/http/task-routes.js';
import { verifyRoutes } from '../../../../src/adapters/http/verify-routes.js';
import { whyRoutes } from '../../../../src/adapters/http/why-routes.js';
import { workerJson, workerRoutes } from '../../../../src/adapters/http/worker-routes.js';
import { type UseCases } from '../../../../src/application/use-cases.js';
import { pendingExecution } from '../../../../src/domain/execution.js';
import { buildCalendar } from '../../../support/calendars.js';
import { buildEvent, buildTask } from '../../../support/builders.js';
import { buildWorker } from '../../../support/pools.js';

/** What the page says exists does, and nothing that exists is left out. */
describe('docs/api.md', async () => {
  const page = await readFile(new URL('../../../../docs/api.md', import.meta.url), 'utf8');
  const section = (title: string) => page.split(/^#+ /m).find((text) => text.startsWith(title)) ?? '';
  const firstCells = (text: string) =>
    [...text.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell]) =>
      [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, word]) => word),
    );

  it('names every route', () => {
    const useCases = {} as UseCases;
    const api = [
      ...taskRoutes(useCases),
      ...scheduleRoutes(useCases),
      ...calendarRoutes(useCases),
      ...executionRoutes(useCases),
      ...receiptRoutes(useCases),
      ...statsRoutes(useCases),
      ...workerRoutes(useCases),
      ...forecastRoutes(useCases),
      ...verifyRoutes(useCases),
      ...doctorRoutes(useCases),
      ...whyRoutes(useCases),
    ].map(({ method, path }) => [method, `/api${path}`]);
    const open = processRoutes({ report: () => ({ isReady: true, parts: [] }) }, () =>
      Promise.reject(new Error()),
    ).map(({ method, path }) => [method, path]);
    const routes = [...api, ...open].map(
      ([method = '', path = '']) => `${method.toUpperCase()} ${path.replace(':id', '{id}')}`,
    );
    const named = firstCells(section('The HTTP API')).map((route) => route?.replace(/\?.*/, ''));
    expect(named.toSorted()).toEqual(routes.toSorted());
  });

  it('names every field of a task', () => {
    expect(firstCells(section('Tasks')).toSorted()).toEqual(
      Object.keys(taskJson(buildTask(), null)).toSorted(),
    );
  });

  it('names every field of a calendar, on its page', async () => {
    const calendars = await readFile(new URL('../../../../docs/calendars.md', import.meta.url), 'utf8');
    const [fields = ''] = calendars.split('## Rules');
    const answered = [...Object.keys(calendarJson(buildCalendar())), 'tasks', 'warnings'];
    expect(firstCells(fields).toSorted()).toEqual(answered.toSorted());
  });

  it('names every field of a worker', () => {
    expect(firstCells(section('Workers')).toSorted()).toEqual(
      Object.keys(workerJson(buildWorker())).toSorted(),
    );
  });

  it('names every field of an execution', () => {
    const fields = Object.keys(
      executionDetailJson({ execution: pendingExecution(buildEvent()), ledger: [] }, null),
    );
    expect(firstCells(section('Executions')).toSorted()).toEqual(fields.toSorted());
  });
});

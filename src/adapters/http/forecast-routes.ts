import { type ForecastLoad, type LoadForecast } from '../../application/forecast/forecast-load.js';
import { zoneDataVersion } from '../../domain/cron/time-zone.js';
import { MINUTE_MS } from '../../domain/forecast/beats.js';
import { type Collision, type ForecastTask } from '../../domain/forecast/forecast.js';
import { type Load, type LoadPoint } from '../../domain/forecast/load.js';
import { type Suggestion } from '../../domain/forecast/suggest.js';
import { strict } from './field-problems.js';
import { instantText, queryInstant } from './instant.js';
import { text } from './list-query.js';
import { route, type Route } from './route.js';

const FORECAST = strict({
  from: queryInstant.optional(),
  to: queryInstant.optional(),
  group: text.optional(),
});

/** Minutes of one point of a series: the least of these that gives no more than so many points. */
const STEPS_MIN = [1, 2, 5, 10, 15, 30] as const;
const MAX_POINTS = 1500;
/** Groups and targets whose series are shown: those with the highest peak. */
const MAX_SERIES = 10;

/** What the schedules will come to. */
export function forecastRoutes({ forecastLoad }: { readonly forecastLoad: ForecastLoad }): Route[] {
  return [
    route({
      method: 'get',
      path: '/forecast',
      query: FORECAST,
      handle: async ({ query: { from, to, group } }) => {
        const request = {
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
          ...(group === undefined ? {} : { group }),
        };
        return { status: 200, json: forecastJson(await forecastLoad.forecast(request)) };
      },
    }),
  ];
}

/** The JSON of a forecast. */
export function forecastJson({ forecast, tasks, assumed, broken }: LoadForecast) {
  const { begin, minutes } = forecast.range;
  const step = STEPS_MIN.find((size) => minutes / size <= MAX_POINTS) ?? STEPS_MIN[STEPS_MIN.length - 1] ?? 1;
  return {
    from: instantText(begin),
    to: instantText(begin + minutes * MINUTE_MS),
    step_sec: step * 60,
    zone_data: zoneDataVersion(),
    tasks,
    tasks_without_history: assumed,
    tasks_unreadable: broken,
    starts: forecast.total.startsTotal,
    peak: pointJson(forecast.total.peak),
    series: forecast.total.series(step).map(pointJson),
    groups: loadsJson('group', forecast.groups, step),
    targets: loadsJson('target', forecast.targets, step),
    collisions: forecast.collisions.map(collisionJson),
  };
}

const pointJson = (point: LoadPoint | null) =>
  point === null ? null : { at: instantText(point.at), starts: point.starts, running: point.running };

function loadsJson(name: 'group' | 'target', loads: ReadonlyMap<string, Load>, step: number) {
  return [...loads]
    .map(([key, load]) => ({ key, load, peak: load.peak }))
    .sort((a, b) => (b.peak?.running ?? 0) - (a.peak?.running ?? 0))
    .map(({ key, load, peak }, i) => ({
      [name]: key,
      tasks: load.tasks,
      starts: load.startsTotal,
      peak: pointJson(peak),
      series: i < MAX_SERIES ? load.series(step).map(pointJson) : null,
    }));
}

const collisionJson = ({ at, times, starts, running, taskCount, tasks, suggestions }: Collision) => ({
  at: instantText(at),
  times,
  starts,
  running,
  task_count: taskCount,
  tasks: tasks.map(taskJson),
  suggestions: suggestions.map(suggestionJson),
});

const taskJson = ({ id, name, group, target, durationMs, isAssumed }: ForecastTask) => ({
  id,
  name,
  group,
  target,
  p95_sec: durationMs / 1000,
  is_assumed: isAssumed,
});

const suggestionJson = ({ taskId, fields, movesTo, startsThere }: Suggestion) => ({
  task_id: taskId,
  set: fields,
  moves_to: movesTo === null ? null : instantText(movesTo),
  starts_there: startsThere,
});

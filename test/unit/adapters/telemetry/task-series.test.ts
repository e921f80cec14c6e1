import { beforeEach, describe, expect, it } from 'vitest';
import { PrometheusMetrics } from '../../../../src/adapters/telemetry/prometheus-metrics.js';

const DAY = 86_400_000;

let now: number;
let metrics: PrometheusMetrics;
const open = (options: ConstructorParameters<typeof PrometheusMetrics>[0] = {}) => {
  now = 0;
  metrics = new PrometheusMetrics({ maxTasks: 2, monotonicMs: () => now, ...options });
};
const run = (group: string, task: string, status = 'success') => {
  metrics.count('executions_total', { group, task, status, reason: 'none' });
  metrics.observe('execution_duration_seconds', { group, task }, 1);
};
const linesOf = async (name: string) =>
  (await metrics.exposition()).body
    .split('\n')
    .filter((line) => line.startsWith(`ax_${name}`))
    .map((line) => line.slice(`ax_${name}`.length))
    .sort();
const runs = async () =>
  (await linesOf('executions_total')).map((line) => line.replace(',reason="none"', ''));

describe('Series of tasks', () => {
  beforeEach(() => open());

  it('belong to the first tasks that are met; the others share those of their group, and say so', async () => {
    for (const task of ['a', 'b', 'c', 'd', 'a', 'c']) run('day', task);
    expect(await runs()).toEqual([
      '{group="day",task="_other",status="success"} 3',
      '{group="day",task="a",status="success"} 2',
      '{group="day",task="b",status="success"} 1',
    ]);
    expect(await linesOf('metrics_tasks')).toEqual([' 2']);
    expect(await linesOf('metrics_overflow_total')).toEqual([' 6']);
    const durations = await linesOf('execution_duration_seconds_count');
    expect(durations).toEqual([
      '{group="day",task="_other"} 3',
      '{group="day",task="a"} 2',
      '{group="day",task="b"} 1',
    ]);
  });

  it('are bounded by groups, too, however many there are', async () => {
    for (let i = 0; i < 1000; i += 1) run(`group-${i}`, `task-${i}`);
    expect(await runs()).toEqual([
      '{group="_other",task="_other",status="success"} 996',
      '{group="group-0",task="task-0",status="success"} 1',
      '{group="group-1",task="task-1",status="success"} 1',
      '{group="group-2",task="_other",status="success"} 1',
      '{group="group-3",task="_other",status="success"} 1',
    ]);
    expect(await linesOf('metrics_overflow_total')).toEqual([' 1996']);
  });

  it('are of groups alone where that is asked for', async () => {
    open({ by: 'group' });
    for (const task of ['a', 'b', 'c']) run('day', task);
    run('night', 'd');
    run('noon', 'e');
    expect(await runs()).toEqual([
      '{group="_other",task="_other",status="success"} 1',
      '{group="day",task="_all",status="success"} 3',
      '{group="night",task="_all",status="success"} 1',
    ]);
    expect(await linesOf('metrics_tasks')).toEqual([' 2']);
    expect(await linesOf('metrics_overflow_total')).toEqual([' 2']);
  });

  it('give their place to another task after a day without a value, and not before', async () => {
    run('day', 'a');
    run('day', 'a', 'fail');
    now = DAY - 1;
    run('day', 'b');
    run('day', 'c');
    expect(await runs()).toContain('{group="day",task="_other",status="success"} 1');
    now = DAY + 60_000;
    run('day', 'c');
    await metrics.exposition(); // The old series are gone a moment later.
    expect(await runs()).toEqual([
      '{group="day",task="_other",status="success"} 1',
      '{group="day",task="b",status="success"} 1',
      '{group="day",task="c",status="success"} 1',
    ]);
    expect(await linesOf('execution_duration_seconds_count{group="day",task="a"')).toEqual([]);
  });

  it('stay for as long as nobody needs the place', async () => {
    run('day', 'a');
    now = 400 * DAY;
    run('day', 'b');
    expect(await runs()).toHaveLength(2);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { PrometheusMetrics } from '../../../../src/adapters/telemetry/prometheus-metrics.js';
import { forgetUnstarted, UnstartedRuns } from '../../../../src/application/coordinator/unstarted-runs.js';
import { pendingExecution } from '../../../../src/domain/execution.js';
import { BASE, buildEvent, buildTask } from '../../../support/builders.js';

describe('UnstartedRuns', () => {
  let metrics: PrometheusMetrics;
  let runs: UnstartedRuns;
  beforeEach(() => {
    metrics = new PrometheusMetrics();
    runs = new UnstartedRuns();
  });

  const pending = (taskId: string, firedAt: number) => ({
    execution: pendingExecution(buildEvent({ taskId, firedAt })),
    task: buildTask({ id: taskId, group: 'g' }),
    updatedAt: firedAt,
  });
  const shown = async () =>
    (await metrics.exposition()).body.split('\n').filter((line) => /^ax_.*unstarted/.test(line));

  it('are those that wait for a worker; each task tells of its oldest', async () => {
    runs.note(pending('a', BASE - 20_000), 'queued');
    runs.note(pending('a', BASE - 90_000), 'unknown');
    runs.note(pending('a', BASE - 30_000), 'queued');
    runs.note({ ...pending('gone', BASE - 60_000), task: null }, 'queued');
    for (const state of ['waiting', 'claimed', 'finished', undefined] as const)
      runs.note(pending('other', BASE - 60_000), state);
    const { execution, ...rest } = pending('running', BASE - 60_000);
    runs.note({ ...rest, execution: { ...execution, status: 'running' } }, 'queued');
    runs.tell(metrics, BASE);
    expect(await shown()).toEqual([
      'ax_unstarted_executions 4',
      'ax_task_unstarted_age_seconds{group="g",task="a"} 90',
      'ax_task_unstarted_age_seconds{group="_deleted",task="gone"} 60',
    ]);
  });

  it('are forgotten with the next look, and when nobody knows', async () => {
    runs.note(pending('a', BASE - 20_000), 'queued');
    runs.tell(metrics, BASE);
    new UnstartedRuns().tell(metrics, BASE);
    expect(await shown()).toEqual(['ax_unstarted_executions 0']);
    forgetUnstarted(metrics);
    expect(await shown()).toEqual([]);
  });

  it('are told of a hundred tasks, those that wait longest', async () => {
    for (let i = 0; i < 300; i += 1) runs.note(pending(`task-${i}`, BASE - 1000 * (i + 1)), 'queued');
    runs.tell(metrics, BASE);
    const lines = await shown();
    expect(lines).toHaveLength(101);
    expect(lines).toContain('ax_unstarted_executions 300');
    expect(lines).toContain('ax_task_unstarted_age_seconds{group="g",task="task-299"} 300');
  });
});

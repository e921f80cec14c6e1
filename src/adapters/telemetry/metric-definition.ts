import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LeaderGaugeName,
  type MetricLabels,
  type MetricName,
} from '../../ports/metrics.js';

/** Every label of a metric with what it holds; checked against MetricLabels, none missing and none more. */
type LabelMeanings<N extends MetricName> = string extends keyof MetricLabels[N]
  ? Readonly<Record<string, never>>
  : { readonly [L in keyof MetricLabels[N]]: string };

/** Which processes have a metric; `leader`: coordinators, and a value only while they lead. */
export type Scope = 'every' | 'coordinator' | 'worker' | 'leader';

interface Definition<N extends MetricName> {
  readonly by: Scope;
  readonly help: string;
  readonly labels: LabelMeanings<N>;
}

export type Counters = {
  readonly [N in CounterName]: Definition<N> & {
    /** Series that begin at 0 with the process, so that `increase` sees their first value. */
    readonly zeros?: readonly MetricLabels[N][];
  };
};

export type Histograms = {
  readonly [N in HistogramName]: Definition<N> & {
    /** Upper bounds, in the unit of the metric. */
    readonly buckets: readonly number[];
  };
};

export type Gauges = {
  readonly [N in GaugeName]: Definition<N> & {
    readonly by: N extends LeaderGaugeName ? 'leader' : Exclude<Scope, 'leader'>;
  };
};

export const OF_TASK = { group: 'of the task', task: 'its id' } as const;

/** Whether it is measured by task. */
export const isOfTask = ({ labels }: { readonly labels: object }): boolean => 'task' in labels;

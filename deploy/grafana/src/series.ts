/** PromQL over the series of ax, with the variables of the dashboards. What may be absent in health and means zero says so: `or vector(0)`. */

/** Labels that choose what a dashboard is about. */
export const OF_NAMESPACE = 'ax_namespace="$namespace"';
export const OF_INSTANCE = `${OF_NAMESPACE}, instance=~"$instance"`;
export const OF_GROUP = `${OF_NAMESPACE}, group=~"$group"`;
export const OF_TASK = `${OF_GROUP}, task="$task"`;

/** How much of a counter comes in a second; by labels, or in all. */
export const rate = (counter: string, labels: string, by = ''): string =>
  sum(`rate(${counter}{${labels}}[$__rate_interval])`, by);

/** As `rate`, and 0 while the counter is absent. */
export const rateOrZero = (counter: string, labels: string): string =>
  `${rate(counter, labels)} or vector(0)`;

export const sum = (expr: string, by = ''): string =>
  by === '' ? `sum(${expr})` : `sum by (${by}) (${expr})`;

/** A gauge that only the leader has. */
export const ofLeader = (gauge: string, labels: string, by = ''): string =>
  by === '' ? `max(${gauge}{${labels}})` : `max by (${by}) (${gauge}{${labels}})`;

/** The quantile of a histogram over all nodes. */
export const quantile = (
  q: number,
  histogram: string,
  labels: string,
  options: { readonly by?: string; readonly window?: string } = {},
): string => {
  const { by = '', window = '$__rate_interval' } = options;
  const kept = by === '' ? 'le' : `${by}, le`;
  return `histogram_quantile(${q}, ${sum(`rate(${histogram}_bucket{${labels}}[${window}])`, kept)})`;
};

/** Its p50, p95 and p99, as queries with a legend. */
export const percentiles = (
  histogram: string,
  labels: string,
  window?: string,
): (readonly [expr: string, legend: string])[] =>
  [0.5, 0.95, 0.99].map((q) => [
    quantile(q, histogram, labels, window === undefined ? {} : { window }),
    `p${q * 100}`,
  ]);

/**
 * How much a counter grew in a window, with the first value of series that began in it: `increase` sees only what comes after that, and a
 * task that runs seldom has little more. Series that were seen in as long a time before are not new.
 */
export const grown = (counter: string, labels: string, by: string, window = '$__range'): string => {
  const series = `${counter}{${labels}}`;
  const born = `min_over_time(${series}[${window}]) unless present_over_time(${series}[${window}] offset ${window})`;
  return sum(`increase(${series}[${window}]) or label_replace(${born}, "is_new", "yes", "", "")`, by);
};

/** The quantile of all values of a window, also of few; exact to the width of a bucket. */
export const quantileOf = (q: number, histogram: string, labels: string): string =>
  `histogram_quantile(${q}, ${grown(`${histogram}_bucket`, labels, 'le')})`;

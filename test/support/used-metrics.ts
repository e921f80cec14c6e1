import { readFileSync } from 'node:fs';

/** Labels that Prometheus adds, and the one that every series of ax has. */
const EVERYWHERE = ['ax_namespace', 'instance', 'job', 'le'];

/** Of each metric in docs/metrics.md, its labels. */
export function documentedMetrics(): ReadonlyMap<string, readonly string[]> {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(ax_\w+)` \| (\w+) \| ([^|]*) \|/gm)];
  return new Map(
    rows.flatMap(([, name = '', type, cell = '']) => {
      const labels = [...cell.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).concat(EVERYWHERE);
      const names = type === 'histogram' ? ['_bucket', '_sum', '_count', ''] : [''];
      return names.map((suffix): [string, readonly string[]] => [name + suffix, labels]);
    }),
  );
}

export interface Selector {
  readonly text: string;
  readonly metric: string;
  /** Labels that it matches. */
  readonly labels: readonly string[];
}

/** Series of ax that a query or a page names, recorded ones left out. */
export function selectorsIn(text: string): Selector[] {
  const found = text.matchAll(/(?<![\w:])(ax_[a-z_]+)(?![\w:*…])(\{[^}]*\})?/g);
  return [...found]
    .filter(([, metric]) => metric !== 'ax_namespace')
    .map(([whole, metric = '', braces = '']) => ({
      text: whole,
      metric,
      labels: [...braces.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
    }));
}

/** Recorded series, `level:metric:operation`, that a query names. */
export const recordedIn = (text: string): string[] =>
  [...text.matchAll(/\b\w+:ax_\w+:\w+/g)].map(([name]) => name);

/** What is wrong with the metrics and labels that a query or page names; empty when nothing is. */
export function unknownIn(text: string, known = documentedMetrics()): string[] {
  return selectorsIn(text).flatMap(({ text: selector, metric, labels }) => {
    const own = known.get(metric);
    if (own === undefined) return [`no metric ${metric}`];
    return labels.filter((label) => !own.includes(label)).map((label) => `no label ${label}: ${selector}`);
  });
}

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COUNTERS } from '../../../src/adapters/telemetry/counter-definitions.js';
import { GAUGES } from '../../../src/adapters/telemetry/gauge-definitions.js';
import { HISTOGRAMS } from '../../../src/adapters/telemetry/histogram-definitions.js';

const text = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
const told = text
  .split('\n')
  .filter((line) => line.startsWith('| `ax_'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', type = '', labels = '', by = '']) => ({
    name: name.replaceAll('`', ''),
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort(),
    by,
  }));

type Definitions = Readonly<Record<string, { readonly labels: object; readonly by: string }>>;
const kinds: Readonly<Record<string, Definitions>> = {
  counter: COUNTERS,
  histogram: HISTOGRAMS,
  gauge: GAUGES,
};
const defined = Object.entries(kinds).flatMap(([type, definitions]) =>
  Object.entries(definitions).map(([name, { labels, by }]) => ({
    name: `ax_${name}`,
    type,
    labels: Object.keys(labels).sort(),
    by,
  })),
);

describe('docs/metrics.md', () => {
  it('has every metric once, with its type, its labels and who exports it', () => {
    const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);
    expect(told.toSorted(byName)).toEqual(defined.toSorted(byName));
  });
});

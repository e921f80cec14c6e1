import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const { scenarios } = JSON.parse(read('test/cases/cases.json')) as { scenarios: { id: string }[] };
const rows = read('docs/scenarios.md')
  .split('\n')
  .filter((line) => line.startsWith('| SO-'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const proofs = rows.flatMap(([, id = '', , cell = '']) =>
  [...cell.matchAll(/`(test\/[^`]+)`: ([^;(]+)/g)].map(([, file = '', title = '']) => ({
    id,
    file,
    title: title.trim(),
  })),
);

describe('docs/scenarios.md', () => {
  it('has every scenario once, in order', () => {
    expect(scenarios.length).toBeGreaterThan(0);
    expect(rows.map(([, id]) => id)).toEqual(scenarios.map(({ id }) => id));
  });

  it('names a test for each, or the feature that it waits for', () => {
    for (const [, id = '', , cell = ''] of rows) {
      const isProved = proofs.some((proof) => proof.id === id);
      expect(isProved || /^later: \w/.test(cell), id).toBe(true);
    }
  });

  it.each(proofs)('$id: $file has a test "$title"', ({ file, title }) => {
    expect(read(file)).toContain(title);
  });
});

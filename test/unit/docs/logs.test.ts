import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { logLinesOf } from '../../support/log-lines.js';

const root = new URL('../../../', import.meta.url);

describe('docs/logs.md', () => {
  it('has every line that ax can log, with its level, and no others', () => {
    const text = readFileSync(new URL('docs/logs.md', root), 'utf8');
    const told = [...text.matchAll(/^\| (\w+) \| `([^`]+)` \|/gm)].map(
      ([, level, message]) => `${level} ${message}`,
    );
    expect(told.toSorted()).toEqual([...new Set(logLinesOf(fileURLToPath(new URL('src', root))))].toSorted());
  });
});

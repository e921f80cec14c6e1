import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRules } from '../../support/alert-rules.js';
import { documentedMetrics, recordedIn, unknownIn } from '../../support/used-metrics.js';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const { alerts, recordings } = readRules();
const pages = readdirSync(new URL('docs/runbooks', root)).filter((name) => name !== 'README.md');

/** Labels that an expression leaves: those of its `by` lists and of the levels of recorded series. */
function labelsOf(expr: string): string[] {
  const lists = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
  const level = { namespace: ['ax_namespace'], task: ['ax_namespace', 'group', 'task'] };
  return lists.concat(
    recordedIn(expr).flatMap((name) => level[name.split(':', 1)[0] as keyof typeof level] ?? []),
  );
}

describe('deploy/prometheus/rules.yml', () => {
  it('names only metrics and labels that there are, and what it records', () => {
    const names = new Set(recordings.map(({ record }) => record));
    for (const { expr } of [...alerts, ...recordings]) {
      expect(unknownIn(expr), expr).toEqual([]);
      expect(
        recordedIn(expr).filter((name) => !names.has(name)),
        expr,
      ).toEqual([]);
    }
    expect(documentedMetrics().size).toBeGreaterThan(50);
  });

  it.each(alerts)(
    '$alert has a severity, a summary, a description and a runbook',
    ({ alert, labels, annotations }) => {
      expect(labels.severity).toMatch(/^(critical|warning|info)$/);
      expect(annotations).toEqual({
        summary: expect.stringMatching(/\S{3}/) as string,
        description: expect.stringMatching(/\.$|}}$/) as string,
        runbook_url: `docs/runbooks/${alert}.md`,
      });
    },
  );

  it.each(alerts)('$alert tells only of labels that its expression leaves', ({ expr, annotations }) => {
    const told = [
      ...Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g),
    ];
    for (const [, label] of told) expect(labelsOf(expr)).toContain(label);
  });

  it.each(alerts)('$alert is shown by a case to fire, and by one not to', ({ alert }) => {
    const cases = read('deploy/prometheus/rules.test.yml').split(/(?=- expr: )/);
    const own = cases.filter((text) => text.startsWith(`- expr: ALERTS{alertname="${alert}"`));
    const fires = own.map((text) => text.includes('exp_samples'));
    expect(new Set(fires)).toEqual(new Set([true, false]));
  });
});

describe('docs/runbooks', () => {
  it('has a page for each alert, an alert for each page, and lists them with their severity', () => {
    const names = alerts.map(({ alert }) => alert);
    expect(pages.toSorted()).toEqual(names.map((name) => `${name}.md`).toSorted());
    const listed = read('docs/runbooks/README.md').matchAll(/^\| \[(\w+)\]\(\1\.md\) \| (\w+) \|/gm);
    expect([...listed].map(([, name, severity]) => `${name} ${severity}`)).toEqual(
      alerts.map(({ alert, labels }) => `${alert} ${labels.severity}`),
    );
  });

  it.each(pages)('%s says all that it should, and begins with ax why or /readyz', (name) => {
    const text = read(`docs/runbooks/${name}`);
    expect([...text.matchAll(/^#+ ([A-Z].*)/gm)].map(([, heading]) => heading).slice(0, 5)).toEqual([
      name.replace('.md', ''),
      'What it means',
      'What users feel',
      'First look',
      'Causes',
    ]);
    expect(text).toMatch(/## First look\n\n```sh\n(ax why|curl -s \$AX\/readyz)/);
    const causes = text.match(/^\| (?!cause |---).* \| .* \| .* \|$/gm) ?? [];
    expect(causes.length).toBeGreaterThanOrEqual(2);
    expect(unknownIn(text)).toEqual([]);
  });

  it('names checks of ax doctor that there are, and links to pages that there are', () => {
    const checks = [...read('docs/doctor.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, check]) => check);
    for (const name of [...pages, 'README.md']) {
      const text = read(`docs/runbooks/${name}`);
      const [, looked = ''] = /^ax doctor +# ([\w, ]+)/m.exec(text) ?? [];
      for (const check of looked.split(', ').filter((word) => word !== ''))
        expect(checks, name).toContain(check);
      for (const [, link = ''] of text.matchAll(/\]\(([^)#]+)/g))
        expect(existsSync(new URL(`docs/runbooks/${link}`, root)), `${name}: ${link}`).toBe(true);
    }
  });
});

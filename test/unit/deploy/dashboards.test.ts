import { readdirSync, readFileSync } from 'node:fs';
import { type Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DASHBOARDS } from '../../../deploy/grafana/src/dashboards.js';
import { readRules } from '../../support/alert-rules.js';
import { dashboardQueries, dashboards, panelsOf } from '../../support/dashboards.js';
import { recordedIn, unknownIn } from '../../support/used-metrics.js';

const folder = new URL('../../../deploy/grafana/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');
const variablesOf = (dashboard: Dashboard) => dashboard.templating?.list ?? [];
/** What Grafana brings. */
const BUILT_IN = /^(__rate_interval|__range|__url_time_range|__data|labels|TOKEN)/;

describe('deploy/grafana', () => {
  it('has checked in what the code builds: npm run dashboards writes it', () => {
    expect(readdirSync(new URL('dashboards', folder)).toSorted()).toEqual([...DASHBOARDS.keys()].toSorted());
    for (const [name, text] of DASHBOARDS) expect(read(`dashboards/${name}`), name).toBe(text);
  });

  it('provisions the data source that exemplars lead to', () => {
    const { datasources } = parse(read('provisioning/datasources/ax.yml')) as {
      datasources: { uid: string; jsonData?: { exemplarTraceIdDestinations: { datasourceUid: string }[] } }[];
    };
    const [prometheus, tempo] = datasources;
    expect(prometheus?.jsonData?.exemplarTraceIdDestinations[0]?.datasourceUid).toBe(tempo?.uid);
  });
});

describe.each(dashboards.map((dashboard) => ({ uid: dashboard.uid, dashboard })))('$uid', ({ dashboard }) => {
  const panels = panelsOf(dashboard);
  const shown = panels.filter(({ type }) => type !== 'text');

  it('has panels that say what they tell, in which unit, and what no data means', () => {
    expect(shown.length).toBeGreaterThan(10);
    for (const { title, description, type, fieldConfig, targets } of shown) {
      const { unit, noValue } = fieldConfig?.defaults ?? {};
      expect(description, title).toMatch(/^.{20,}/s);
      expect(noValue, title).toMatch(/^.{5,}/s);
      if (type === 'table') expect(JSON.stringify(fieldConfig?.overrides), title).toContain('"unit"');
      else if (type !== 'heatmap') expect(unit, title).toMatch(/^\w+$/);
      expect(targets?.length, title).toBeGreaterThan(0);
    }
  });

  it('says what to check when there is nothing', () => {
    expect(panels.at(-1)).toMatchObject({ type: 'text', title: expect.stringMatching(/no data/i) as string });
  });

  it('has its panels side by side, each with an id of its own', () => {
    const all = dashboard.panels ?? [];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const cells = all.flatMap(({ gridPos }) => {
      const { x = 0, y = 0, w = 0, h = 0 } = gridPos ?? {};
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('uses only variables that it has, and those that choose what it is about', () => {
    const names = variablesOf(dashboard).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['datasource', 'namespace']));
    const used = JSON.stringify(dashboard.panels).matchAll(/\$\{?([A-Za-z_]+)/g);
    for (const [, name = ''] of used) if (!BUILT_IN.test(name)) expect(names).toContain(name);
    for (const name of names.filter((one) => !['traces', 'api', 'datasource'].includes(one)))
      expect(JSON.stringify(dashboard.panels), name).toContain(`$${name}`);
  });

  it('is of the schema that docs/telemetry.md names', () => {
    const page = readFileSync(new URL('../../../docs/telemetry.md', import.meta.url), 'utf8');
    expect(page).toContain(`schema version ${dashboard.schemaVersion}`);
  });
});

describe('the queries of the dashboards', () => {
  const recorded = new Set(readRules().recordings.map(({ record }) => record));

  it.each(dashboardQueries)('$dashboard, $panel: $expr', ({ expr }) => {
    expect(unknownIn(expr)).toEqual([]);
    expect(recordedIn(expr).filter((name) => !recorded.has(name))).toEqual([]);
    expect(expr).toMatch(/ax_namespace=~?"\$namespace|^time\(\)/);
  });
});

import { type Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  type VariableModel,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PROMETHEUS } from './panels.js';

export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Beside the data source and the namespace, which every board has. */
  readonly variables: readonly Builder<VariableModel>[];
  readonly links?: readonly Builder<ReturnType<DashboardLinkBuilder['build']>>[];
  readonly rows: readonly (readonly [title: string, panels: readonly Builder<Panel>[]])[];
}

/** A variable whose values are those of a label. */
export const valuesOf = (name: string, label: string, selector: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .datasource(PROMETHEUS)
    .query({ query: `label_values(${selector}, ${label})`, refId: name })
    .definition(`label_values(${selector}, ${label})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);

/** As `valuesOf`, several at a time, all to begin with. */
export const manyValuesOf = (name: string, label: string, selector: string): QueryVariableBuilder =>
  valuesOf(name, label, selector)
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: 'All', value: '$__all' });

/** The dashboard as Grafana takes it. Throws nothing; what it gets is checked by types. */
export function build({ uid, title, description, variables, links = [], rows }: Board): Dashboard {
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(['ax'])
    .editable()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .withVariable(valuesOf('namespace', 'ax_namespace', 'ax_build_info').label('Namespace'))
    .link(
      new DashboardLinkBuilder('ax')
        .type(DashboardLinkType.Dashboards)
        .tags(['ax'])
        .asDropdown(true)
        .includeVars(true)
        .keepTime(true),
    );
  for (const variable of variables) builder.withVariable(variable);
  for (const link of links) builder.link(link);
  for (const [name, panels] of rows) {
    builder.withRow(new RowBuilder(name));
    for (const panel of panels) builder.withPanel(panel);
  }
  const dashboard = builder.build();
  dashboard.panels?.forEach((panel, index) => (panel.id = index + 1));
  return dashboard;
}

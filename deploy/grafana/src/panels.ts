import { type Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type Panel,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import {
  HeatmapColorOptionsBuilder,
  PanelBuilder as Heatmap,
  YAxisConfigBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as Text, TextMode } from '@grafana/grafana-foundation-sdk/text';
import { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';

export const PROMETHEUS = { type: 'prometheus', uid: '${datasource}' };

/** A query and how its series are called. */
export type Query = readonly [expr: string, legend: string];

export interface Shown {
  readonly title: string;
  /** What it tells, and what to think of it. */
  readonly tells: string;
  readonly unit: string;
  readonly queries: readonly Query[];
  /** What no data means, and what to check. */
  readonly empty: string;
  /** Of 24 columns. */
  readonly width?: number;
}

/** From which value on a number has which colour; the first one has no lower bound. */
export type Steps = readonly (readonly [from: number | null, colour: 'green' | 'yellow' | 'red' | 'blue'])[];

/** Good below `yellow`, bad from `red` on. */
export const upTo = (yellow: number, red: number): Steps => [
  [null, 'green'],
  [yellow, 'yellow'],
  [red, 'red'],
];

/** Any is bad. */
export const NONE: Steps = [
  [null, 'green'],
  [1, 'red'],
];

const query = ([expr, legend]: Query, index: number): DataqueryBuilder =>
  new DataqueryBuilder()
    .datasource(PROMETHEUS)
    .refId(String.fromCharCode(65 + index))
    .expr(expr)
    .legendFormat(legend);

const instant = (one: Query, index: number): DataqueryBuilder => query(one, index).instant();

/** Lines over time. `isStacked`: areas whose sum means something. `hasExemplars`: with dots that lead to traces. */
export function chart(
  shown: Shown & { readonly isStacked?: boolean; readonly isBars?: boolean; readonly hasExemplars?: boolean },
): Builder<Panel> {
  const targets = shown.queries.map((one, index) =>
    query(one, index)
      .range()
      .exemplar(shown.hasExemplars ?? false),
  );
  const panel = new TimeSeries()
    .title(shown.title)
    .description(shown.tells)
    .datasource(PROMETHEUS)
    .targets(targets)
    .unit(shown.unit)
    .noValue(shown.empty)
    .min(0)
    .span(shown.width ?? 8)
    .height(8)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  if (shown.isBars === true) panel.drawStyle(GraphDrawStyle.Bars).fillOpacity(80);
  if (shown.isStacked === true)
    panel.fillOpacity(30).stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  return panel;
}

/** One number, of now. */
export function number(
  shown: Shown & { readonly steps?: Steps; readonly decimals?: number },
): Builder<Panel> {
  const steps = (shown.steps ?? [[null, 'blue']]).map(([value, color]) => ({ value, color }));
  const panel = new Stat()
    .title(shown.title)
    .description(shown.tells)
    .datasource(PROMETHEUS)
    .targets(shown.queries.map(instant))
    .unit(shown.unit)
    .noValue(shown.empty)
    .span(shown.width ?? 4)
    .height(4)
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps));
  if (shown.decimals !== undefined) panel.decimals(shown.decimals);
  return panel;
}

/** How many values fall into which bucket, over time. */
export const heat = (shown: Shown): Builder<Panel> =>
  new Heatmap()
    .title(shown.title)
    .description(shown.tells)
    .datasource(PROMETHEUS)
    .targets(shown.queries.map((one, index) => query(one, index).range().format(PromQueryFormat.Heatmap)))
    .noValue(shown.empty)
    .calculate(false)
    .color(new HeatmapColorOptionsBuilder().scheme('Blues').steps(64))
    .yAxis(new YAxisConfigBuilder().unit(shown.unit))
    .span(shown.width ?? 8)
    .height(8);

/** A row for each combination of labels; `columns` are the titles of the queries' values, with their units. */
export function table(
  shown: Omit<Shown, 'unit'> & {
    readonly labels: readonly string[];
    /** Column that leads to the dashboard of the task. */
    readonly linked?: string;
    readonly units: readonly string[];
  },
): Builder<Panel> {
  const order = [...shown.labels, ...shown.queries.map((_, index) => valueColumn(shown, index))];
  const panel = new Table()
    .title(shown.title)
    .description(shown.tells)
    .datasource(PROMETHEUS)
    .targets(shown.queries.map((one, index) => instant(one, index).format(PromQueryFormat.Table)))
    .noValue(shown.empty)
    .span(shown.width ?? 24)
    .height(9)
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries(order.map((name, index) => [name, index])),
        renameByName: Object.fromEntries(
          shown.queries.map(([, title], index) => [valueColumn(shown, index), title]),
        ),
      },
    });
  shown.queries.forEach(([, title], index) =>
    panel.overrideByName(title, [{ id: 'unit', value: shown.units[index] }]),
  );
  if (shown.linked !== undefined) panel.overrideByName(shown.linked, [{ id: 'links', value: [TASK_LINK] }]);
  return panel;
}

/** Grafana names the value of one query `Value`, those of several by their letter. */
const valueColumn = ({ queries }: Pick<Shown, 'queries'>, index: number): string =>
  queries.length === 1 ? 'Value' : `Value #${String.fromCharCode(65 + index)}`;

const TASK_LINK = {
  title: 'This task',
  url: '/d/ax-task?${__url_time_range}&var-datasource=${datasource}&var-namespace=${namespace}&var-group=${__data.fields.group}&var-task=${__data.fields.task}',
};

export const note = (title: string, content: string, width = 24, height = 5): Builder<Panel> =>
  new Text().title(title).mode(TextMode.Markdown).content(content).span(width).height(height);

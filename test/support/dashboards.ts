import { type Dashboard, type Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { DASHBOARDS } from '../../deploy/grafana/src/dashboards.js';

export interface DashboardQuery {
  readonly dashboard: string;
  readonly panel: string;
  readonly expr: string;
  readonly isExemplar: boolean;
}

export const dashboards: readonly Dashboard[] = [...DASHBOARDS.values()].map(
  (text) => JSON.parse(text) as Dashboard,
);

export const panelsOf = (dashboard: Dashboard): readonly Panel[] =>
  (dashboard.panels ?? []).filter((panel): panel is Panel => panel.type !== 'row');

/** Every query of every panel of every dashboard. */
export const dashboardQueries: readonly DashboardQuery[] = dashboards.flatMap((dashboard) =>
  panelsOf(dashboard).flatMap((panel) =>
    ((panel.targets ?? []) as { expr?: string; exemplar?: boolean }[]).map(({ expr = '', exemplar }) => ({
      dashboard: dashboard.uid ?? '',
      panel: panel.title ?? '',
      expr,
      isExemplar: exemplar ?? false,
    })),
  ),
);

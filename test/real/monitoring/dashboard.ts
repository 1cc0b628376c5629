// Makes deploy/monitoring/dashboard.json: npm run dashboard. The types are Grafana's schema, so that `npm run types` checks it.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  type Dashboard,
  GraphDrawStyle,
  type GraphFieldConfig,
  LegendDisplayMode,
  type Panel,
  type RowPanel,
  SortOrder,
  StackingMode,
  TooltipDisplayMode,
  VariableHide,
  type VariableModel,
  type VizLegendOptions,
  type VizTooltipOptions,
} from '@grafana/schema';
import { type PanelSource, rows } from './dashboard-panels.ts';

export const dashboardFile = fileURLToPath(new URL('../../../deploy/monitoring/dashboard.json', import.meta.url));

const datasource = { type: 'prometheus', uid: '$datasource' };
const [width, height] = [12, 8];

interface TimeSeriesOptions {
  readonly legend: VizLegendOptions;
  readonly tooltip: VizTooltipOptions;
}

function timeSeries({ title, description, unit, queries, isStacked }: PanelSource, id: number, x: number, y: number): Panel {
  const custom: GraphFieldConfig = {
    drawStyle: GraphDrawStyle.Line,
    fillOpacity: isStacked ? 40 : 10,
    ...(isStacked && { stacking: { mode: StackingMode.Normal, group: 'A' } }),
  };
  const options: TimeSeriesOptions = {
    legend: { calcs: ['lastNotNull', 'max'], displayMode: LegendDisplayMode.Table, placement: 'bottom', showLegend: true },
    tooltip: { mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending },
  };
  return {
    ...{ id, type: 'timeseries', title, description, datasource },
    gridPos: { x, y, w: width, h: height },
    fieldConfig: { defaults: { unit, min: 0, custom: { ...custom } }, overrides: [] },
    options: { ...options },
    targets: queries.map(([expr, legendFormat], index) => ({
      ...{ refId: String.fromCharCode('A'.charCodeAt(0) + index), datasource, expr, legendFormat },
    })),
  };
}

function panels(): (Panel | RowPanel)[] {
  const all: (Panel | RowPanel)[] = [];
  let y = 0;
  for (const row of rows) {
    all.push({
      id: all.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, panel] of row.panels.entries()) {
      all.push(timeSeries(panel, all.length + 1, (index % 2) * width, y + Math.floor(index / 2) * height));
    }
    y += Math.ceil(row.panels.length / 2) * height;
  }
  return all;
}

function labelVariable(name: 'job' | 'instance', matchers: string): VariableModel {
  const query = `label_values(pod_status_manager_channel_capacity{${matchers}}, ${name})`;
  return {
    ...{ name, type: 'query', datasource, query, hide: VariableHide.dontHide },
    ...{ includeAll: true, multi: true, allValue: '.*', current: { text: 'All', value: '$__all' } },
    refresh: 2,
    sort: 1,
  };
}

export function dashboard(): Dashboard {
  return {
    uid: 'pod-status-manager',
    title: 'Pod status manager',
    description: 'Agents with pod-status-manager: statuses, requests, watches, the node, the provider, the process.',
    tags: ['kubernetes', 'pod-status-manager'],
    schemaVersion: 41,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source', hide: VariableHide.dontHide },
        labelVariable('job', ''),
        labelVariable('instance', 'job=~"$job"'),
      ],
    },
    annotations: { list: [] },
    panels: panels(),
  };
}

export function dashboardText(): string {
  return `${JSON.stringify(dashboard(), undefined, 2)}\n`;
}

if (import.meta.main) await writeFile(dashboardFile, dashboardText());

/** The dashboard as Grafana reads it, in the types that Grafana publishes. */
import {
  FieldColorModeId,
  GraphDrawStyle,
  LegendDisplayMode,
  StackingMode,
  ThresholdsMode,
  TooltipDisplayMode,
  VariableHide,
  VariableRefresh,
  type Dashboard,
  type DashboardLink,
  type GraphFieldConfig,
  type Panel,
  type RowPanel,
  type VariableModel,
} from '@grafana/schema';
import type { PanelSource, Row } from './panel.ts';
import { ADMISSION, GANGS, GLANCE } from './rows-of-gangs.ts';
import { BACKENDS, FLEET, LOOP } from './rows-of-parts.ts';

/** The version of this format; a later Grafana brings it up to its own. */
const SCHEMA_VERSION = 41;
const WIDTH = 24;
const NUMBER = { w: 3, h: 4 };
const GRAPH = { w: 8, h: 7 };
const SELECTED = 'cluster=~"$cluster",namespace=~"$namespace"';
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** Where `muster dashboard --port 8088` serves its page; whoever has it elsewhere writes that into the variable. */
const PAGE_ADDRESS = 'http://127.0.0.1:8088';
/** Without the encoding that a value of a variable has in a link. */
const PAGE = '${dashboard_url:raw}/';
const PAGE_LINK: DashboardLink = {
  ...{ type: 'link', title: 'Gangs with their reasons', icon: 'external link', url: `${PAGE}#/gangs` },
  tooltip: 'The page of muster dashboard: each gang, why it waits, and what would help.',
  ...{ tags: [], targetBlank: true, asDropdown: false, includeVars: false, keepTime: false },
};

const ROWS: readonly Row[] = [GLANCE, ADMISSION, GANGS, LOOP, BACKENDS, FLEET];

export function musterDashboard(): Dashboard {
  const panels: (Panel | RowPanel)[] = [];
  let [id, y] = [0, 0];
  for (const { title, collapsed = false, panels: sources } of ROWS) {
    id += 1;
    const row: RowPanel = {
      type: 'row',
      id,
      title,
      collapsed,
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
      panels: [],
    };
    panels.push(row);
    y += 1;
    let [x, height] = [0, 0];
    for (const source of sources) {
      const size = source.number === undefined ? GRAPH : NUMBER;
      if (x + size.w > WIDTH) [x, y] = [0, y + height];
      id += 1;
      (collapsed ? row.panels : panels).push({ ...panelOf(source), id, gridPos: { x, y, ...size } });
      [x, height] = [x + size.w, size.h];
    }
    y += height;
  }
  return {
    uid: 'muster',
    title: 'Muster',
    description: 'Gang admission for Kubernetes: reviews, gangs, the loop, schedulers and the fleet.',
    tags: ['kubernetes', 'muster'],
    editable: true,
    graphTooltip: 1,
    schemaVersion: SCHEMA_VERSION,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'browser',
    templating: { list: variables() },
    annotations: { list: [] },
    links: [PAGE_LINK],
    panels,
  };
}

function variables(): VariableModel[] {
  const label = (name: string, query: string): VariableModel => ({
    type: 'query',
    name,
    datasource: DATASOURCE,
    query: { query, refId: name },
    refresh: VariableRefresh.onTimeRangeChanged,
    hide: VariableHide.dontHide,
    includeAll: true,
    multi: true,
    // Also where a scrape sets no such label.
    allValue: '.*',
    current: { selected: true, text: 'All', value: '$__all' },
  });
  return [
    {
      type: 'datasource',
      name: 'datasource',
      label: 'Data source',
      query: 'prometheus',
      hide: VariableHide.dontHide,
    },
    label('cluster', 'label_values(muster_build_info, cluster)'),
    label('namespace', 'label_values(muster_build_info{cluster=~"$cluster"}, namespace)'),
    {
      type: 'textbox',
      name: 'dashboard_url',
      label: 'Page of muster dashboard',
      query: PAGE_ADDRESS,
      current: { selected: true, text: PAGE_ADDRESS, value: PAGE_ADDRESS },
      hide: VariableHide.dontHide,
    },
  ];
}

function panelOf({ title, description, unit, number, stacked, queries, page }: PanelSource): Panel {
  const graph: GraphFieldConfig = {
    drawStyle: GraphDrawStyle.Line,
    lineWidth: 1,
    fillOpacity: stacked ? 30 : 0,
    stacking: { mode: stacked ? StackingMode.Normal : StackingMode.None, group: 'A' },
  };
  const steps = (number ?? []).map(([color, value]) => ({ color, value }));
  return {
    type: number === undefined ? 'timeseries' : 'stat',
    title,
    description,
    datasource: DATASOURCE,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: 'ABC'[index],
      datasource: DATASOURCE,
      expr: expr.replaceAll('@', SELECTED),
      legendFormat: legend,
      ...(number && { instant: true, range: false }),
    })),
    fieldConfig: {
      defaults: {
        unit,
        ...(page && { links: [{ title: PAGE_LINK.title, url: `${PAGE}${page}`, targetBlank: true }] }),
        ...(number === undefined
          ? { min: 0, custom: { ...graph } }
          : {
              color: { mode: FieldColorModeId.Thresholds },
              thresholds: { mode: ThresholdsMode.Absolute, steps },
            }),
      },
      overrides: [],
    },
    options:
      number === undefined
        ? {
            legend: { displayMode: LegendDisplayMode.List, placement: 'bottom', showLegend: true, calcs: [] },
            tooltip: { mode: TooltipDisplayMode.Multi },
          }
        : { colorMode: 'value', graphMode: 'none', reduceOptions: { calcs: ['lastNotNull'], values: false } },
  };
}

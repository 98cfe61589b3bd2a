/** The dashboard: made from its source, every query of metrics and labels that Muster has, no panel over another. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Panel, RowPanel } from '@grafana/schema';
import { musterDashboard } from '../../monitoring/grafana.ts';
import { GangStore, matching } from '../../src/dashboard/page/gang-store.ts';
import { hashOf, routeOf } from '../../src/dashboard/page/route.ts';
import type { GangRow } from '../../src/dashboard/wire.ts';
import { MONITORING } from '../support/alert-rules.ts';
import { readRecorded } from '../../monitoring/recording/recorded.ts';
import { faultsOf } from '../support/promql.ts';

const dashboard = musterDashboard();
const rows = (dashboard.panels ?? []).filter((panel) => panel.type === 'row') as RowPanel[];
const panels = (dashboard.panels ?? []).flatMap((panel) =>
  panel.type === 'row' ? (panel as RowPanel).panels : [panel as Panel],
);

/** With its variables as Grafana puts them in. */
const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '2m').replaceAll(/\$(cluster|namespace)\b/g, '.*');

test('monitoring/dashboards/muster.json is what its source makes', () => {
  const file = join(MONITORING, 'dashboards/muster.json');
  const made = `${JSON.stringify(dashboard, null, 1)}\n`;
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, made);
  expect(readFileSync(file, 'utf8')).toBe(made);
  expect(readdirSync(join(MONITORING, 'dashboards'))).toEqual(['muster.json']);
});

test('it has a row for each part', () => {
  expect(rows.map(({ title }) => title)).toEqual([
    'At a glance',
    'Admission',
    'Gangs',
    'Loop',
    'Backends',
    'Fleet and preemption',
  ]);
});

describe('panels', () => {
  test.each(panels.map((panel) => [panel.title ?? '', panel] as const))('%s', (title, panel) => {
    expect(title).toMatch(/^[A-Z]/);
    expect(panel.description).toMatch(/^.{15,}\.$/);
    expect(panel.fieldConfig?.defaults.unit).toMatch(/^\w+$/);
    expect(panel.datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
    const targets = panel.targets ?? [];
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr, legendFormat } of targets) {
      expect(faultsOf(filledIn(String(expr)))).toEqual([]);
      // Each reads of the clusters and namespaces that are chosen.
      expect(expr).toMatch(/cluster=~"\$cluster",namespace=~"\$namespace"/);
      const named = [...String(legendFormat).matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      for (const label of named) expect(expr).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`));
    }
  });

  test('have names and numbers of their own, and none lies over another', () => {
    const all = [...rows, ...panels];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const taken = new Map<string, string>();
    for (const { gridPos, title = '' } of all) {
      const { x = 0, y = 0, w = 0, h = 0 } = gridPos ?? {};
      expect(x + w).toBeLessThanOrEqual(24);
      for (let across = x; across < x + w; across += 1)
        for (let down = y; down < y + h; down += 1) {
          expect([title, taken.get(`${across},${down}`)]).toEqual([title, undefined]);
          taken.set(`${across},${down}`, title);
        }
    }
  });
});

describe('links to the page of muster dashboard', () => {
  const linked = panels.flatMap(({ title, targets = [], fieldConfig }) =>
    ((fieldConfig?.defaults.links ?? []) as readonly { readonly url: string }[]).map(({ url }) => ({
      ...{ title, targets, url, hash: url.slice(url.indexOf('#')) },
    })),
  );
  const urls = [...(dashboard.links ?? []).map(({ url }) => url), ...linked.map(({ url }) => url)];
  const LABEL = /\$\{__field\.labels\.(\w+)\}/g;
  const row: GangRow = {
    ...{ namespace: 'ml', name: 'train', workload: null, backend: 'kai-scheduler', phase: 'Pending' },
    ...{ why: '', groups: null, pods: null, gated: 0, created: null },
    ...{ gatedGpus: 0, waitsFor: 'Pods', queue: null },
  };

  test('begin with the address in the variable, where the documented port serves it', () => {
    expect(linked.length).toBeGreaterThan(10);
    for (const url of urls) expect(url).toMatch(/^\$\{dashboard_url:raw\}\/#\/\w/);
    const address = dashboard.templating?.list?.find(({ name }) => name === 'dashboard_url')?.query;
    const [, port] = /^"http:\/\/127\.0\.0\.1:(\d+)"$/.exec(JSON.stringify(address)) ?? [];
    expect(readFileSync('docs/alerts.md', 'utf8')).toContain(`\`muster dashboard --port ${port}\``);
  });

  test.each(linked)('$title: $hash is one of its addresses', ({ targets, hash }) => {
    for (const [, label] of hash.matchAll(LABEL))
      for (const { expr } of targets) expect(expr).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`));
    const filled = hash.replaceAll(LABEL, row.backend);
    const route = routeOf(filled);
    expect(hashOf(route)).toBe(filled);
    if (route.page !== 'gangs') return;
    const store = new GangStore();
    store.apply({ changed: [row], deleted: [], left: 0, stale: null });
    expect(matching(store.sorted, route.search, route.state)).toHaveLength(1);
  });
});

describe('what was recorded for its picture', () => {
  const { panels: recorded, events, stepSeconds, alerts } = readRecorded();

  test('has every panel, and no other', () => {
    expect(Object.keys(recorded).toSorted()).toEqual(panels.map(({ title = '' }) => title).toSorted());
  });

  test('has numbers for every panel that is open, but for failures that did not happen', () => {
    const open = (dashboard.panels ?? []).filter(({ type }) => type !== 'row').map(({ title = '' }) => title);
    expect(open.filter((title) => recorded[title]?.length === 0)).toEqual(['Answers other than 200']);
  });

  test('has no alert, not even a pending one, before the first failure', () => {
    const healthy = Math.floor((events[0]?.at ?? 0) / stepSeconds);
    expect(healthy).toBeGreaterThan(5);
    const early = alerts.filter(({ values }) => values.slice(0, healthy).some((value) => value !== null));
    expect(early.map(({ metric }) => metric['alertname'])).toEqual([]);
  });
});

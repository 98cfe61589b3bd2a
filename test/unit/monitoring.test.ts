/** Alerts: every name in them is one that Muster exposes, each fires on a failure made for it, none in a healthy hour. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { alertRules, MONITORING, ruleGroups, ruleTests } from '../support/alert-rules.ts';
import { faultsOf, labelsOf } from '../support/promql.ts';

const alerts = alertRules();

const PROMETHEUS_RULE = `# Made from monitoring/rules.yaml by UPDATE_DOCS=1 npm run test:unit.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: muster
  namespace: muster-system
  labels:
    app.kubernetes.io/name: muster
    app.kubernetes.io/part-of: muster
spec:
`;

/** What docs/alerts.md has of a rule. */
const BLOCK = /<!-- alert (\w+) -->\n[^]*?<!-- \/alert \1 -->/g;

interface PodMonitor {
  readonly metadata: { readonly namespace: string };
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly podMetricsEndpoints: readonly { readonly port: string }[];
  };
}
interface Deployment {
  readonly metadata: { readonly namespace: string };
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly containers: readonly { readonly ports: readonly { readonly name: string }[] }[];
      };
    };
  };
}

describe('monitoring/rules.yaml', () => {
  test('has alerts enough, no name twice', () => {
    expect(alerts.length).toBeGreaterThanOrEqual(15);
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    expect(new Set(ruleGroups().groups.map(({ name }) => name)).size).toBe(ruleGroups().groups.length);
  });

  test.each(alerts)('$alert has what an alert needs', ({ alert, expr, labels, annotations, ...rest }) => {
    expect(alert).toMatch(/^Muster[A-Z]\w+$/);
    expect(rest.for ?? '1m').toMatch(/^\d+[mh]$/);
    expect(['critical', 'warning']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/^[A-Z].{15,}\.$/);
    expect(annotations.description).toMatch(/\.$/);
    expect(annotations.runbook_url).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
    expect(faultsOf(expr)).toEqual([]);
    const used = [...annotations.description.matchAll(/\$labels\.(\w+)/g)].map(([, name]) => name);
    expect(labelsOf(expr)).toEqual(expect.arrayContaining(used));
  });

  test('each alert has a failure made for it', () => {
    const { fire } = ruleTests();
    expect(alerts.map(({ alert }) => alert).filter((alert) => !fire.has(alert))).toEqual([]);
    expect([...fire].filter((name) => !alerts.some(({ alert }) => alert === name))).toEqual([]);
  });

  test('failures are made of series that Muster exposes', () => {
    const { series } = ruleTests();
    expect(series.length).toBeGreaterThan(30);
    expect(series.flatMap(faultsOf)).toEqual([]);
  });
});

describe('manifests', () => {
  const folder = 'manifests/components/monitoring';
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

  test('prometheusrule.yaml is rules.yaml as an object', () => {
    const [, groups = ''] = readFileSync(join(MONITORING, 'rules.yaml'), 'utf8').split(/^(?=groups:$)/m);
    const made = `${PROMETHEUS_RULE}${groups.replaceAll(/^(?=.)/gm, '  ')}`;
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(folder, 'prometheusrule.yaml'), made);
    expect(read('prometheusrule.yaml')).toBe(made);
    expect(parse(made)).toMatchObject({ kind: 'PrometheusRule', spec: ruleGroups() });
  });

  test('podmonitor.yaml names Pods and a port of the Deployment', () => {
    const { metadata, spec } = parse(read('podmonitor.yaml')) as PodMonitor;
    const deployment = parse(readFileSync('manifests/base/deployment.yaml', 'utf8')) as Deployment;
    const { template } = deployment.spec;
    expect(metadata.namespace).toBe(deployment.metadata.namespace);
    expect(template.metadata.labels).toMatchObject(spec.selector.matchLabels);
    const [container] = template.spec.containers;
    const named = container?.ports.map(({ name }) => name);
    for (const { port } of spec.podMetricsEndpoints) expect(named).toContain(port);
  });
});

describe('docs/alerts.md', () => {
  const file = 'docs/alerts.md';
  const page = readFileSync(file, 'utf8');

  test('says of each alert what the rule says', () => {
    const made = page.replaceAll(BLOCK, (_all, name: string) => {
      const rule = alerts.find(({ alert }) => alert === name);
      if (rule === undefined) throw new Error(`no alert ${name}`);
      const { labels, annotations, expr } = rule;
      const after = rule.for === undefined ? 'at once' : `after ${rule.for}`;
      return `<!-- alert ${name} -->\n*${labels.severity}*, ${after}: ${annotations.summary}\n\n\`\`\`promql\n${expr}\n\`\`\`\n<!-- /alert ${name} -->`;
    });
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, made);
    else expect(page).toBe(made);
    const sections = [...page.matchAll(/^### (Muster\w+)\n\n<!-- alert \1 -->$/gm)].map(([, name]) => name);
    expect(sections.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  });

  test('says of each who notices, where to look and what mends it', () => {
    for (const section of page.split(/^### (?=Muster)/m).slice(1)) {
      const [words = ''] = section.replaceAll(BLOCK, '').split(/^## /m);
      const said = [...words.matchAll(/^- \*\*(.+?):\*\* \S/gm)].map(([, what]) => what);
      expect([section.split('\n')[0], said.join(', ').toLowerCase()]).toEqual([
        section.split('\n')[0],
        'users, look, mend',
      ]);
    }
  });

  test('is found from the page of the night, and leads there', () => {
    expect(readFileSync('docs/three-in-the-morning.md', 'utf8')).toContain('](alerts.md)');
    expect(page).toContain('](three-in-the-morning.md)');
  });
});

const there = spawnSync('promtool', ['--version']).status === 0;
const withPromtool = there ? describe : describe.skip;
withPromtool(there ? 'promtool' : 'promtool (not here: it is in Debian’s package prometheus)', () => {
  const promtool = (...words: string[]): { status: number | null; said: string } => {
    const { status, stdout, stderr } = spawnSync('promtool', words, { cwd: MONITORING, encoding: 'utf8' });
    return { status, said: `${stdout}${stderr}` };
  };

  test('takes the rules', () => {
    const { status, said } = promtool(
      'check',
      'rules',
      '--lint=all',
      '--lint-fatal',
      join(MONITORING, 'rules.yaml'),
    );
    expect({ status, said }).toMatchObject({ status: 0 });
    expect(said).toContain(`${alerts.length} rules found`);
  });

  test('sees each alert fire, alone, and none in a healthy hour or a rollout', () => {
    const { status, said } = promtool('test', 'rules', 'rules.test.yaml');
    expect({ status, said }).toMatchObject({ status: 0 });
    expect(said).toContain('SUCCESS');
  });
});

describe('an expression', () => {
  test.each([
    ['sum(rate(muster_loop_retries_total[5m])', ['does not parse at character 40']],
    ['muster_loop_retries', ['no metric muster_loop_retries']],
    [
      'muster_loop_retries_total{pod="a",resource="pods"}',
      ['muster_loop_retries_total has no label resource'],
    ],
    [
      'muster_tls_reload_total{result=~"swapped|rejcted"}',
      ['no help names result swapped|rejcted, of muster_tls_reload_total'],
    ],
    ['sum by (cluster, code) (muster_loop_leading)', ['muster_loop_leading has no label code to group by']],
    ['rate(muster_loop_queue_depth[5m])', ['rate of muster_loop_queue_depth, which is no counter']],
    ['muster_admission_duration_seconds > 1', ['no metric muster_admission_duration_seconds']],
    ['process_start_time_seconds and on (job) muster_build_info', []],
  ])('%s: %j', (expression, faults) => {
    expect(faultsOf(expression)).toEqual(faults);
  });

  test.each([
    [
      'sum by (cluster, code) (rate(muster_http_failures_total[5m])) / sum by (cluster) (muster_loop_leading)',
      ['cluster', 'code'],
    ],
    ['muster_loop_lists_total > 1', ['cluster', 'instance', 'job', 'namespace', 'pod', 'resource']],
    ['absent(muster_build_info)', []],
  ])('%s keeps %j', (expression, labels) => {
    expect(labelsOf(expression).toSorted()).toEqual(labels);
  });
});

/** Alerts: every name in them is one that Muster exposes, each fires on a failure made for it, none in a healthy hour. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { alertRules, MONITORING, ruleGroups, ruleTests } from '../support/alert-rules.ts';
import { faultsOf, labelsOf } from '../support/promql.ts';

const alerts = alertRules();

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

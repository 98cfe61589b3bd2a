/** The alerts of monitoring/rules.yaml, and what promtool's test of them expects. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const MONITORING = join(import.meta.dirname, '../../monitoring');

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: {
    readonly summary: string;
    readonly description: string;
    readonly runbook_url: string;
  };
}

export interface RuleGroups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[];
}

const read = (file: string): unknown => parse(readFileSync(join(MONITORING, file), 'utf8'));

export const ruleGroups = (): RuleGroups => read('rules.yaml') as RuleGroups;

export const alertRules = (): AlertRule[] => ruleGroups().groups.flatMap(({ rules }) => rules);

interface RuleTests {
  readonly tests: readonly {
    readonly input_series: readonly { readonly series: string }[];
    readonly promql_expr_test?: readonly { readonly exp_samples?: readonly { readonly labels: string }[] }[];
    readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts?: unknown[] }[];
  }[];
}

/** The alerts that a test of promtool expects to fire, and the series that its tests are made of. */
export function ruleTests(): { readonly fire: ReadonlySet<string>; readonly series: readonly string[] } {
  const { tests } = read('rules.test.yaml') as RuleTests;
  const samples = tests.flatMap(({ promql_expr_test: queries = [] }) =>
    queries.flatMap(({ exp_samples = [] }) =>
      exp_samples.flatMap(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1] ?? []),
    ),
  );
  const fired = tests.flatMap(({ alert_rule_test: alerts = [] }) =>
    alerts.flatMap(({ alertname, exp_alerts = [] }) => (exp_alerts.length > 0 ? [alertname] : [])),
  );
  return {
    fire: new Set([...samples, ...fired]),
    series: tests.flatMap(({ input_series }) => input_series.map(({ series }) => series)),
  };
}

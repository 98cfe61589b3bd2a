import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { metricCatalogue } from '../../../src/telemetry/metric-catalogue.ts';

const FILE = join(import.meta.dirname, '../../../docs/reference/metrics.md');

const INTRODUCTION = `# Metrics

\`/metrics\` on the port \`server.metrics.port\` (8080), plain HTTP, in the text format of Prometheus. Durations are in
seconds. Every label has a fixed set of values: no name of a namespace, a gang or a user is ever one.

This table is written from \`src/telemetry/metric-catalogue.ts\`. After a change there:
\`UPDATE_DOCS=1 npm run test:unit\`
`;

const REST = `Those that begin with \`muster_loop_\` and \`muster_kube_\` are there where the loop is, so not with \`--no-controller\`.
Replicas that wait for the Lease watch as well: they have the numbers of their caches and requests, and zeros elsewhere.

Beside these there are the usual metrics of a Node process, of which these matter most:
\`nodejs_eventloop_lag_p99_seconds\` (a review waits at least as long), \`process_resident_memory_bytes\`,
\`process_cpu_seconds_total\` and \`nodejs_gc_duration_seconds\`.

## What to watch

| Question | Expression | Worry when |
| - | - | - |
| Are reviews decided? | \`sum(rate(muster_admission_requests_total{outcome="failed"}[5m]))\` | above 0 |
| Does it shed load? | \`sum by (reason) (rate(muster_admission_shed_total[5m]))\` | above 0 for minutes |
| How long does it take? | \`histogram_quantile(0.99, sum by (le) (rate(muster_admission_duration_seconds_bucket[5m])))\` | above 0.01 |
| When does the certificate end? | \`min(muster_tls_not_after_seconds) - time()\` | below 21 days |
| Are new certificates taken? | \`increase(muster_tls_reload_total{result="rejected"}[15m])\` | above 0 |
| Does one loop run? | \`sum(muster_loop_leading)\` | not 1 for a minute |
| Do gangs start? | \`histogram_quantile(0.99, sum by (le) (rate(muster_loop_gang_release_seconds_bucket[5m])))\` | above 1 |
| Is the loop behind? | \`max(muster_loop_queue_oldest_seconds)\` | above 10 |
| Does it fail? | \`sum(rate(muster_loop_reconciles_total{result="error"}[5m]))\` | above 0 for minutes |
| Do Pods run without their gang? | \`increase(muster_loop_ungated_early_total[15m])\` | above 0 |
| Does it hear of changes? | \`sum by (resource) (rate(muster_loop_watch_failures_total[5m]))\` | above 0 for minutes |
| Is it held back? | \`rate(muster_kube_throttled_seconds_total[5m])\` | above 0: raise runtimeClientConnection.qps |
| Do backends work here? | \`sum by (backend_name) (rate(grove_scheduler_backend_initialization_duration_seconds_count{status="failure"}[15m]))\` | above 0: \`kubectl get schedulerbackends\` says why |
| Are their objects kept? | \`sum by (backend_name, operation) (rate(grove_scheduler_backend_operation_total{status="failure"}[5m]))\` | above 0 for minutes: Events say which |
| How long does that take? | \`histogram_quantile(0.99, sum by (le, backend_name) (rate(grove_scheduler_backend_operation_duration_seconds_bucket[5m])))\` | above 1 |
| Is the default backend ready? | \`sum by (pod) (grove_scheduler_backend_info)\` | not 1 for minutes |
| Is every replica used? | \`sum by (pod) (rate(muster_admission_requests_total[5m]))\` | one has all of it for minutes |

What an API server thinks of Muster it says itself: \`apiserver_admission_webhook_admission_duration_seconds\`,
\`apiserver_admission_webhook_rejection_count\` and \`apiserver_admission_webhook_fail_open_count\`.
`;

async function page(): Promise<string> {
  const rows = Object.entries(metricCatalogue).map(
    ([name, { type, labels, help }]) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ') || 'none'} | ${help} |`,
  );
  const table = ['| Metric | Type | Labels | Meaning |', '| - | - | - | - |', ...rows];
  const options = (await resolveConfig(FILE)) ?? {};
  return format(`${INTRODUCTION}\n${table.join('\n')}\n\n${REST}`, { ...options, parser: 'markdown' });
}

test('docs/reference/metrics.md is what the source says', async () => {
  const wanted = await page();
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, wanted);
  expect(readFileSync(FILE, 'utf8')).toBe(wanted);
});

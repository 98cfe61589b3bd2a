import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { backendMetricCatalogue } from './backend-metrics.ts';
import { gangMetrics, loopMetrics } from './loop-catalogue.ts';

interface Described {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** Metrics of every replica: the answered reviews. Durations are in seconds. */
export const admissionMetrics = {
  muster_admission_requests_total: {
    type: 'counter',
    labels: ['path', 'operation', 'outcome'],
    help: 'Reviews answered. outcome: allowed (unchanged), patched, denied, failed (could not be decided).',
  },
  muster_admission_duration_seconds: {
    type: 'histogram',
    labels: ['path', 'operation', 'outcome'],
    help: 'From the first byte of a review in hand to its answer handed over.',
  },
  muster_admission_in_flight: {
    type: 'gauge',
    labels: [],
    help: 'Reviews being received or answered.',
  },
  muster_admission_in_flight_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Bytes of request bodies held for them.',
  },
  muster_admission_shed_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Reviews answered 503 with Retry-After, which the API server sends again by itself. reason: requests, bytes, not-ready, gang-unread (a PodGang that the watch does not know could not be read).',
  },
  muster_admission_refusals_total: {
    type: 'counter',
    labels: ['rule'],
    help: 'Refused reviews, once for each rule that the object breaks. A rule has a series from its first refusal on.',
  },
  muster_http_failures_total: {
    type: 'counter',
    labels: ['code'],
    help: 'Answers other than 200 on the webhook port, by HTTP status code.',
  },
  muster_connections: { type: 'gauge', labels: [], help: 'Open connections on the webhook port.' },
  muster_connections_evicted_total: {
    type: 'counter',
    labels: ['standing'],
    help: 'Connections closed to make room for others. standing: handshake (TLS not done), stranger (no review of it was decided upon), known.',
  },
  muster_tls_not_after_seconds: {
    type: 'gauge',
    labels: [],
    help: 'End of the serving certificate, in seconds since 1970; absent while there is none.',
  },
  muster_tls_reload_total: {
    type: 'counter',
    labels: ['result'],
    help: 'Looks at the certificate directory, or at Secret and caBundles in the cluster. result: unchanged, swapped, rejected (the last good pair is kept).',
  },
  muster_log_lines_total: {
    type: 'counter',
    labels: ['level'],
    help: 'Lines of the log.',
  },
  muster_log_omitted_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Lines that were left out. reason: decisions (more in a second than logDecisionsPerSecond), repeated (a failure that was logged within the last minute).',
  },
  muster_log_dropped_bytes_total: {
    type: 'counter',
    labels: [],
    help: 'Bytes of lines that nobody read in time.',
  },
  muster_build_info: {
    type: 'gauge',
    labels: ['version', 'commit'],
    help: 'Always 1; the version of Muster and the commit of its source, `unknown` where the build did not know it.',
  },
} as const satisfies Record<string, Described>;

/** Additional metrics of every replica when `server.certificates.mode` is inCluster. */
const certificateMetrics = {
  muster_tls_ca_bundle_covers_leaf: {
    type: 'gauge',
    labels: [],
    help: '1 where the caBundle of every webhook trusts the certificate in service, else 0. Only with server.certificates.mode inCluster.',
  },
} as const satisfies Record<string, Described>;

/**
 * Additional metrics of replicas with a loop when a fleet is configured. The state of each queue is in its status
 * instead.
 */
const fleetQueueMetrics = {
  muster_fleet_ready: {
    type: 'gauge',
    labels: [],
    help: '1 where the loop of the fleet knows what is in Karmada’s API server, 0 while it waits for that or has no right to see it.',
  },
  muster_fleet_queue_waiting: {
    type: 'gauge',
    labels: [],
    help: 'Gangs that wait in queues of the fleet.',
  },
  muster_fleet_queue_through: {
    type: 'gauge',
    labels: [],
    help: 'Gangs that queues of the fleet have let through and that have not finished.',
  },
  muster_fleet_queue_released_total: {
    type: 'counter',
    labels: [],
    help: 'Gangs that this replica has let through a queue.',
  },
} as const satisfies Record<string, Described>;

/** Additional metrics of replicas with a loop when `preemption.mode` is Act. */
const preemptionMetrics = {
  muster_preemption_attempts_total: {
    type: 'counter',
    labels: ['result'],
    help: 'Looks at a gang that has no room. result: preempting (a plan is begun), fits (it has room by now), waits (victims are on their way out), impossible (nobody may or can make room), blocked (a plan that may not be begun: budgets, limits), error (again, later).',
  },
  muster_preemption_victims_total: {
    type: 'counter',
    labels: [],
    help: 'Pods evicted for gangs.',
  },
  muster_preemption_plan_seconds: {
    type: 'histogram',
    labels: [],
    help: 'How long a look took: reading the cluster and planning.',
  },
} as const satisfies Record<string, Described>;

/** Additional metrics of replicas with a loop when `fleet.assigner.enabled` is true. */
const fleetMetrics = {
  muster_fleet_bindings_judged_total: {
    type: 'counter',
    labels: [],
    help: 'Bindings for which clusters were looked for. One that nothing is to be done for is not counted.',
  },
  muster_fleet_bindings_total: {
    type: 'counter',
    labels: ['result'],
    help: 'What was written of bindings. result: placed (its clusters), held (why it waits), error (again, later).',
  },
  muster_fleet_bindings_waiting: {
    type: 'gauge',
    labels: [],
    help: 'Bindings that wait for room in some cluster, or for more of it.',
  },
  muster_fleet_estimates_total: {
    type: 'counter',
    labels: ['result'],
    help: 'Questions to the estimators of clusters. result: answered, failed, resting (not asked: it failed within the last 30 s).',
  },
} as const satisfies Record<string, Described>;

/** All metrics of Muster's own, also used by the documentation. */
export const metricCatalogue = {
  ...admissionMetrics,
  ...certificateMetrics,
  ...loopMetrics,
  ...gangMetrics,
  ...fleetQueueMetrics,
  ...preemptionMetrics,
  ...fleetMetrics,
  ...backendMetricCatalogue,
};

export type MetricName = keyof typeof metricCatalogue;

export const gauge = (name: MetricName, registry: Registry): Gauge =>
  new Gauge({ ...described(name), registers: [registry] });

export const counter = (name: MetricName, registry: Registry): Counter =>
  new Counter({ ...described(name), registers: [registry] });

/** @param buckets upper bounds in seconds */
export const histogram = (name: MetricName, buckets: readonly number[], registry: Registry): Histogram =>
  new Histogram({ ...described(name), buckets: [...buckets], registers: [registry] });

const described = (name: MetricName): { name: string; help: string; labelNames: string[] } => ({
  name,
  help: metricCatalogue[name].help,
  labelNames: [...metricCatalogue[name].labels],
});

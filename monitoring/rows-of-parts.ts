/** Where it comes from: the loop, schedulers, the fleet. */
import { GANGS_OF_BACKEND, quantiles, query, rate, type Row } from './panel.ts';

export const LOOP: Row = {
  title: 'Loop',
  panels: [
    {
      title: 'Who leads',
      description:
        '1 for the replica that runs the loop. A rollout moves it within seconds, a crash within 16.',
      unit: 'short',
      queries: [query('{{pod}}', 'max by (pod) (muster_loop_leading{@})')],
    },
    {
      title: 'How long gangs wait to be looked at',
      description: 'The longest of the queue, and the longest look under way.',
      unit: 's',
      queries: [
        query('in the queue', 'max(muster_loop_queue_oldest_seconds{@})'),
        query('under way', 'max(muster_loop_longest_running_seconds{@})'),
      ],
    },
    {
      title: 'Busy slots',
      description: 'Share of its slots that a controller uses. One namespace gets half of them at most.',
      unit: 'percentunit',
      queries: [
        query(
          '{{controller}}',
          'max by (controller) (muster_loop_busy_slots{@}) / (max by (controller) (muster_loop_slots{@}) > 0)',
        ),
      ],
    },
    {
      title: 'Looks by result',
      description: 'outdated: somebody else had written, again at once. error: again, later.',
      unit: 'ops',
      stacked: true,
      queries: [rate('result', 'muster_loop_reconciles_total')],
    },
    {
      title: 'Requests to the API server',
      description: 'By HTTP status; none where no answer came. 409 is usual, 403 a right that is missing.',
      unit: 'reqps',
      stacked: true,
      queries: [rate('code', 'muster_kube_requests_total')],
    },
    {
      title: 'How long the API server takes',
      description: 'One request in a hundred takes longer than this. The loop cannot be faster.',
      unit: 's',
      queries: [
        query(
          '{{verb}}',
          'histogram_quantile(0.99, sum by (verb, le) (rate(muster_kube_request_duration_seconds_bucket{@}[$__rate_interval])))',
        ),
      ],
    },
    {
      title: 'Held back, and watches that fail',
      description:
        'Requests that wait for runtimeClientConnection.qps at any time; failures of lists and watches a second.',
      unit: 'short',
      queries: [
        query('throttled', 'sum(rate(muster_kube_throttled_seconds_total{@}[$__rate_interval]))'),
        query(
          '{{resource}}',
          'sum by (resource) (rate(muster_loop_watch_failures_total{@}[$__rate_interval])) > 0',
        ),
      ],
    },
    {
      title: 'Memory',
      description: 'Of each process. The limit of the manifests is 512 MiB.',
      unit: 'bytes',
      queries: [
        query(
          '{{pod}}',
          'max by (pod) (process_resident_memory_bytes and on (cluster, job, instance) muster_build_info{@})',
        ),
      ],
    },
    {
      title: 'CPU and event loop',
      description:
        'Cores used by all replicas, and the worst lag of an event loop: a review waits at least as long.',
      unit: 'short',
      queries: [
        query(
          'cores',
          'sum(rate(process_cpu_seconds_total[$__rate_interval]) and on (cluster, job, instance) muster_build_info{@})',
        ),
        query(
          'lag in s',
          'max(nodejs_eventloop_lag_p99_seconds and on (cluster, job, instance) muster_build_info{@})',
        ),
      ],
    },
  ],
};

export const BACKENDS: Row = {
  title: 'Backends',
  panels: [
    {
      title: 'Ready',
      page: '#/backends',
      description: '1 where a backend works in this cluster. kubectl get schedulerbackends says why not.',
      unit: 'short',
      queries: [query('{{backend_name}}', 'min by (backend_name) (muster_backend_ready{@})')],
    },
    {
      title: 'Scheduler without a word',
      page: GANGS_OF_BACKEND,
      description: 'How long the Pod that has waited longest is neither bound nor told why not.',
      unit: 's',
      queries: [
        query('{{backend_name}}', 'max by (backend_name) (muster_scheduler_oldest_unseen_seconds{@})'),
      ],
    },
    {
      title: 'Last Pod bound',
      page: GANGS_OF_BACKEND,
      description: 'Time since a scheduler bound a Pod of a gang. No line: not since the replica began.',
      unit: 's',
      queries: [
        query(
          '{{backend_name}}',
          'time() - max by (backend_name) (muster_scheduler_last_bound_timestamp_seconds{@} > 0)',
        ),
      ],
    },
    {
      title: 'Operations',
      description: 'What is done for the gangs of a backend: its objects, the status, Pods at admission.',
      unit: 'ops',
      stacked: true,
      queries: [rate('operation', 'grove_scheduler_backend_operation_total')],
    },
    {
      title: 'Operations that fail',
      page: GANGS_OF_BACKEND,
      description: 'Told in Events of the gang, and tried again.',
      unit: 'ops',
      queries: [
        query(
          '{{backend_name}} {{operation}}',
          'sum by (backend_name, operation) (rate(grove_scheduler_backend_operation_total{@,status="failure"}[$__rate_interval]))',
        ),
      ],
    },
    {
      title: 'How long operations take',
      description: 'One operation in a hundred takes longer than this.',
      unit: 's',
      queries: quantiles('grove_scheduler_backend_operation_duration_seconds', 'operation').slice(1),
    },
  ],
};

export const FLEET: Row = {
  title: 'Fleet and preemption',
  collapsed: true,
  panels: [
    {
      title: 'Bindings and queues that wait',
      page: '#/queues',
      description: 'Bindings that wait for a cluster; gangs that wait in queues, and those let through.',
      unit: 'short',
      queries: [
        query('bindings wait', 'max(muster_fleet_bindings_waiting{@})'),
        query('in queues', 'max(muster_fleet_queue_waiting{@})'),
        query('let through', 'max(muster_fleet_queue_through{@})'),
      ],
    },
    {
      title: 'Bindings by result',
      page: '#/fleet',
      description: 'placed: its clusters are written. held: why it waits is written. error: again, later.',
      unit: 'ops',
      stacked: true,
      queries: [rate('result', 'muster_fleet_bindings_total')],
    },
    {
      title: 'Questions to estimators',
      description: 'failed and resting: that cluster is judged by what Karmada knows of it.',
      unit: 'ops',
      stacked: true,
      queries: [rate('result', 'muster_fleet_estimates_total')],
    },
    {
      title: 'Fleet ready',
      description: '1 where the loop of the fleet knows what is in Karmada’s API server.',
      unit: 'short',
      queries: [query('{{pod}}', 'max by (pod) (muster_fleet_ready{@})')],
    },
    {
      title: 'Preemption by result',
      description: 'What came of looks at gangs that have no room.',
      unit: 'ops',
      stacked: true,
      queries: [rate('result', 'muster_preemption_attempts_total')],
    },
    {
      title: 'Pods evicted',
      description: 'Victims for gangs of higher priority.',
      unit: 'ops',
      queries: [query('evicted', 'sum(rate(muster_preemption_victims_total{@}[$__rate_interval]))')],
    },
  ],
};

/** Metrics of replicas with a loop, so without `--no-controller`. A replica that does not lead has zeros. */
export const loopMetrics = {
  muster_loop_leading: {
    type: 'gauge',
    labels: [],
    help: '1 where the loop runs, 0 where it waits for the Lease.',
  },
  muster_loop_queue_depth: {
    type: 'gauge',
    labels: [],
    help: 'Gangs that something happened to and that wait to be looked at.',
  },
  muster_loop_queue_oldest_seconds: {
    type: 'gauge',
    labels: [],
    help: 'How long the longest of them has been waiting.',
  },
  muster_loop_longest_running_seconds: {
    type: 'gauge',
    labels: [],
    help: 'How long the longest look under way has taken so far.',
  },
  muster_loop_slots: {
    type: 'gauge',
    labels: ['controller'],
    help: 'Looks that a controller may have under way, half of them for one namespace; 0 where the loop does not run.',
  },
  muster_loop_busy_slots: {
    type: 'gauge',
    labels: ['controller'],
    help: 'Looks that it has under way.',
  },
  muster_loop_reconciles_total: {
    type: 'counter',
    labels: ['result'],
    help: 'Looks at a gang, with what was done. result: ok, outdated (somebody else had written: again), error (again, later).',
  },
  muster_loop_reconcile_duration_seconds: {
    type: 'histogram',
    labels: ['result'],
    help: 'How long a look took, with its writes.',
  },
  muster_loop_retries_total: {
    type: 'counter',
    labels: [],
    help: 'Looks put off after one that was outdated or failed.',
  },
  muster_loop_gates_removed_total: {
    type: 'counter',
    labels: [],
    help: 'Pods released to their scheduler.',
  },
  muster_loop_initialized_total: {
    type: 'counter',
    labels: [],
    help: 'Gangs marked Initialized.',
  },
  muster_loop_gang_release_seconds: {
    type: 'histogram',
    labels: [],
    help: 'From the event that makes a gang complete (again) to the API server’s answer that takes its last gate off. Without gangs that wait for a base gang.',
  },
  muster_loop_gang_unreleased_seconds: {
    type: 'histogram',
    labels: [],
    help: 'How long gangs had been complete that were deleted, or lost a Pod, before their last gate was off.',
  },
  muster_loop_oldest_unreleased_seconds: {
    type: 'gauge',
    labels: [],
    help: 'How long the gang that has been complete longest has had gates; 0 where there is none, and where the loop does not run.',
  },
  muster_loop_ungated_early_total: {
    type: 'counter',
    labels: [],
    help: 'Pods found without their gate before it was time, and not by the loop’s doing. Each is counted once.',
  },
  muster_loop_cached_objects: {
    type: 'gauge',
    labels: ['resource'],
    help: 'Objects that are watched and held in memory.',
  },
  muster_loop_namespaces_standing_still: {
    type: 'gauge',
    labels: [],
    help: 'Namespaces of which not all has room in memory: their gangs stay as they are.',
  },
  muster_loop_lists_total: {
    type: 'counter',
    labels: ['resource'],
    help: 'Whole lists read: one at start, further ones where a watch could not go on.',
  },
  muster_loop_watch_failures_total: {
    type: 'counter',
    labels: ['resource'],
    help: 'Lists and watches that failed and were begun again.',
  },
  muster_kube_requests_total: {
    type: 'counter',
    labels: ['verb', 'code'],
    help: 'Requests to the API server. code: HTTP status, or none where no answer came.',
  },
  muster_kube_request_duration_seconds: {
    type: 'histogram',
    labels: ['verb'],
    help: 'How long an answer took, of each attempt. Without watches.',
  },
  muster_kube_requests_in_flight: {
    type: 'gauge',
    labels: [],
    help: 'Requests to the API server that the loop has under way.',
  },
  muster_kube_requests_window: {
    type: 'gauge',
    labels: [],
    help: 'Requests that the loop may have under way: more while answers come in time, fewer where the API server refuses some.',
  },
  muster_kube_throttled_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'Time that requests waited for runtimeClientConnection.qps, summed up.',
  },
} as const satisfies Record<string, { type: string; labels: readonly string[]; help: string }>;

/** Metrics of the gangs and the schedulers as the watches show them. Every replica with a loop has the same numbers. */
export const gangMetrics = {
  muster_gangs: {
    type: 'gauge',
    labels: ['state'],
    help: 'Gangs by what their conditions say. state: waiting (for Pods, its backend, a base gang), released (its Pods have no gates), scheduled (every group has its minimum on nodes), ready, ended, deleting.',
  },
  muster_gangs_waiting: {
    type: 'gauge',
    labels: ['reason'],
    help: 'Gangs that wait, by the reason of the condition Initialized, or of Scheduled once they are Initialized. reason: other where there is no status yet, or another operator wrote it.',
  },
  muster_gang_oldest_waiting_seconds: {
    type: 'gauge',
    labels: ['reason'],
    help: 'How long the oldest of them has waited; 0 where there is none.',
  },
  muster_gang_oldest_unscheduled_seconds: {
    type: 'gauge',
    labels: [],
    help: 'How long the oldest gang that is released has not been scheduled; 0 where there is none.',
  },
  muster_gangs_standing_still: {
    type: 'gauge',
    labels: [],
    help: 'Gangs in namespaces of which not all has room in memory.',
  },
  muster_scheduler_oldest_unseen_seconds: {
    type: 'gauge',
    labels: ['backend_name'],
    help: 'How long a Pod without gates has been neither bound by its scheduler nor given a condition PodScheduled that says why not, of the one that waits longest; 0 where none waits.',
  },
  muster_scheduler_last_bound_timestamp_seconds: {
    type: 'gauge',
    labels: ['backend_name'],
    help: 'When this replica last saw a Pod of a gang bound, in seconds since 1970; 0 where it has seen none.',
  },
} as const satisfies Record<string, { type: string; labels: readonly string[]; help: string }>;

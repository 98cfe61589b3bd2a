/** What users notice of Muster: reviews and gangs. */
import { quantiles, query, rate, WAITING, type Row } from './panel.ts';

const GOOD_AT_0 = [
  ['green', null],
  ['red', 1],
] as const;

export const GLANCE: Row = {
  title: 'At a glance',
  panels: [
    {
      title: 'Reviews',
      description: 'Reviews that are answered a second, of all replicas.',
      unit: 'reqps',
      number: [['green', null]],
      queries: [query('reviews', 'sum(rate(muster_admission_requests_total{@}[$__rate_interval]))')],
    },
    {
      title: 'Not decided',
      description:
        'Share of the reviews that end without a decision. From 1 % on MusterReviewsFail wakes somebody.',
      unit: 'percentunit',
      number: [
        ['green', null],
        ['orange', 0.001],
        ['red', 0.01],
      ],
      queries: [
        query(
          'failed',
          'sum(rate(muster_admission_requests_total{@,outcome="failed"}[$__rate_interval])) / sum(rate(muster_admission_requests_total{@}[$__rate_interval]))',
        ),
      ],
    },
    {
      title: 'Leaders',
      description: 'Replicas that run the loop. One, always.',
      unit: 'short',
      number: [
        ['red', null],
        ['green', 1],
        ['orange', 2],
      ],
      queries: [query('leaders', 'sum(muster_loop_leading{@})')],
    },
    {
      title: 'Gangs that wait',
      page: WAITING,
      description: 'Gangs with gates on, most of them for Pods that nobody has created yet.',
      unit: 'short',
      number: [['green', null]],
      queries: [query('waiting', 'max(muster_gangs{@,state="waiting"})')],
    },
    {
      title: 'Not released for',
      page: WAITING,
      description: 'How long the gang that has been complete longest still has gates on. Seconds at most.',
      unit: 's',
      number: [
        ['green', null],
        ['orange', 10],
        ['red', 60],
      ],
      queries: [query('oldest', 'max(muster_loop_oldest_unreleased_seconds{@})')],
    },
    {
      title: 'Unready backends',
      page: '#/backends',
      description: 'Enabled backends that cannot work in this cluster: their gangs wait.',
      unit: 'short',
      number: GOOD_AT_0,
      queries: [
        query('not ready', 'count(min by (backend_name) (muster_backend_ready{@}) == 0) or vector(0)'),
      ],
    },
    {
      title: 'Scheduler silent',
      page: '#/backends',
      description: 'How long a released Pod has had no word of its scheduler.',
      unit: 's',
      number: [
        ['green', null],
        ['orange', 30],
        ['red', 180],
      ],
      queries: [query('silent', 'max(muster_scheduler_oldest_unseen_seconds{@})')],
    },
    {
      title: 'Certificate ends in',
      description: 'Until the serving certificate expires, of the replica where that is soonest.',
      unit: 's',
      number: [
        ['red', null],
        ['orange', 86_400],
        ['green', 604_800],
      ],
      queries: [query('ends in', 'min(muster_tls_not_after_seconds{@}) - time()')],
    },
  ],
};

export const ADMISSION: Row = {
  title: 'Admission',
  panels: [
    {
      title: 'Reviews by outcome',
      description:
        'patched is a Pod prepared for its scheduler, denied a mistake refused, failed a review without a decision.',
      unit: 'reqps',
      stacked: true,
      queries: [rate('outcome', 'muster_admission_requests_total')],
    },
    {
      title: 'How long a review takes',
      description: 'From its first byte to the answer. A millisecond is usual; more is CPU that is missing.',
      unit: 's',
      queries: quantiles('muster_admission_duration_seconds'),
    },
    {
      title: 'Reviews by replica',
      description: 'API servers keep connections, so a new replica gets its share within a minute or two.',
      unit: 'reqps',
      stacked: true,
      queries: [rate('pod', 'muster_admission_requests_total')],
    },
    {
      title: 'Answers other than 200',
      description:
        'By HTTP status. 503 is sent away and comes again; 500 is a defect; 4xx was no API server.',
      unit: 'reqps',
      stacked: true,
      queries: [rate('code', 'muster_http_failures_total')],
    },
    {
      title: 'Refused, by rule',
      description: 'What users do wrong: docs/reference/rules.md has the way out for each rule.',
      unit: 'reqps',
      stacked: true,
      queries: [rate('rule', 'muster_admission_refusals_total')],
    },
    {
      title: 'Reviews in flight',
      description: 'Beyond 256 a replica they are shed. Near that: more replicas.',
      unit: 'short',
      queries: [query('{{pod}}', 'max by (pod) (muster_admission_in_flight{@})')],
    },
  ],
};

export const GANGS: Row = {
  title: 'Gangs',
  panels: [
    {
      title: 'Gangs by state',
      page: '#/gangs',
      description:
        'waiting: gates on. released: with the scheduler. scheduled: enough Pods bound. ready: they run.',
      unit: 'short',
      stacked: true,
      queries: [query('{{state}}', 'max by (state) (muster_gangs{@})')],
    },
    {
      title: 'Why gangs wait',
      page: WAITING,
      description:
        'PodGangPodsCreationPending is for whoever creates the Pods; the other reasons are Muster’s or a scheduler’s.',
      unit: 'short',
      stacked: true,
      queries: [query('{{reason}}', 'max by (reason) (muster_gangs_waiting{@}) > 0')],
    },
    {
      title: 'The oldest gang that waits',
      page: WAITING,
      description:
        'Age of the oldest waiting gang by reason, and how long the oldest released one has been with its scheduler.',
      unit: 's',
      queries: [
        query('{{reason}}', 'max by (reason) (muster_gang_oldest_waiting_seconds{@}) > 0'),
        query('with its scheduler', 'max(muster_gang_oldest_unscheduled_seconds{@})'),
      ],
    },
    {
      title: 'From complete to released',
      description: 'From the last Pod of a gang to its last gate. GPUs stand idle meanwhile.',
      unit: 's',
      queries: quantiles('muster_loop_gang_release_seconds'),
    },
    {
      title: 'Pods released',
      description: 'Gates taken off a second.',
      unit: 'ops',
      queries: [query('gates', 'sum(rate(muster_loop_gates_removed_total{@}[$__rate_interval]))')],
    },
    {
      title: 'What must not be',
      description:
        'Pods without their gate too early, complete gangs that ended unreleased, gangs that stand still for lack of memory.',
      unit: 'short',
      queries: [
        query('ungated early', 'sum(increase(muster_loop_ungated_early_total{@}[$__rate_interval]))'),
        query(
          'ended unreleased',
          'sum(increase(muster_loop_gang_unreleased_seconds_count{@}[$__rate_interval]))',
        ),
        query('standing still', 'max(muster_gangs_standing_still{@})'),
      ],
    },
  ],
};

import type { GangView } from '../controller/watch/gang-view.ts';
import type { GangRecord } from '../gang/records.ts';
import { own, type JsonObject } from '../json/json.ts';
import { FieldReader, objectTitle, type Resources } from '../k8s/field-reader.ts';
import { add } from '../k8s/quantity.ts';
import { parseKubeTime } from '../k8s/time.ts';
import { podRequests } from '../preemption/read/pod-requests.ts';
import { compareText } from '../preemption/snapshot.ts';
import type { GangStatus, PodStatus } from './gang-status.ts';

/** What a gang can wait for, in the order in which it is judged. */
const TOP_REASONS = ['PodGang', 'Pods', 'Initialized', 'gates', 'scheduler', 'Ready'] as const;
export type TopReason = (typeof TOP_REASONS)[number];

export const TOP_ORDERS = ['time', 'reason', 'resources'] as const;
export type TopOrder = (typeof TOP_ORDERS)[number];

/** What a status leaves out of a Pod. */
export interface TopPod {
  readonly requests: Resources;
  /** Milliseconds since 1970 since which the Pod waits: for a bound one since it is not Ready, else since its creation. */
  readonly since: number | undefined;
}

interface TopInput {
  readonly gang: GangRecord | undefined;
  readonly status: GangStatus;
  /** By the name of the Pod. */
  readonly pods: ReadonlyMap<string, TopPod>;
}

/** A gang that waits. */
export interface TopGang {
  readonly namespace: string;
  readonly name: string;
  readonly reason: TopReason;
  /** The reason in the words of `muster status`. */
  readonly why: string;
  /** Milliseconds since 1970; undefined where it is not known. */
  readonly since: number | undefined;
  /** Pods that count: neither ending, failed nor above the number that the gang expects. */
  readonly pods: { readonly gated: number; readonly all: number };
  /** What its gated Pods ask for: GPUs, cpu and memory. */
  readonly asked: Resources;
}

export interface TopTotals {
  readonly gangs: number;
  readonly reasons: ReadonlyMap<TopReason, number>;
  readonly gatedPods: number;
  readonly asked: Resources;
  /** What nodes have free; absent where that is not known. */
  readonly free?: Resources;
  /** Of each resource the lesser of both; absent where it is not known what is free. */
  readonly idle?: Resources;
}

const WAITING: readonly PodStatus['state'][] = ['gated', 'misplaced', 'foreign', 'pending', 'starting'];
const ENDING: readonly PodStatus['state'][] = ['terminating', 'failed'];

/** The gang as a row; undefined where it waits for nothing. */
export function topGangOf({ gang, status, pods: known }: TopInput): TopGang | undefined {
  const counted = countedPods(status);
  const reason = reasonOf(status, counted);
  if (reason === undefined) return undefined;
  const waiting = counted.filter(({ state }) => WAITING.includes(state));
  const gated = counted.filter(({ state }) => state === 'gated');
  const asked = new Map<string, number>();
  for (const { name } of gated) add(asked, known.get(name)?.requests ?? new Map());
  const times = waiting.flatMap(({ name }) => known.get(name)?.since ?? []);
  return {
    namespace: status.namespace,
    name: status.name,
    reason,
    why: status.why || (waiting.find((pod) => pod.reason !== '')?.reason ?? ''),
    since: sinceOf(gang, status.summary?.initialized === true, times),
    pods: { gated: gated.length, all: counted.length },
    asked: ofInterest(asked),
  };
}

/** The live Pods of a gang, of each group as many as it expects: first those without a gate. */
function countedPods({ summary, pods }: GangStatus): PodStatus[] {
  const live = pods.filter(({ state }) => !ENDING.includes(state));
  if (summary === undefined) return live;
  const byGroup = Map.groupBy(live, ({ group }) => group);
  return summary.groups.flatMap(({ name, expected }) => {
    const some = byGroup.get(name) ?? [];
    const [gated, free] = [true, false].map((is) => some.filter(({ state }) => (state === 'gated') === is));
    return [...(free ?? []), ...(gated ?? [])].slice(0, expected);
  });
}

function reasonOf({ summary }: GangStatus, pods: readonly PodStatus[]): TopReason | undefined {
  const some = (...states: readonly PodStatus['state'][]): boolean =>
    pods.some(({ state }) => states.includes(state));
  if (summary === undefined) return some(...WAITING) ? 'PodGang' : undefined;
  const { phase, groups, initialized: formed } = summary;
  if (phase === 'Succeeded' || phase === 'Failed') return undefined;
  const isShort = groups.some(
    ({ present, expected, minReplicas }) => present < (formed ? minReplicas : expected),
  );
  if (isShort) return 'Pods';
  if (!formed) return 'Initialized';
  if (some('gated')) return 'gates';
  if (some('foreign', 'misplaced', 'pending')) return 'scheduler';
  return some('starting') || phase !== 'Running' ? 'Ready' : undefined;
}

/** A gang waits from its creation until it is formed, later since the first of its Pods that wait, or a condition turned. */
function sinceOf(gang: GangRecord | undefined, formed: boolean, pods: readonly number[]): number | undefined {
  const first = pods.length === 0 ? undefined : pods.reduce((least, at) => Math.min(least, at));
  if (gang === undefined) return first;
  if (!formed) return parseKubeTime(gang.creationTimestamp) ?? first;
  const turned = gang.conditions.find(
    ({ type, status }) => (type === 'Scheduled' || type === 'Ready') && status === 'False',
  );
  return first ?? parseKubeTime(turned?.lastTransitionTime);
}

const isGpu = (resource: string): boolean => resource.endsWith('/gpu');

/** GPUs, by name, then cpu and memory; other resources are left out. */
const ofInterest = (amounts: Resources): Resources =>
  new Map(
    [...[...amounts.keys()].filter(isGpu).sort(compareText), 'cpu', 'memory'].flatMap((resource) => {
      const count = amounts.get(resource) ?? 0;
      return count > 0 ? [[resource, count] as const] : [];
    }),
  );

/** GPUs that a Pod asks for. */
export function podGpus(pod: JsonObject): number {
  const { requests } = podRequests(own(pod, 'spec'), new FieldReader(objectTitle(pod, 'Pod')));
  return gpuCount(requests);
}

/** GPUs that the gated Pods of a gang ask for, of those that count; 0 for a gang that waits for nothing. */
export const gatedGpus = (status: GangStatus, { pods }: Pick<GangView, 'pods'>): number =>
  topReason(status) === undefined
    ? 0
    : countedPods(status)
        .filter(({ state }) => state === 'gated')
        .reduce((sum, { name }) => sum + (pods.get(status.namespace, name)?.gpus ?? 0), 0);

/** What the gang waits for; undefined where it waits for nothing. */
export const topReason = (status: GangStatus): TopReason | undefined => reasonOf(status, countedPods(status));

export const gpuCount = (amounts: Resources): number =>
  [...amounts].reduce((sum, [resource, count]) => sum + (isGpu(resource) ? count : 0), 0);

/** @param free what nodes have free; undefined where that is not known */
export function topTotals(gangs: readonly TopGang[], free: Resources | undefined): TopTotals {
  const asked = new Map<string, number>();
  for (const gang of gangs) add(asked, gang.asked);
  const gatedPods = gangs.reduce((sum, { pods }) => sum + pods.gated, 0);
  const byReason = Map.groupBy(gangs, ({ reason }) => reason);
  const totals = {
    gangs: gangs.length,
    reasons: new Map(
      TOP_REASONS.flatMap((reason) => {
        const count = byReason.get(reason)?.length ?? 0;
        return count > 0 ? [[reason, count] as const] : [];
      }),
    ),
    gatedPods,
    asked: ofInterest(asked),
  };
  // Without a gate nothing is idle because of one, whatever is free.
  if (free === undefined) return gatedPods === 0 ? { ...totals, idle: new Map() } : totals;
  const idle = [...asked].map(
    ([resource, count]) => [resource, Math.min(count, free.get(resource) ?? 0)] as const,
  );
  return { ...totals, free: ofInterest(free), idle: ofInterest(new Map(idle)) };
}

/** The longest wait, the first reason, or the most GPUs first; equal ones by their wait, then by name. */
export function topOrdered(gangs: readonly TopGang[], by: TopOrder): TopGang[] {
  const amount = (gang: TopGang, resource: string): number => gang.asked.get(resource) ?? 0;
  const keys: Readonly<Record<TopOrder, (a: TopGang, b: TopGang) => number>> = {
    time: () => 0,
    reason: (a, b) => TOP_REASONS.indexOf(a.reason) - TOP_REASONS.indexOf(b.reason),
    resources: (a, b) =>
      gpuCount(b.asked) - gpuCount(a.asked) ||
      amount(b, 'cpu') - amount(a, 'cpu') ||
      amount(b, 'memory') - amount(a, 'memory'),
  };
  const late = Number.MAX_SAFE_INTEGER;
  return gangs.toSorted(
    (a, b) =>
      keys[by](a, b) ||
      (a.since ?? late) - (b.since ?? late) ||
      compareText(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`),
  );
}

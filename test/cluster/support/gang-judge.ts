import { isDeepStrictEqual } from 'node:util';
import type { Stored, StoredGang, StoredPod, Version } from './etcd-history.ts';
import { GATE } from './registered-muster.ts';

/** What must not have happened, each as a sentence. */
export interface Broken {
  /** Pods without the gate before their gang was Initialized and named them, or before their base gang was scheduled. */
  readonly ungatedEarly: string[];
  readonly initializedTakenBack: string[];
  /** Names taken out of references though their Pod was there all the time. */
  readonly referencesLost: string[];
  /** Labels, annotations, gates and conditions of others, and fields of the spec, that a write changed. */
  readonly foreignLost: string[];
}

export interface Verdict {
  readonly broken: Broken;
  /** Pods that lost the gate. */
  readonly ungated: number;
  /** Writes of PodGangs after their creation, by name. */
  readonly gangWrites: ReadonlyMap<string, number>;
}

export const NOTHING_BROKEN: Broken = {
  ungatedEarly: [],
  initializedTakenBack: [],
  referencesLost: [],
  foreignLost: [],
};

const OURS = new Set(['Initialized', 'Scheduled', 'Ready', 'Unhealthy']);

/** The verdict on a whole history. */
export function judge(history: readonly Version[]): Verdict {
  const judging = startJudging();
  for (const version of history) judging.take(version);
  return judging.verdict();
}

export interface Judging {
  take(version: Version): void;
  /** On what was taken so far. */
  verdict(): Verdict;
}

/**
 * Reads a history, write by write, with code of its own: nothing of the loop. It holds only for tests in which
 * nobody but the loop takes away gates, and nobody takes away labels, annotations or conditions.
 */
export function startJudging(): Judging {
  const pods = new Map<string, StoredPod>();
  const gangs = new Map<string, StoredGang>();
  /** By name: the last revision at which no live Pod of that name was there. */
  const absent = new Map<string, number>();
  /** By `gang/Pod`: the revision at which the gang last began to name the Pod. */
  const namedSince = new Map<string, number>();
  /** uids of gangs that were scheduled once. */
  const scheduled = new Set<string>();
  const gangWrites = new Map<string, number>();
  let ungated = 0;
  const broken: Broken = structuredClone(NOTHING_BROKEN);

  const takePod = (name: string, revision: number, pod: StoredPod | undefined): void => {
    const before = pods.get(name);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) absent.set(name, revision);
    if (pod === undefined) {
      pods.delete(name);
      return;
    }
    pods.set(name, pod);
    const same = before?.metadata.uid === pod.metadata.uid ? before : undefined;
    if (before !== undefined && same === undefined) absent.set(name, revision);
    if (same !== undefined) broken.foreignLost.push(...lost(same, pod, gates(same), gates(pod)));
    const gangName = pod.metadata.labels?.['grove.io/podgang'];
    if (gangName === undefined) return;
    if (same === undefined ? !isGated(pod) : isGated(same) && !isGated(pod)) {
      ungated += 1;
      const why = notYet(pod, gangs.get(gangName)) ?? baseNotYet(pod);
      if (why !== undefined) broken.ungatedEarly.push(`${name} at ${revision}: ${why}`);
    }
    const gang = gangs.get(gangName);
    if (gang !== undefined && isScheduled(gang)) scheduled.add(gang.metadata.uid);
  };

  const takeGang = (name: string, revision: number, gang: StoredGang | undefined): void => {
    const before = gangs.get(name);
    if (gang === undefined) {
      gangs.delete(name);
      return;
    }
    gangs.set(name, gang);
    const same = before?.metadata.uid === gang.metadata.uid ? before : undefined;
    const old = same === undefined ? new Set<string>() : references(same);
    const now = references(gang);
    for (const pod of now) if (!old.has(pod)) namedSince.set(`${name}/${pod}`, revision);
    if (same === undefined) return;
    gangWrites.set(name, (gangWrites.get(name) ?? 0) + 1);
    if (isInitialized(same) && !isInitialized(gang))
      broken.initializedTakenBack.push(`${name} at ${revision}`);
    for (const pod of old) {
      const since = namedSince.get(`${name}/${pod}`) ?? 0;
      const gone = pods.get(pod)?.metadata.deletionTimestamp !== undefined || !pods.has(pod);
      if (now.has(pod) || gone || (absent.get(pod) ?? 0) > since) continue;
      broken.referencesLost.push(`${pod} by ${name} at ${revision}`);
    }
    broken.foreignLost.push(...lost(same, gang, foreignConditions(same), foreignConditions(gang)));
    if (!isDeepStrictEqual(bareSpec(same), bareSpec(gang)))
      broken.foreignLost.push(`${name} at ${revision}: its spec was changed`);
  };

  const members = (gang: StoredGang): StoredPod[] =>
    Array.from(pods.values()).filter(
      ({ metadata }) => metadata.labels?.['grove.io/podgang'] === gang.metadata.name,
    );
  const isScheduled = (gang: StoredGang): boolean => {
    if (scheduled.has(gang.metadata.uid)) return true;
    const bound = members(gang).filter(({ spec }) => spec.nodeName !== undefined);
    return gang.spec.podgroups.every(
      ({ name, minReplicas }) =>
        bound.filter(({ metadata }) => metadata.labels?.['grove.io/podclique'] === name).length >=
        minReplicas,
    );
  };
  const baseNotYet = (pod: StoredPod): string | undefined => {
    const base = pod.metadata.labels?.['grove.io/base-podgang'];
    if (base === undefined) return undefined;
    const gang = gangs.get(base);
    return gang !== undefined && scheduled.has(gang.metadata.uid) ? undefined : `${base} is not scheduled`;
  };

  return {
    take: (version) => {
      if (version.kind === 'pod') takePod(version.name, version.revision, version.object);
      else takeGang(version.name, version.revision, version.object);
    },
    verdict: () => ({ broken, ungated, gangWrites }),
  };
}

/** Why this Pod must not be without the gate; undefined where it may. */
function notYet(pod: StoredPod, gang: StoredGang | undefined): string | undefined {
  if (gang === undefined) return 'there is no gang';
  if (!isInitialized(gang)) return 'the gang is not Initialized';
  const group = gang.spec.podgroups.find(({ name }) => name === pod.metadata.labels?.['grove.io/podclique']);
  const named = group?.podReferences?.some(({ name }) => name === pod.metadata.name) === true;
  return named ? undefined : 'the gang does not name it';
}

/** What of the first is not in the second, of that which belongs to others. */
function lost(
  before: Stored,
  after: Stored,
  own: ReadonlyMap<string, unknown>,
  ownAfter: ReadonlyMap<string, unknown>,
): string[] {
  const maps = [
    ['label', entries(before.metadata.labels), entries(after.metadata.labels)],
    ['annotation', entries(before.metadata.annotations), entries(after.metadata.annotations)],
    ['gate or condition', own, ownAfter],
  ] as const;
  return maps.flatMap(([what, old, now]) =>
    [...old]
      .filter(([key, value]) => !isDeepStrictEqual(now.get(key), value))
      .map(([key]) => `${after.metadata.name}: ${what} ${key}`),
  );
}

const entries = (map: Readonly<Record<string, string>> = {}): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(map));
const gates = (pod: StoredPod): ReadonlyMap<string, unknown> =>
  new Map((pod.spec.schedulingGates ?? []).filter(({ name }) => name !== GATE).map((one) => [one.name, one]));
const foreignConditions = (gang: StoredGang): ReadonlyMap<string, unknown> =>
  new Map(
    (gang.status?.conditions ?? []).filter(({ type }) => !OURS.has(type)).map((one) => [one.type, one]),
  );
const bareSpec = (gang: StoredGang): unknown => ({
  ...gang.spec,
  podgroups: gang.spec.podgroups.map((group) => ({ ...group, podReferences: [] })),
});
const references = (gang: StoredGang): Set<string> =>
  new Set(gang.spec.podgroups.flatMap(({ podReferences = [] }) => podReferences.map(({ name }) => name)));
export const isGated = (pod: StoredPod): boolean =>
  pod.spec.schedulingGates?.some(({ name }) => name === GATE) === true;
export const isInitialized = (gang: StoredGang): boolean =>
  gang.status?.conditions?.some(({ type, status }) => type === 'Initialized' && status === 'True') === true;

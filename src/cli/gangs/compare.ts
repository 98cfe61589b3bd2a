import {
  LABEL_BASE_POD_GANG,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
} from '../../api/names.ts';
import { nearestKey } from '../../text/nearest-key.ts';
import { keyed, printable, quoted } from '../../text/printable.ts';
import type { NoticeName } from './notices.ts';

/** A PodGang of the input; `At` identifies its position in the input. */
export interface GivenGang<At> {
  readonly namespace: string;
  readonly name: string;
  readonly scheduler: string | undefined;
  readonly groups: readonly { readonly name: string; readonly minReplicas: number }[];
  readonly at: At;
}

/** The Pods and Pod templates of the input that name one gang and one group. */
export interface GivenPods<At> {
  readonly namespace: string;
  readonly gang: string;
  readonly group: string;
  readonly baseGang: string | undefined;
  readonly scheduler: string | undefined;
  /** Number of Pods; undefined where it is not known. */
  readonly count: number | undefined;
  readonly oneByOne: { readonly field: string; readonly instead: string } | undefined;
  readonly at: At;
}

/** A mismatch between several objects, reported at one of them. */
export interface Mismatch<At> {
  readonly rule: NoticeName;
  readonly at: At;
  /** Path in the Pod or below its template; for `oneByOne` in the workload, for groups in the PodGang. */
  readonly path: string;
  readonly about: string;
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;
const LABELS = 'metadata.labels';

/** Names that differ in numbers alone are no misspellings of each other. */
const numberless = (name: string): string => name.replaceAll(/\d+/g, '#');
/** Above this number no similar name is suggested, since the search compares every pair. */
const MOST_MEASURED = 500;

/** Compares the groups, counts and labels of all PodGangs with those of all Pods. */
export function compareGangs<At>(
  gangs: readonly GivenGang<At>[],
  pods: readonly GivenPods<At>[],
): Mismatch<At>[] {
  const byKey = new Map(gangs.map((gang) => [keyOf(gang.namespace, gang.name), gang]));
  const members = Map.groupBy(pods, ({ namespace, gang }) => keyOf(namespace, gang));
  const empty = gangs.filter(({ namespace, name }) => !members.has(keyOf(namespace, name)));
  const found: Mismatch<At>[] = [];
  const absent = new Map<string, { at: At; path: string }>();
  for (const [key, buckets] of members) {
    const gang = byKey.get(key);
    if (gang === undefined) missingGang(buckets, gangs, empty, found, absent);
    else found.push(...compareGang(gang, buckets));
  }
  for (const bucket of pods) {
    const { baseGang, namespace, at } = bucket;
    if (baseGang === undefined || byKey.has(keyOf(namespace, baseGang))) continue;
    absent.set(keyOf(namespace, baseGang), { at, path: keyed(LABELS, LABEL_BASE_POD_GANG) });
  }
  const [first] = absent.values();
  if (first !== undefined) {
    const names = [...absent.keys()].slice(0, 3).map((name) => `PodGang ${name}`);
    const more = absent.size - names.length;
    const about = more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`;
    found.push({ rule: 'GangNotGiven', ...first, about });
  }
  return found;
}

function missingGang<At>(
  buckets: readonly GivenPods<At>[],
  gangs: readonly GivenGang<At>[],
  empty: readonly GivenGang<At>[],
  found: Mismatch<At>[],
  absent: Map<string, { at: At; path: string }>,
): void {
  const [first] = buckets;
  if (first === undefined) return;
  const { namespace, gang: name, at } = first;
  const path = keyed(LABELS, LABEL_POD_GANG);
  const elsewhere = gangs.find((gang) => gang.name === name);
  if (elsewhere !== undefined) {
    const about = `PodGang ${keyOf(elsewhere.namespace, name)}, Pods in ${namespace}`;
    found.push({ rule: 'GangElsewhere', at, path, about });
    return;
  }
  const others = empty.filter(
    (gang) => gang.namespace === namespace && numberless(gang.name) !== numberless(name),
  );
  const meant =
    others.length > MOST_MEASURED
      ? undefined
      : nearestKey(
          name,
          others.map((gang) => gang.name),
        );
  if (meant === undefined) absent.set(keyOf(namespace, name), { at, path });
  else found.push({ rule: 'GangMisnamed', at, path, about: `${quoted(name)} (did you mean "${meant}"?)` });
}

function compareGang<At>(gang: GivenGang<At>, buckets: readonly GivenPods<At>[]): Mismatch<At>[] {
  const found: Mismatch<At>[] = [];
  const names = gang.groups.map(({ name }) => name);
  const title = `PodGang ${keyOf(gang.namespace, gang.name)}`;
  /**
   * Pods by the group that they probably mean: a misspelt group is reported once, and its Pods count for the similar name.
   */
  const meant = new Map<string, GivenPods<At>[]>();
  for (const bucket of buckets) {
    let { group } = bucket;
    if (!names.includes(group)) {
      const near = nearestKey(group, names);
      const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
      const about = `${quoted(group)}${hint}, ${title} has ${printable(names.join(', ') || 'none', 120)}`;
      found.push({ rule: 'GroupUnknown', at: bucket.at, path: keyed(LABELS, LABEL_POD_CLIQUE), about });
      group = near ?? group;
    }
    meant.getOrInsert(group, []).push(bucket);
    if (
      bucket.scheduler !== undefined &&
      gang.scheduler !== undefined &&
      bucket.scheduler !== gang.scheduler
    ) {
      const about = `${quoted(bucket.scheduler)}, ${title} has ${quoted(gang.scheduler)}`;
      found.push({
        rule: 'SchedulersDiffer',
        at: bucket.at,
        path: keyed(LABELS, LABEL_SCHEDULER_NAME),
        about,
      });
    }
  }
  for (const [index, { name, minReplicas }] of gang.groups.entries()) {
    const own = meant.get(name) ?? [];
    const path = `spec.podgroups[${index}]`;
    const counts = own.map(({ count }) => count);
    const total = counts.includes(undefined)
      ? Infinity
      : counts.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    if (own.length === 0 && minReplicas > 0) {
      found.push({ rule: 'GroupWithoutPods', at: gang.at, path, about: quoted(name) });
    } else if (total < minReplicas) {
      const about = `${quoted(name)} needs ${minReplicas}, the input has ${total}`;
      found.push({ rule: 'GroupTooSmall', at: gang.at, path: `${path}.minReplicas`, about });
    }
    for (const { oneByOne, at, count } of own) {
      if (oneByOne === undefined || (count ?? 0) < 2 || minReplicas < 2) continue;
      const about = `write ${oneByOne.instead}`;
      found.push({ rule: 'PodsOneByOne', at, path: oneByOne.field, about });
    }
  }
  return found;
}

import {
  LABEL_BASE_POD_GANG,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
} from '../../api/names.ts';
import { nearestKey } from '../../text/nearest-key.ts';
import { keyed, printable, quoted } from '../../text/printable.ts';
import type { NoticeName } from './notices.ts';

/** A PodGang of the input. `At` is whatever leads back to the place that it has there. */
export interface GivenGang<At> {
  readonly namespace: string;
  readonly name: string;
  readonly scheduler: string | undefined;
  readonly groups: readonly { readonly name: string; readonly minReplicas: number }[];
  readonly at: At;
}

/** The Pods of the input that name one gang and one group: Pods themselves, and those of templates. */
export interface GivenPods<At> {
  readonly namespace: string;
  readonly gang: string;
  readonly group: string;
  readonly baseGang: string | undefined;
  readonly scheduler: string | undefined;
  /** undefined where nobody can say. */
  readonly count: number | undefined;
  readonly oneByOne: { readonly field: string; readonly instead: string } | undefined;
  readonly at: At;
}

/** What is wrong between several objects, told of one of them. */
export interface Mismatch<At> {
  readonly rule: NoticeName;
  readonly at: At;
  /** Of the Pod, for a template below that; of the workload for `oneByOne`; of the PodGang for its groups. */
  readonly path: string;
  readonly about: string;
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;
const LABELS = 'metadata.labels';

/** Names that differ in their numbers only are meant to differ. */
const numberless = (name: string): string => name.replaceAll(/\d+/g, '#');
/** Above that the nearest of all names is not looked for: every pair is measured. */
const MOST_MEASURED = 500;

/** Groups, counts and labels of all PodGangs and Pods, held against each other. A pure function of both lists. */
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
  /** By the group that is meant: a misspelt one is told of once, and its Pods are counted all the same. */
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

import { isObject, own, ownString, type JsonObject } from '../../json/json.ts';
import { LABEL_POD_GANG } from '../../api/names.ts';
import { MusterError } from '../../errors.ts';
import { sparing } from '../../preemption/plan-within-budgets.ts';
import { preemptorOf, type Preemptor } from '../../preemption/preemptor.ts';
import { carefulSnapshot } from '../../preemption/read/read-snapshot.ts';
import { readSnapshotPod, hasPodEnded } from '../../preemption/read/read-pod.ts';
import { FieldReader, objectTitle, type ObjectFault } from '../../k8s/field-reader.ts';
import { namespacedKey, type Pod, type Snapshot } from '../../preemption/snapshot.ts';
import type { PreemptionUnit } from '../../preemption/units.ts';
import { BEHAVIOUR, variantOfGroups, type Variant } from '../../preemption/variants.ts';
import { podsOf, withMadeGangs, withPreviewedPods } from './plan-objects.ts';

/** The preemptor, and the cluster to plan in. */
export interface Wanted {
  readonly preemptor: Preemptor;
  readonly snapshot: Snapshot;
  /** Whether a unit may be evicted: not if its objects are unreadable, nor from an exempt namespace. */
  readonly mayGo: (unit: PreemptionUnit) => boolean;
  /** Notes about the snapshot, and its objects that are left out. */
  readonly warnings: readonly string[];
}

/**
 * The preemptor and the snapshot from the objects of the input.
 * @param given.wanted the objects of `-f`: a PodGang with its Pods or workloads, or these alone
 * @param given.cluster the objects of the snapshot
 * @throws MusterError INPUT_UNREADABLE, SNAPSHOT_INVALID
 */
export function wantedOf(given: {
  readonly wanted: readonly JsonObject[];
  readonly cluster: readonly JsonObject[];
  readonly variant: Variant;
  readonly namespace: string;
  /** PriorityClass that replaces the one of the gang or the Pods. */
  readonly priorityClass: string | undefined;
  /** Namespaces from which Muster never evicts; a scheduler has no such exemption. */
  readonly exemptNamespaces: readonly string[];
}): Wanted {
  const { variant, namespace, priorityClass } = given;
  const whole = withPreviewedPods(withMadeGangs(given.wanted, namespace), namespace);
  const wanted = priorityClass === undefined ? whole : whole.map((one) => withClass(one, priorityClass));
  // An object of `-f` replaces the snapshot's object of the same name.
  const ours = new Set(wanted.map((object) => placeOf(object, namespace)));
  const cluster = given.cluster.filter(
    (object) => own(object, 'kind') === 'Pod' || !ours.has(placeOf(object, namespace)),
  );
  const { snapshot, faults, warnings, context, isClear } = carefulSnapshot(
    [...cluster, ...wanted],
    namespace,
  );
  const unusable = faults.filter(({ object }) => /^(?:Node|Pod) /.test(object));
  if (snapshot.nodes.length === 0 && unusable.length > 0) throw invalid(unusable);
  if (snapshot.nodes.length === 0)
    throw new MusterError(
      'SNAPSHOT_INVALID',
      'there is no Node in the snapshot',
      'give one that holds the nodes: muster snapshot > cluster.json, or kubectl get nodes,pods -A -o json',
    );
  const wrong: ObjectFault[] = [];
  const read = (object: JsonObject): Pod => {
    const reading = new FieldReader(objectTitle(object, 'Pod'));
    const pod = readSnapshotPod(object, context, reading);
    wrong.push(...reading.faults);
    return pod;
  };
  const here = new Set(snapshot.pods.map(({ key }) => key));
  const asked = wanted.flatMap((object) => podsOf(object, namespace)).map(read);
  const gangs = wanted.filter((object) => own(object, 'kind') === 'PodGang');
  const pods = uniqueByKey(asked.length > 0 ? asked : waitingOf(gangs, cluster, namespace).map(read)).filter(
    ({ key, nodeName }) => nodeName === '' && !here.has(key),
  );
  const titles = new Set([
    ...wanted.map((object) => objectTitle(object)),
    ...pods.flatMap(({ namespace: at, gang, podGroup }) => [
      `PodGang ${namespacedKey(at, gang)}`,
      `PodGroup ${namespacedKey(at, podGroup)}`,
    ]),
  ]);
  wrong.push(...faults.filter(({ object }) => titles.has(object)));
  if (wrong.length > 0) throw invalid(wrong);
  const names = new Set(
    pods.map(({ namespace: at, gang, podGroup, name }) => {
      if (gang !== '') return namespacedKey(at, gang);
      return snapshot.podGroups.has(namespacedKey(at, podGroup))
        ? `PodGroup ${at}/${podGroup}`
        : `Pod ${at}/${name}`;
    }),
  );
  const ofGrove = wanted.find((object) => own(object, 'kind') === 'PodCliqueSet');
  if (names.size === 0 && ofGrove !== undefined) throw madeByGrove(ofGrove);
  if (names.size !== 1) throw notOne([...names], gangs.length > 0);
  return {
    preemptor: preemptorOf(pods, snapshot, variant),
    snapshot,
    mayGo: sparing(BEHAVIOUR[variant].scheduler === undefined ? given.exemptNamespaces : [], isClear),
    warnings: [...otherVariant(given.cluster, variant), ...warnings, ...leftOut(faults)],
  };
}

/** Pods of these gangs that are in the snapshot and have no node. */
function waitingOf(
  gangs: readonly JsonObject[],
  cluster: readonly JsonObject[],
  namespace: string,
): JsonObject[] {
  const wanted = new Set(gangs.map((gang) => nameOf(gang, namespace)));
  return cluster.filter((object) => {
    if (own(object, 'kind') !== 'Pod' || hasPodEnded(object)) return false;
    const gang = ownString(own(own(object, 'metadata'), 'labels'), LABEL_POD_GANG);
    return wanted.has(keyIn(object, namespace, gang));
  });
}

/** `namespace/name` with the namespace of an object. */
const keyIn = (object: JsonObject, namespace: string, name = ''): string =>
  namespacedKey(ownString(own(object, 'metadata'), 'namespace') || namespace, name);

const nameOf = (object: JsonObject, namespace: string): string =>
  keyIn(object, namespace, ownString(own(object, 'metadata'), 'name'));

const placeOf = (object: JsonObject, namespace: string): string =>
  `${ownString(object, 'kind') ?? ''} ${nameOf(object, namespace)}`;

const uniqueByKey = (pods: readonly Pod[]): Pod[] => [...new Map(pods.map((pod) => [pod.key, pod])).values()];

function withClass(object: JsonObject, priorityClassName: string): JsonObject {
  const spec = own(object, 'spec');
  const kind = own(object, 'kind');
  if ((kind !== 'Pod' && kind !== 'PodGang') || !isObject(spec)) return object;
  // The PriorityClass determines both fields.
  const rest = Object.entries(spec).filter(([field]) => field !== 'priority' && field !== 'preemptionPolicy');
  return { ...object, spec: { ...Object.fromEntries(rest), priorityClassName } };
}

const invalid = (faults: readonly ObjectFault[]): MusterError =>
  new MusterError(
    'SNAPSHOT_INVALID',
    faults.map(({ object, field, message }) => `${object}: ${field}: ${message}`).join('\n'),
    'correct these objects, or take the snapshot again: without them there is nothing to plan',
  );

const madeByGrove = (object: JsonObject): MusterError =>
  new MusterError(
    'INPUT_UNREADABLE',
    `${objectTitle(object)}: the Grove operator makes PodGangs and Pods of it, and only these can be planned for`,
    'give one of its PodGangs with its Pods: kubectl get podgangs,pods -o yaml',
  );

function notOne(names: readonly string[], hasGang: boolean): MusterError {
  if (names.length === 0)
    return new MusterError(
      'INPUT_UNREADABLE',
      hasGang
        ? 'the PodGang has no Pod that waits for a node'
        : 'there is no Pod in it that waits for a node',
      'give the Pods of the gang, or the workload that makes them, after -f as well',
    );
  return new MusterError(
    'INPUT_UNREADABLE',
    `room is planned for one gang or one Pod at a time; found ${names.slice(0, 5).sort().join(', ')}`,
    'give one of them after -f',
  );
}

/** Left out objects that are listed. */
const MOST_TOLD = 5;

/** The consequence of an unreadable object in the snapshot, by its kind. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['Node', 'it takes nobody here'],
  ['Pod', 'its node takes nobody here'],
  ['PodDisruptionBudget', 'nobody of its namespace is touched here'],
  ['PodGang', 'its Pods are left alone here'],
  ['PodGroup', 'its Pods are left alone here'],
]);

/** One line for each object, and one with the number of the others. */
export function leftOut(faults: readonly ObjectFault[]): string[] {
  const byObject = new Map<string, ObjectFault>();
  for (const fault of faults) byObject.getOrInsert(fault.object, fault);
  const told = [...byObject.values()].slice(0, MOST_TOLD).map((fault) => {
    const { object, field, message } = fault;
    return `${object}: ${field}: ${message}; until then ${insteadOf(fault)}`;
  });
  const more = byObject.size - told.length;
  if (more > 0)
    told.push(`${more} more ${more === 1 ? 'object' : 'objects'} that cannot be counted with, treated alike`);
  return told;
}

function insteadOf({ object }: ObjectFault): string {
  const [kind = ''] = object.split(' ', 1);
  return INSTEAD.get(kind) ?? 'it counts as not there';
}

/** A warning where the cluster's scheduler itself preempts for gangs, by another variant than the requested one. */
function otherVariant(cluster: readonly JsonObject[], variant: Variant): string[] {
  for (const object of cluster) {
    if (ownString(object, 'kind') !== 'PodGroup') continue;
    const apiVersion = ownString(object, 'apiVersion') ?? '';
    const theirs = variantOfGroups(apiVersion);
    if (theirs === undefined || theirs === variant) continue;
    return [
      `there are PodGroups of ${apiVersion}, for which kube-scheduler preempts by itself: --variant ${theirs} tells what it does`,
    ];
  }
  return [];
}

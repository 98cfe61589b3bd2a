import { own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { parseGroupVersion } from '../../k8s/resource.ts';
import { POD_GANG_API_VERSION } from '../../api/names.ts';
import { readPriorityClass, type PriorityClass } from '../../api/priority-class.ts';
import {
  compareText,
  namespacedKey,
  type DisruptionBudget,
  type Node,
  type NodeSelectorTerm,
  type Snapshot,
} from '../snapshot.ts';
import { nodeSelectorTermOf } from './pod-constraints.ts';
import { readSnapshotGang, readNativeGroup } from './read-gang.ts';
import { holdsPlace, readSnapshotPod, SharedByTemplate, type PodContext } from './read-pod.ts';
import { taintOf } from '../../k8s/taints.ts';
import { labelsOf, FieldReader, objectTitle, type ObjectFault } from '../../k8s/field-reader.ts';
import type { PreemptionUnit } from '../units.ts';

/** The kinds that a snapshot consists of, each with the API versions that are read. */
const SNAPSHOT_KINDS: Readonly<Record<string, readonly string[]>> = {
  Node: ['v1'],
  Pod: ['v1'],
  Namespace: ['v1'],
  PersistentVolume: ['v1'],
  PersistentVolumeClaim: ['v1'],
  PodDisruptionBudget: ['policy/v1'],
  PriorityClass: ['scheduling.k8s.io/v1'],
  PodGang: [POD_GANG_API_VERSION],
  PodGroup: [
    'scheduling.k8s.io/v1alpha2',
    'scheduling.k8s.io/v1alpha3',
    'scheduling.k8s.io/v1beta1',
    'scheduling.k8s.io/v1',
  ],
};

export interface ReadSnapshot {
  readonly snapshot: Snapshot;
  readonly faults: readonly ObjectFault[];
  /** Oddities of the objects that do not stop a plan. */
  readonly warnings: readonly string[];
  /** The context in which Pods of a gang that are not in the snapshot are read. */
  readonly context: PodContext;
}

/**
 * Builds a snapshot from the objects of a cluster, in any order. Objects of other kinds are ignored.
 * @param namespace the namespace of objects that name none
 */
export function readSnapshot(objects: Iterable<JsonObject>, namespace = 'default'): ReadSnapshot {
  const faults: ObjectFault[] = [];
  const warnings: string[] = [];
  const byKind = new Map<string, JsonObject[]>();
  for (const object of objects) sort(object, byKind, faults);
  const each = <T>(kind: string, read: (object: JsonObject, reading: FieldReader) => T): T[] =>
    (byKind.get(kind) ?? []).map((object) => {
      const reading = new FieldReader(objectTitle(object, kind));
      const value = read(object, reading);
      faults.push(...reading.faults);
      return value;
    });

  const classes = new Map(
    each('PriorityClass', readClass)
      .flat()
      .map((one) => [one.name, one]),
  );
  const claims = boundClaims(byKind.get('PersistentVolume') ?? [], byKind.get('PersistentVolumeClaim') ?? []);
  const context: PodContext = { classes, claims, namespace, shared: new SharedByTemplate() };
  const nodes = each('Node', readNode).sort((a, b) => compareText(a.name, b.name));
  for (const { name, allocatable } of nodes)
    if (allocatable.size === 0) warnings.push(`node ${name} has no status.allocatable: no Pod fits it`);
  const snapshot: Snapshot = {
    nodes,
    pods: each('Pod', (object, reading) =>
      holdsPlace(object) ? [readSnapshotPod(object, context, reading)] : [],
    )
      .flat()
      .sort((a, b) => compareText(a.key, b.key))
      // An object may stand in two files: the later one counts.
      .filter(({ key }, index, sorted) => sorted[index + 1]?.key !== key),
    budgets: each('PodDisruptionBudget', readBudget).sort((a, b) =>
      compareText(namespacedKey(a.namespace, a.name), namespacedKey(b.namespace, b.name)),
    ),
    classes,
    gangs: byKey(each('PodGang', (object, reading) => readSnapshotGang(object, context, reading))),
    podGroups: byKey(each('PodGroup', (object, reading) => readNativeGroup(object, context, reading))),
    namespaces: new Map(
      (byKind.get('Namespace') ?? []).map((one) => {
        const metadata = own(one, 'metadata');
        return [ownString(metadata, 'name') ?? '', labelsOf(own(metadata, 'labels'))];
      }),
    ),
  };
  return { snapshot, faults, warnings, context };
}

function sort(object: JsonObject, byKind: Map<string, JsonObject[]>, faults: ObjectFault[]): void {
  const [kind = '', version = ''] = [ownString(object, 'kind'), ownString(object, 'apiVersion')];
  const versions = Object.hasOwn(SNAPSHOT_KINDS, kind) ? (SNAPSHOT_KINDS[kind] ?? []) : [];
  const { group } = parseGroupVersion(version);
  if (versions.includes(version)) {
    byKind.getOrInsert(kind, []).push(object);
  } else if (versions.some((one) => parseGroupVersion(one).group === group)) {
    const wanted = versions.length === 1 ? versions[0] : `one of ${versions.join(', ')}`;
    faults.push({
      object: objectTitle(object, kind),
      field: 'apiVersion',
      message: `version ${version} is not read; take the snapshot as ${wanted ?? ''}`,
    });
  }
}

const byKey = <T extends { readonly namespace: string; readonly name: string }>(
  all: readonly T[],
): Map<string, T> => new Map(all.map((one) => [namespacedKey(one.namespace, one.name), one]));

/**
 * Reads a PriorityClass. The value is for the API server to check, since a file may contain anything; a class without a
 * value is left out.
 */
function readClass(object: JsonObject, reading: FieldReader): PriorityClass[] {
  const value = reading.integer(own(object, 'value'), 'value', 0);
  return reading.faults.length > 0 ? [] : [{ ...readPriorityClass(object), value }];
}

function readNode(object: JsonObject, reading: FieldReader): Node {
  const metadata = own(object, 'metadata');
  const spec = own(object, 'spec');
  const status = own(object, 'status');
  const field = own(status, 'allocatable') === undefined ? 'capacity' : 'allocatable';
  return {
    name: ownString(metadata, 'name') ?? '',
    labels: labelsOf(own(metadata, 'labels')),
    unschedulable: own(spec, 'unschedulable') === true,
    taints: (ownList(spec, 'taints') ?? []).map(taintOf),
    allocatable: reading.resources(own(status, field), `status.${field}`),
  };
}

function readBudget(object: JsonObject, reading: FieldReader): DisruptionBudget {
  const metadata = own(object, 'metadata');
  const status = own(object, 'status');
  const disrupted = own(status, 'disruptedPods');
  return {
    namespace: ownString(metadata, 'namespace') ?? '',
    name: ownString(metadata, 'name') ?? '',
    selector: reading.selector(own(own(object, 'spec'), 'selector'), 'spec.selector'),
    disruptionsAllowed: reading.integer(own(status, 'disruptionsAllowed'), 'status.disruptionsAllowed', 0),
    disrupted: new Set(typeof disrupted === 'object' && disrupted !== null ? Object.keys(disrupted) : []),
  };
}

/** The node terms of bound claims' volumes, for claims whose volume only some nodes can reach. */
function boundClaims(
  volumes: readonly JsonObject[],
  claims: readonly JsonObject[],
): Map<string, readonly NodeSelectorTerm[]> {
  const terms = new Map<string, readonly NodeSelectorTerm[]>();
  for (const volume of volumes) {
    const required = own(own(own(volume, 'spec'), 'nodeAffinity'), 'required');
    const list: readonly Json[] | undefined = ownList(required, 'nodeSelectorTerms');
    if (list !== undefined)
      terms.set(ownString(own(volume, 'metadata'), 'name') ?? '', list.map(nodeSelectorTermOf));
  }
  const bound = new Map<string, readonly NodeSelectorTerm[]>();
  for (const claim of claims) {
    const metadata = own(claim, 'metadata');
    const found = terms.get(ownString(own(claim, 'spec'), 'volumeName') ?? '');
    if (found !== undefined)
      bound.set(
        namespacedKey(ownString(metadata, 'namespace') ?? '', ownString(metadata, 'name') ?? ''),
        found,
      );
  }
  return bound;
}

/** A snapshot to plan with although some of its objects cannot be read. */
export interface CarefulSnapshot extends ReadSnapshot {
  /** Whether everything that decides about the unit could be read. A unit that is not clear must not be evicted. */
  readonly isClear: (unit: PreemptionUnit) => boolean;
}

/**
 * Builds a snapshot from objects of which some may be unreadable, so that one faulty object does not stop all plans. Faulty
 * budgets and PodGroups are left out. A node that is faulty, or has a faulty Pod, takes no Pods, since its free capacity is
 * unknown. Whoever evicts by the plan must spare the Pods of a faulty gang, and all Pods in the namespace of a faulty
 * budget.
 * @param namespace the namespace of objects that name none
 */
export function carefulSnapshot(objects: readonly JsonObject[], namespace?: string): CarefulSnapshot {
  const first = readSnapshot(objects, namespace);
  const { faults } = first;
  if (faults.length === 0) return { ...first, isClear: () => true };
  const wrong = new Set(faults.map(({ object }) => object));
  const [nodes, groups, namespaces] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const object of objects) {
    const kind = ownString(object, 'kind') ?? '';
    if (!wrong.has(objectTitle(object, kind))) continue;
    const metadata = own(object, 'metadata');
    const [name = '', at = ''] = [ownString(metadata, 'name'), ownString(metadata, 'namespace')];
    if (kind === 'Node') nodes.add(name);
    else if (kind === 'Pod') nodes.add(ownString(own(object, 'spec'), 'nodeName') ?? '');
    else if (kind === 'PodDisruptionBudget') namespaces.add(at);
    else groups.add(namespacedKey(at, name));
  }
  const known = objects.filter((object) => {
    const kind = ownString(object, 'kind') ?? '';
    if (kind === 'Node') return !nodes.has(ownString(own(object, 'metadata'), 'name') ?? '');
    return !LEFT_OUT.has(kind) || !wrong.has(objectTitle(object, kind));
  });
  return {
    ...readSnapshot(known, namespace),
    faults,
    isClear: ({ pods }) =>
      pods.every(
        ({ namespace: at, gang, podGroup }) =>
          !namespaces.has(at) &&
          !groups.has(namespacedKey(at, gang)) &&
          !groups.has(namespacedKey(at, podGroup)),
      ),
  };
}

/**
 * Kinds of which a half-read object would mislead. A half-read PodGang stays: it still says whether its Pods are disrupted
 * together.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['PodDisruptionBudget', 'PodGroup']);

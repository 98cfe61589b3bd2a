import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
  DISRUPTION_MODES,
  PREEMPTION_POLICIES,
  type DisruptionMode,
} from '../../api/preemption-terms.ts';
import { quoted } from '../../text/printable.ts';
import { defaultClass, letsGangsPreempt, mayCost, type PriorityClass } from '../../api/priority-class.ts';
import type { Gang, NativeGroup, Scope, Topology } from '../snapshot.ts';
import { stringsOf, type FieldReader } from '../../k8s/field-reader.ts';

/** Reads a PodGang. */
export function readSnapshotGang(
  object: JsonObject,
  { classes, namespace }: { classes: ReadonlyMap<string, PriorityClass>; namespace: string },
  reading: FieldReader,
): Gang {
  const metadata = own(object, 'metadata');
  const spec = own(object, 'spec');
  const annotation = (key: string): string | undefined => ownString(own(metadata, 'annotations'), key);
  const { scheduling, preemptionPriority } = readPriority(
    ownString(spec, 'priorityClassName') || undefined,
    annotation(ANNOTATION_PREEMPTION_PRIORITY_CLASS),
    classes,
    reading,
  );
  const policy = oneOf(annotation, ANNOTATION_PREEMPTION_POLICY, PREEMPTION_POLICIES, reading);
  return {
    namespace: ownString(metadata, 'namespace') || namespace,
    name: ownString(metadata, 'name') ?? '',
    mode: oneOf(annotation, ANNOTATION_DISRUPTION_MODE, DISRUPTION_MODES, reading) ?? 'Pod',
    priority: scheduling?.value,
    preemptionPriority,
    preempts: policy !== 'Never' && (scheduling === undefined || letsGangsPreempt(scheduling)),
    className: scheduling?.name ?? '',
    groups: (ownList(spec, 'podgroups') ?? []).filter(isObject).map((group, index) => ({
      name: ownString(group, 'name') ?? '',
      minReplicas: reading.integer(own(group, 'minReplicas'), `spec.podgroups[${index}].minReplicas`, 1),
    })),
    topology: readTopology(spec),
  };
}

/** Reads the PriorityClass that a gang is scheduled with, and the priority that it takes to preempt the gang. */
function readPriority(
  named: string | undefined,
  costing: string | undefined,
  classes: ReadonlyMap<string, PriorityClass>,
  reading: FieldReader,
): { readonly scheduling: PriorityClass | undefined; readonly preemptionPriority: number | undefined } {
  const field = `metadata.annotations[${ANNOTATION_PREEMPTION_PRIORITY_CLASS}]`;
  const known = (name: string, at: string): PriorityClass | undefined => {
    const found = classes.get(name);
    if (found === undefined)
      reading.wrong(at, `there is no PriorityClass ${quoted(name)} among what was given; add it`);
    return found;
  };
  const scheduling =
    named === undefined ? defaultClass(classes.values()) : known(named, 'spec.priorityClassName');
  const cost = costing === undefined ? undefined : known(costing, field);
  const preemptionPriority = scheduling?.value;
  if (cost === undefined) return { scheduling, preemptionPriority };
  const least = scheduling?.value ?? 0;
  if (cost.value < least) {
    const message = `${quoted(cost.name)} (${cost.value}) is below the scheduling priority (${least}): two gangs could preempt each other for ever; name a class at least as high`;
    reading.wrong(field, message);
    return { scheduling, preemptionPriority };
  }
  // A class that the gang may not name is ignored, also where the annotation is older than the rule.
  return { scheduling, preemptionPriority: mayCost(cost, scheduling) ? cost.value : preemptionPriority };
}

function oneOf<T extends string>(
  annotation: (key: string) => string | undefined,
  key: string,
  allowed: readonly T[],
  reading: FieldReader,
): T | undefined {
  const value = annotation(key);
  const found = allowed.find((one) => one === value);
  if (value === undefined || found !== undefined) return found;
  reading.wrong(`metadata.annotations[${key}]`, `${quoted(value)} must be ${allowed.join(' or ')}`);
  return undefined;
}

/**
 * Reads a PodGroup of scheduling.k8s.io. The disruption mode is a string in v1alpha2, and the only key of an object in later
 * versions.
 */
export function readNativeGroup(
  object: JsonObject,
  { classes, namespace }: { classes: ReadonlyMap<string, PriorityClass>; namespace: string },
  reading: FieldReader,
): NativeGroup {
  const metadata = own(object, 'metadata');
  const spec = own(object, 'spec');
  const named = classes.get(ownString(spec, 'priorityClassName') ?? '');
  const gang = own(own(spec, 'schedulingPolicy'), 'gang');
  const policy = ownString(spec, 'preemptionPolicy') || undefined;
  return {
    namespace: ownString(metadata, 'namespace') || namespace,
    name: ownString(metadata, 'name') ?? '',
    uid: ownString(metadata, 'uid') ?? '',
    mode: modeOf(own(spec, 'disruptionMode')),
    priority: reading.integer(own(spec, 'priority'), 'spec.priority', named?.value ?? 0),
    preempts: policy === undefined ? undefined : policy !== 'Never',
    minCount: reading.integer(own(gang, 'minCount'), 'spec.schedulingPolicy.gang.minCount', 1),
    // Kubernetes allows one constraint at most.
    topologyKey: ownString(ownList(own(spec, 'schedulingConstraints'), 'topology')?.[0], 'key') || undefined,
  };
}

const modeOf = (mode: Json | undefined): DisruptionMode =>
  mode === 'PodGroup' || isObject(own(mode, 'all')) ? 'PodGroup' : 'Pod';

/** Reads the topology constraints from the spec of a PodGang; undefined where there are none. */
function readTopology(spec: Json | undefined): Topology | undefined {
  const scopes = [
    { groups: undefined, constrained: spec },
    ...(ownList(spec, 'topologyConstraintGroupConfigs') ?? []).flatMap((config) => {
      const groups = stringsOf(own(config, 'podGroupNames'));
      return groups.length === 0 ? [] : [{ groups, constrained: config }];
    }),
    ...(ownList(spec, 'podgroups') ?? []).map((group) => ({
      groups: [ownString(group, 'name') ?? ''],
      constrained: group,
    })),
  ];
  const all = (field: 'required' | 'preferred'): Scope[] =>
    scopes.flatMap(({ groups, constrained }) => {
      const key = ownString(own(own(constrained, 'topologyConstraint'), 'packConstraint'), field);
      return key ? [{ groups, key }] : [];
    });
  const [required, preferred] = [all('required'), all('preferred')];
  return required.length + preferred.length === 0 ? undefined : { required, preferred };
}

import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../../api/json.ts';
import { MUSTER_PREFIX } from '../../api/names.ts';
import { quoted } from '../../api/printable.ts';
import type { DisruptionMode, Gang, NativeGroup, PriorityClass } from '../snapshot.ts';
import { defaultClass } from './read-pod.ts';
import type { Reading } from './reading.ts';

/** Whether the Pods of a gang are disrupted together (`PodGroup`) or one by one (`Pod`, the default). */
export const ANNOTATION_DISRUPTION_MODE = `${MUSTER_PREFIX}disruption-mode`;
/** PriorityClass that says what it costs to preempt the gang; the scheduling one where it is not there. */
export const ANNOTATION_PREEMPTION_PRIORITY_CLASS = `${MUSTER_PREFIX}preemption-priority-class`;
/** `PreemptLowerPriority`, or `Never`: the gang waits until there is room. */
export const ANNOTATION_PREEMPTION_POLICY = `${MUSTER_PREFIX}preemption-policy`;

const MODES: readonly string[] = ['Pod', 'PodGroup'];
const POLICIES: readonly string[] = ['PreemptLowerPriority', 'Never'];

/** A PodGang. */
export function readGang(
  object: JsonObject,
  { classes, namespace }: { classes: ReadonlyMap<string, PriorityClass>; namespace: string },
  reading: Reading,
): Gang {
  const metadata = own(object, 'metadata');
  const spec = own(object, 'spec');
  const annotation = (key: string): string | undefined => ownString(own(metadata, 'annotations'), key);
  const classOf = (name: string | undefined, field: string): PriorityClass | undefined => {
    const found = name === undefined ? undefined : classes.get(name);
    if (name !== undefined && found === undefined)
      reading.wrong(field, `there is no PriorityClass ${quoted(name)} among what was given; add it`);
    return found;
  };
  const scheduling =
    classOf(ownString(spec, 'priorityClassName') || undefined, 'spec.priorityClassName') ??
    defaultClass(classes);
  const cost = classOf(
    annotation(ANNOTATION_PREEMPTION_PRIORITY_CLASS),
    `metadata.annotations[${ANNOTATION_PREEMPTION_PRIORITY_CLASS}]`,
  );
  if (cost !== undefined && cost.value < (scheduling?.value ?? 0))
    reading.wrong(
      `metadata.annotations[${ANNOTATION_PREEMPTION_PRIORITY_CLASS}]`,
      `${quoted(cost.name)} (${cost.value}) is below the scheduling priority (${scheduling?.value ?? 0}): two gangs could preempt each other for ever; name a class at least as high`,
    );
  const policy = oneOf(annotation, ANNOTATION_PREEMPTION_POLICY, POLICIES, reading);
  return {
    namespace: ownString(metadata, 'namespace') || namespace,
    name: ownString(metadata, 'name') ?? '',
    mode: (oneOf(annotation, ANNOTATION_DISRUPTION_MODE, MODES, reading) ?? 'Pod') as DisruptionMode,
    priority: scheduling?.value,
    preemptionPriority: cost?.value ?? scheduling?.value,
    preempts: policy === undefined ? (scheduling?.preempts ?? true) : policy !== 'Never',
    groups: (ownList(spec, 'podgroups') ?? []).filter(isObject).map((group, index) => ({
      name: ownString(group, 'name') ?? '',
      minReplicas: reading.integer(own(group, 'minReplicas'), `spec.podgroups[${index}].minReplicas`, 1),
    })),
  };
}

function oneOf(
  annotation: (key: string) => string | undefined,
  key: string,
  allowed: readonly string[],
  reading: Reading,
): string | undefined {
  const value = annotation(key);
  if (value === undefined || allowed.includes(value)) return value;
  reading.wrong(`metadata.annotations[${key}]`, `${quoted(value)} must be ${allowed.join(' or ')}`);
  return undefined;
}

/** A PodGroup of scheduling.k8s.io: v1alpha2 says the mode as a word, later versions as the one key of an object. */
export function readNativeGroup(
  object: JsonObject,
  { classes, namespace }: { classes: ReadonlyMap<string, PriorityClass>; namespace: string },
  reading: Reading,
): NativeGroup {
  const metadata = own(object, 'metadata');
  const spec = own(object, 'spec');
  const named = classes.get(ownString(spec, 'priorityClassName') ?? '');
  const gang = own(own(spec, 'schedulingPolicy'), 'gang');
  return {
    namespace: ownString(metadata, 'namespace') || namespace,
    name: ownString(metadata, 'name') ?? '',
    uid: ownString(metadata, 'uid') ?? '',
    mode: modeOf(own(spec, 'disruptionMode')),
    priority: reading.integer(own(spec, 'priority'), 'spec.priority', named?.value ?? 0),
    minCount: reading.integer(own(gang, 'minCount'), 'spec.schedulingPolicy.gang.minCount', 1),
  };
}

const modeOf = (mode: Json | undefined): DisruptionMode =>
  mode === 'PodGroup' || isObject(own(mode, 'all')) ? 'PodGroup' : 'Pod';

import { own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../../api/names.ts';
import { DISRUPTION_TARGET } from '../../api/preemption-terms.ts';
import { defaultClass, type PriorityClass } from '../../api/priority-class.ts';
import {
  namespacedKey,
  type Constraints,
  type NodeSelectorTerm,
  type Pod,
  type Resources,
} from '../snapshot.ts';
import { podConstraints } from './pod-constraints.ts';
import { podRequests } from './pod-requests.ts';
import { labelsOf, type FieldReader } from '../../k8s/field-reader.ts';
import { parseKubeTime } from '../../k8s/time.ts';

/** What a Pod is read with: objects that it refers to, and values that Pods share. */
export interface PodContext {
  readonly classes: ReadonlyMap<string, PriorityClass>;
  /** Node terms of the volume of each bound claim, by `namespace/name` of the claim. */
  readonly claims: ReadonlyMap<string, readonly NodeSelectorTerm[]>;
  /** The namespace of Pods that name none. */
  readonly namespace: string;
  readonly shared: SharedByTemplate;
}

/** Keeps constraints and requests once for all Pods of one template. */
export class SharedByTemplate {
  readonly #constraints = new Map<string, Constraints>();
  readonly #requests = new Map<string, Resources>();

  constraints(constraints: Constraints): Constraints {
    const text = JSON.stringify(constraints, (_, value: unknown) =>
      value instanceof Map ? [...(value as ReadonlyMap<string, string>)] : value,
    );
    return this.#constraints.getOrInsert(text, constraints);
  }

  requests(requests: Resources): Resources {
    let text = '';
    for (const [name, count] of requests) text += `${name} ${count} `;
    return this.#requests.getOrInsert(text, requests);
  }
}

/** Reads a Pod, stored in the cluster or not yet created. */
export function readSnapshotPod(object: JsonObject, context: PodContext, reading: FieldReader): Pod {
  const metadata = own(object, 'metadata');
  const spec = own(object, 'spec');
  const namespace = ownString(metadata, 'namespace') || context.namespace;
  const name = ownString(metadata, 'name') || ownString(metadata, 'generateName') || '';
  const labels = labelsOf(own(metadata, 'labels'));
  const { requests, scored } = podRequests(spec, reading);
  const volumeNodes = claimsOf(spec, name).flatMap((claim) => {
    const terms = context.claims.get(namespacedKey(namespace, claim));
    return terms === undefined ? [] : [terms];
  });
  return {
    key: namespacedKey(namespace, name),
    namespace,
    name,
    uid: ownString(metadata, 'uid') ?? '',
    labels,
    ...priorityOf(spec, context.classes, reading),
    nodeName: ownString(spec, 'nodeName') ?? '',
    startTime: parseKubeTime(ownString(own(object, 'status'), 'startTime')),
    terminating: ownString(metadata, 'deletionTimestamp') !== undefined,
    disruption: disruptionOf(own(object, 'status')),
    nominatedNode: ownString(own(object, 'status'), 'nominatedNodeName') ?? '',
    requests: context.shared.requests(requests),
    scored,
    constraints: context.shared.constraints(
      podConstraints(spec, { namespace, labels, volumeNodes }, reading),
    ),
    gang: labels.get(LABEL_POD_GANG) ?? '',
    group: labels.get(LABEL_POD_CLIQUE) ?? '',
    podGroup: ownString(own(spec, 'schedulingGroup'), 'podGroupName') ?? '',
  };
}

const disruptionOf = (status: Json | undefined): string => {
  const condition = (ownList(status, 'conditions') ?? []).find(
    (one) => ownString(one, 'type') === DISRUPTION_TARGET && ownString(one, 'status') === 'True',
  );
  return ownString(condition, 'reason') ?? '';
};

/** Whether a Pod takes up capacity of a node: it is bound and has not ended. */
export const holdsPlace = (object: JsonObject): boolean =>
  (ownString(own(object, 'spec'), 'nodeName') ?? '') !== '' && !hasPodEnded(object);

export function hasPodEnded(object: JsonObject): boolean {
  const phase = ownString(own(object, 'status'), 'phase');
  return phase === 'Succeeded' || phase === 'Failed';
}

/**
 * A Pod's priority and preemption policy: as the API server has filled them in, or else from the class that the Pod names or
 * the default class.
 */
function priorityOf(
  spec: Json | undefined,
  classes: PodContext['classes'],
  reading: FieldReader,
): Pick<Pod, 'priority' | 'preempts' | 'classless' | 'className'> {
  const byDefault = defaultClass(classes.values())?.name;
  const name = ownString(spec, 'priorityClassName') || byDefault;
  const named = name === undefined ? undefined : classes.get(name);
  const written = own(spec, 'priority');
  const policy = ownString(spec, 'preemptionPolicy');
  if (written === undefined && name !== undefined && named === undefined && SYSTEM[name] === undefined)
    reading.wrong(
      'spec.priorityClassName',
      `there is no PriorityClass ${name} among what was given; add it, or spec.priority`,
    );
  const fallback = named?.value ?? (name === undefined ? 0 : (SYSTEM[name] ?? 0));
  return {
    priority: reading.integer(written, 'spec.priority', fallback),
    className: name ?? '',
    ...(written === undefined && name === byDefault && { classless: true }),
    preempts: policy === undefined ? (named?.preempts ?? true) : policy !== 'Never',
  };
}

/** PriorityClasses that every cluster has. */
const SYSTEM: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

/** The names of the PersistentVolumeClaims of a Pod's volumes. */
export function claimsOf(spec: Json | undefined, podName: string): string[] {
  return (ownList(spec, 'volumes') ?? []).flatMap((volume) => {
    const claim = ownString(own(volume, 'persistentVolumeClaim'), 'claimName');
    if (claim !== undefined) return [claim];
    return own(volume, 'ephemeral') === undefined ? [] : [`${podName}-${ownString(volume, 'name') ?? ''}`];
  });
}

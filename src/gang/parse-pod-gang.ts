import { fault, type Fault } from '../api/fault.ts';
import { FaultReader } from '../api/fault-reader.ts';
import { isObject, own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import type {
  Condition,
  GroupConfig,
  NamespacedName,
  PackConstraint,
  PodGang,
  PodGroup,
} from '../api/pod-gang.ts';

/**
 * Parses a PodGang from JSON, with a fault for every field that is missing or of the wrong type. Such a field gets an empty
 * value, so that the rules can report all other faults in the same answer.
 */
export function parsePodGang(object: JsonObject, namespace: string): { gang: PodGang; faults: Fault[] } {
  const read = new FaultReader();
  const metadata = ownObject(object, 'metadata');
  const specField = own(object, 'spec');
  if (!isObject(specField)) read.wrong('spec', specField, 'an object');
  const gang: PodGang = {
    namespace,
    name: ownString(metadata, 'name') ?? '',
    labels: read.strings(own(metadata, 'labels'), 'metadata.labels'),
    annotations: read.strings(own(metadata, 'annotations'), 'metadata.annotations'),
    spec: {
      groups: read.list(own(specField, 'podgroups'), 'spec.podgroups', (item, path) =>
        group(read, item, path),
      ),
      pack: pack(read, own(specField, 'topologyConstraint'), 'spec.topologyConstraint'),
      groupConfigs: read.list(
        own(specField, 'topologyConstraintGroupConfigs'),
        'spec.topologyConstraintGroupConfigs',
        (item, path) => groupConfig(read, item, path),
      ),
      priorityClassName: read.text(own(specField, 'priorityClassName'), 'spec.priorityClassName'),
      reuseReservationRef: read.optional(
        own(specField, 'reuseReservationRef'),
        'spec.reuseReservationRef',
        (item, path) => namespacedName(read, item, path),
      ),
    },
    conditions: conditionsOf(object),
  };
  return { gang, faults: read.faults };
}

/** Reads the conditions of a PodGang's status, without faults: the CRD's schema checks their shape. */
export function conditionsOf(object: JsonObject): Condition[] {
  const list = ownList(own(object, 'status'), 'conditions') ?? [];
  return list.filter(isObject).map((item) => {
    const generation = own(item, 'observedGeneration');
    return {
      type: ownString(item, 'type') ?? '',
      status: ownString(item, 'status') ?? '',
      reason: ownString(item, 'reason'),
      message: ownString(item, 'message'),
      observedGeneration: typeof generation === 'number' ? generation : undefined,
      lastTransitionTime: ownString(item, 'lastTransitionTime'),
    };
  });
}

function group(read: FaultReader, item: JsonObject, path: string): PodGroup {
  const references = own(item, 'podReferences');
  const minReplicas = own(item, 'minReplicas');
  if (minReplicas === undefined || minReplicas === null) {
    read.wrong(`${path}.minReplicas`, minReplicas, 'a whole number');
  } else if (!isInt32(minReplicas)) {
    read.faults.push(fault('MinReplicasInvalid', `${path}.minReplicas`, { value: minReplicas }));
  }
  return {
    name: read.required(own(item, 'name'), `${path}.name`),
    minReplicas: isInt32(minReplicas) ? minReplicas : 0,
    podReferences:
      references === undefined || references === null
        ? undefined
        : read.list(references, `${path}.podReferences`, (entry, at) => namespacedName(read, entry, at)),
    pack: pack(read, own(item, 'topologyConstraint'), `${path}.topologyConstraint`),
  };
}

function groupConfig(read: FaultReader, item: JsonObject, path: string): GroupConfig {
  const names = own(item, 'podGroupNames');
  if (!Array.isArray(names)) read.wrong(`${path}.podGroupNames`, names, 'a list of group names');
  const list = Array.isArray(names) ? (names as readonly Json[]) : [];
  return {
    name: read.required(own(item, 'name'), `${path}.name`),
    podGroupNames: list.map((name, index) => read.required(name, `${path}.podGroupNames[${index}]`)),
    pack: pack(read, own(item, 'topologyConstraint'), `${path}.topologyConstraint`),
  };
}

const namespacedName = (read: FaultReader, item: JsonObject, path: string): NamespacedName => ({
  namespace: read.required(own(item, 'namespace'), `${path}.namespace`),
  name: read.required(own(item, 'name'), `${path}.name`),
});

function pack(read: FaultReader, value: Json | undefined, path: string): PackConstraint | undefined {
  return read.optional(value, path, (constraint, at) =>
    read.optional(own(constraint, 'packConstraint'), `${at}.packConstraint`, (item, inner) => {
      const required = read.text(own(item, 'required'), `${inner}.required`);
      const preferred = read.text(own(item, 'preferred'), `${inner}.preferred`);
      return {
        ...(required === undefined ? {} : { required }),
        ...(preferred === undefined ? {} : { preferred }),
      };
    }),
  );
}

const isInt32 = (value: Json | undefined): value is number =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2_147_483_647;

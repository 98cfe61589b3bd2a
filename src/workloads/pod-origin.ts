import { asObject, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { ANNOTATION_GANG_SIZE, LABEL_GANG } from '../api/names.ts';
import type { PodController, PodOrigin } from '../api/pod-origin.ts';
import { parseGroupVersion } from '../k8s/resource.ts';
import { gangName, groupName } from './gang-names.ts';
import type { GangKind, PodMarks } from './kind.ts';
import { gangKinds } from './kinds.ts';

/** Gang and group of a Pod with the label `muster.dev/gang`, or why they are unknown. */
export type Belonging =
  | { readonly is: 'told'; readonly gang: string; readonly group: string; readonly origin: PodOrigin }
  /** The Pod lacks a label that another webhook adds; try again later. */
  | { readonly is: 'late'; readonly label: string }
  /** The Pod has no controller, or one of an unknown kind. */
  | { readonly is: 'unknown'; readonly controller: PodController | undefined }
  /** The label contradicts the owner reference. */
  | { readonly is: 'different'; readonly label: string; readonly controller: PodController };

/**
 * The gang and the group of a Pod, from the labels and the owner reference that its workload's controller sets. Both have to
 * agree: a label alone, which anybody may write into a template, makes no Pod a member.
 */
export function belongingOf(pod: PodMarks, kinds: readonly GangKind[] = gangKinds): Belonging {
  const { controller } = pod;
  if (controller === undefined) return { is: 'unknown', controller };
  const title = `${parseGroupVersion(controller.apiVersion).group}/${controller.kind}`;
  const kind = kinds.find(
    ({ controllers, marked }) =>
      controllers.includes(title) && (marked === undefined || pod.label(marked) !== undefined),
  );
  if (kind === undefined) return { is: 'unknown', controller };
  const read = kind.read(pod, controller);
  if ('late' in read) return { is: 'late', label: read.late };
  if ('differs' in read) return { is: 'different', label: read.differs, controller };
  const { name, uid, group, part } = read;
  const { short } = kind;
  return {
    is: 'told',
    gang: gangName(short, name, part),
    group: groupName(group),
    origin: { kind: short, name, uid, part, controller, size: pod.annotation(ANNOTATION_GANG_SIZE) },
  };
}

/** The origin of a Pod with the label, by its metadata; undefined when its gang is unknown. */
export function originOfMarks(pod: PodMarks, kinds?: readonly GangKind[]): PodOrigin | undefined {
  const belonging = belongingOf(pod, kinds);
  return belonging.is === 'told' ? belonging.origin : undefined;
}

/** Reads the metadata of a Pod in JSON. */
export function marksOf(pod: JsonObject): PodMarks {
  const metadata = ownObject(pod, 'metadata');
  const [labels, annotations] = [ownObject(metadata, 'labels'), ownObject(metadata, 'annotations')];
  return {
    label: (key) => ownString(labels, key),
    annotation: (key) => ownString(annotations, key),
    name: ownString(metadata, 'name'),
    controller: controllerOf(metadata),
  };
}

/** The origin of a Pod; undefined when the Pod requests no gang or its gang is unknown. */
export function originOf(pod: JsonObject, kinds?: readonly GangKind[]): PodOrigin | undefined {
  const belonging = askedOf(pod, kinds);
  return belonging?.is === 'told' ? belonging.origin : undefined;
}

/**
 * The origin of a stored Pod. Admission refuses Pods of unknown kinds, so a stored Pod of an unknown kind was admitted under
 * a configuration that had the kind, and only its controller is known now.
 */
export function storedOriginOf(pod: JsonObject, kinds?: readonly GangKind[]): PodOrigin | undefined {
  const belonging = askedOf(pod, kinds);
  if (belonging?.is === 'told') return belonging.origin;
  if (belonging?.is !== 'unknown' || belonging.controller === undefined) return undefined;
  const { controller } = belonging;
  const { name, uid } = controller;
  return { kind: '', name, uid, part: undefined, controller, size: undefined };
}

function askedOf(pod: JsonObject, kinds: readonly GangKind[] | undefined): Belonging | undefined {
  const marks = marksOf(pod);
  return marks.label(LABEL_GANG) === undefined ? undefined : belongingOf(marks, kinds);
}

/** The owner reference with `controller: true`; there is at most one. */
export function controllerOf(metadata: Json | undefined): PodController | undefined {
  for (const one of ownList(metadata, 'ownerReferences') ?? []) {
    const reference = asObject(one);
    if (reference?.['controller'] !== true) continue;
    const { apiVersion, kind, name, uid } = reference;
    return { apiVersion: textOf(apiVersion), kind: textOf(kind), name: textOf(name), uid: textOf(uid) };
  }
  return undefined;
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

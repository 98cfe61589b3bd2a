import { asObject, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { ANNOTATION_GANG_SIZE, LABEL_GANG } from '../api/names.ts';
import type { PodController, PodOrigin } from '../api/pod-origin.ts';
import { parseGroupVersion } from '../k8s/resource.ts';
import { gangName, groupName } from './gang-names.ts';
import type { GangKind, PodMarks } from './kind.ts';
import { gangKinds } from './kinds.ts';

/** Where a Pod with the label `muster.dev/gang` belongs, or why that cannot be told. */
export type Belonging =
  | { readonly is: 'told'; readonly gang: string; readonly group: string; readonly origin: PodOrigin }
  /** The Pod lacks a label that another webhook adds: to be asked again. */
  | { readonly is: 'late'; readonly label: string }
  /** No controller, or none of a kind that is known. */
  | { readonly is: 'unknown'; readonly controller: PodController | undefined }
  /** The label says something else than the owner reference. */
  | { readonly is: 'different'; readonly label: string; readonly controller: PodController };

/**
 * The gang and the group of a Pod, from labels and the owner reference that the controller of its workload writes. Both
 * have to agree: a label alone, which anybody may write into a template, makes nobody a member.
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

/** What a Pod as JSON says of itself. */
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

/** The origin of a Pod; undefined where it has not asked to be of a gang, or nobody can tell of which. */
export function originOf(pod: JsonObject, kinds?: readonly GangKind[]): PodOrigin | undefined {
  const belonging = askedOf(pod, kinds);
  return belonging?.is === 'told' ? belonging.origin : undefined;
}

/**
 * The same of a stored Pod. Admission lets none in of a kind that is not known: the configuration told of that kind before,
 * and all that is known now is who controls the Pod.
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

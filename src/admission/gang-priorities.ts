import type { Change } from '../json/patch.ts';
import { isObject, own, type JsonObject } from '../json/json.ts';
import { ANNOTATION_PREEMPTION_PLAN } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { isGroveManaged } from '../gang/gang-selection.ts';
import { refusedPriority } from '../gang/rules/rule-lists.ts';
import {
  classOf,
  idlePolicy,
  refersToPods,
  uncheckedClasses,
  type PriorityKnowledge,
} from '../gang/rules/priorities.ts';
import { NO_FINDINGS, type PodGangVerdict } from '../preparers/preparer.ts';
import { ObjectEdit } from './pod-patch.ts';
import type { Policy } from './policy.ts';
import type { AdmissionRequest } from './review.ts';

const DEFAULT = 'the PriorityClass of whoever names none';
const KEPT = 'a gang that has Pods keeps its priority';

/**
 * Writes the name of the default PriorityClass into a gang that names none, as Kubernetes does for Pods, so that a later
 * change of the default does not change the gang. A gang that has Pods and loses its class gets the class back.
 */
export function recordPriority(
  { object }: AdmissionRequest,
  before: PodGang | undefined,
  after: PodGang,
  { classes, placement }: Policy,
): Change[] {
  const spec = own(object, 'spec');
  const had = before && classOf(before);
  const gives = before === undefined || had !== undefined;
  if (!isObject(spec) || classOf(after) !== undefined || !gives) return [];
  const edit = new ObjectEdit('/spec', spec);
  if (before !== undefined && had !== undefined && hasPods(before, placement)) {
    edit.set('priorityClassName', had, KEPT);
  } else if (classes?.known === true && classes.byDefault !== undefined) {
    edit.set('priorityClassName', classes.byDefault.name, DEFAULT);
  }
  return edit.changes();
}

/** Removes a preemption plan that a new gang was created with: Muster writes a plan only for a stored gang. */
export function withoutPlan(object: JsonObject): Change[] {
  const annotations = new ObjectEdit('/metadata/annotations', own(own(object, 'metadata'), 'annotations'));
  annotations.remove(ANNOTATION_PREEMPTION_PLAN, 'whom a gang preempts is for Muster to write');
  return annotations.changes();
}

/**
 * Checks what a gang says about priorities.
 * @param before the stored gang; undefined for a new one
 */
export function checkPriorities(
  before: PodGang | undefined,
  after: PodGang,
  { classes, placement }: Policy,
): PodGangVerdict {
  // The Grove operator checks its own gangs, and nobody would read warnings about them.
  if (isGroveManaged(before ?? after)) return NO_FINDINGS;
  const known: PriorityKnowledge = {
    classes,
    hasPods: before !== undefined && hasPods(before, placement),
  };
  return {
    faults: refusedPriority(after, before, known, { grove: false, trusted: false }),
    warnings: [...uncheckedClasses(after, before, known), ...idlePolicy(after, before, known)],
  };
}

/** Whether the gang has Pods. References alone do not tell: a gang has none before its Pods are complete. */
const hasPods = (gang: PodGang, placement: Policy['placement']): boolean =>
  refersToPods(gang) || placement?.hasPods?.(gang.namespace, gang.name) === true;

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
 * A gang that names no PriorityClass gets the name of the default one, as Kubernetes has it for Pods: only then does it
 * stay what it was when the default changes. One that has Pods gets its own back.
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

/** A plan is made for a gang that is there: one that its author brings along would only be looked at again and again. */
export function withoutPlan(object: JsonObject): Change[] {
  const annotations = new ObjectEdit('/metadata/annotations', own(own(object, 'metadata'), 'annotations'));
  annotations.remove(ANNOTATION_PREEMPTION_PLAN, 'whom a gang preempts is for Muster to write');
  return annotations.changes();
}

/** @param before the stored gang; undefined for a new one */
export function checkPriorities(
  before: PodGang | undefined,
  after: PodGang,
  { classes, placement }: Policy,
): PodGangVerdict {
  // Grove's gangs are Grove's to check, and nobody reads what they would be told.
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

/** A gang whose Pods are not complete refers to none of them yet. */
const hasPods = (gang: PodGang, placement: Policy['placement']): boolean =>
  refersToPods(gang) || placement?.hasPods?.(gang.namespace, gang.name) === true;

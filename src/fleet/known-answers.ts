import { constant } from '../json/patch.ts';
import type { KnownSpec } from '../json/known-specs.ts';
import type { JsonObject } from '../json/json.ts';
import { workloadKinds } from '../workloads/kinds.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';
import type { Answered, InterpreterRequest } from './interpreter-context.ts';

/** An answer that was given for a spec, and what else it depends on. */
interface Given {
  readonly kind: WorkloadKind;
  readonly operation: string;
  readonly namespace: string;
  readonly answered: Answered;
}

/** Kept for one spec: both operations, in two namespaces. */
const MOST_GIVEN = 4;
const given = new WeakMap<KnownSpec, Given[]>();

/**
 * The operations whose answer depends on nothing of the object but its spec, where the kind is Muster's own: a configured
 * one may keep its numbers anywhere.
 */
const OF_SPEC: ReadonlySet<string> = new Set(['InterpretReplica', 'InterpretComponent']);

/**
 * The answer to a request about an object with a known spec: Karmada asks again with every change of a workload's status.
 * @param work makes the answer; called with an object that has nothing but the spec where the answer is kept
 */
export function answerOfSpec(
  spec: KnownSpec | undefined,
  object: JsonObject,
  kind: WorkloadKind,
  { operation, namespace }: InterpreterRequest,
  work: (object: JsonObject) => Answered,
): Answered {
  if (spec === undefined || !OF_SPEC.has(operation) || !workloadKinds.includes(kind)) return work(object);
  const all = given.get(spec) ?? [];
  const before = all.find(
    (one) => one.kind === kind && one.operation === operation && one.namespace === namespace,
  );
  if (before !== undefined) return before.answered;
  const { apiVersion = '', kind: name = '' } = object;
  const answered = constant(work({ apiVersion, kind: name, spec: spec.light }));
  if (all.length === MOST_GIVEN) all.shift();
  all.push({ kind, operation, namespace, answered });
  given.set(spec, all);
  return answered;
}

import { isObject, type JsonObject } from '../json/json.ts';
import { quoted } from '../text/printable.ts';
import { MusterError } from '../errors.ts';
import { componentsOf, type Component } from '../workloads/components.ts';
import { fieldOf, type Path } from '../workloads/path.ts';
import type { Requirements } from '../workloads/pod-requirements.ts';
import { knownKindOf, workloadKinds } from '../workloads/kinds.ts';
import type { CountField, WorkloadKind } from '../workloads/workload-kind.ts';
import { MOST_PODS } from '../api/most-pods.ts';
import { minimumCaps } from './minimum-caps.ts';
import { withEdits, type Edit } from './object-edits.ts';

/** One Pod template of a workload: its number of Pods, its minimum, and the requirements of a Pod. */
export interface TemplateReplicas {
  /** Name of the template: at most 32 characters, unique in its workload. */
  readonly name: string;
  readonly replicas: number;
  readonly minAvailable: number;
  /** undefined when a Pod has no requirements or the workload does not state them. */
  readonly requirements: Requirements | undefined;
}

/** A new number of Pods for a template. */
export interface TemplateRevision {
  readonly templateName: string;
  readonly replicas: number;
}

/**
 * The Pod templates of a workload, in its order. `replicas` is always the full number and never the minimum, since a
 * scheduler that gets only the minimum could never place more.
 * @throws MusterError WORKLOAD_UNKNOWN, WORKLOAD_INVALID
 */
export const multiGetReplicas = (
  object: JsonObject,
  kinds: readonly WorkloadKind[] = workloadKinds,
): TemplateReplicas[] => componentsOf(object, knownKindOf(object, kinds)).map(told);

const told = ({ name, replicas, minAvailable, requirements }: Component): TemplateReplicas => ({
  name,
  replicas,
  minAvailable,
  requirements,
});

/**
 * A copy of `object` with new numbers of Pods. Unknown template names change nothing. A minimum above the new number of Pods
 * is lowered to it, since nothing would ever start otherwise.
 * @throws MusterError WORKLOAD_UNKNOWN, WORKLOAD_INVALID, WORKLOAD_SCALE
 */
export function multiReviseReplica(
  object: JsonObject,
  revisions: readonly TemplateRevision[],
  kinds: readonly WorkloadKind[] = workloadKinds,
): JsonObject {
  const kind = knownKindOf(object, kinds);
  return withEdits(object, revisionEdits(object, componentsOf(object, kind), revisions, kind));
}

/** The edits for new numbers of Pods. @throws MusterError WORKLOAD_SCALE */
export function revisionEdits(
  object: JsonObject,
  components: readonly Component[],
  revisions: readonly TemplateRevision[],
  kind: WorkloadKind,
): Edit[] {
  const given: unknown = revisions;
  if (!Array.isArray(given) || !given.every(isObject))
    throw new MusterError(
      'WORKLOAD_SCALE',
      'the numbers that are asked for are no list of objects',
      'give [{ templateName, replicas }]',
    );
  const asked = new Map(revisions.map(({ templateName, replicas }) => [templateName, replicas]));
  const edits = new Map<string, { readonly path: Path; readonly value: number }>();
  for (const { name, count, replicas: before } of components) {
    const pods = asked.get(name);
    if (asked.has(name) && pods !== before) edit(edits, name, { at: count, pods: pods ?? NaN, before });
  }
  if (edits.size === 0) return [];
  const counts = [...edits.values()];
  return [...counts, ...minimumCaps(withEdits(object, counts), kind)];
}

function edit(
  edits: Map<string, { readonly path: Path; readonly value: number }>,
  name: string,
  {
    at,
    pods,
    before,
  }: { readonly at: CountField | undefined; readonly pods: number; readonly before: number },
): void {
  const refuse = (why: string, fix: string): never => {
    throw new MusterError(
      'WORKLOAD_SCALE',
      `${quoted(name)} cannot have ${pods} Pods instead of ${before}: ${why}`,
      fix,
    );
  };
  if (!Number.isInteger(pods) || pods < 0 || pods > MOST_PODS)
    return refuse('that is no number of Pods', `give a whole number from 0 to ${MOST_PODS}`);
  if (at === undefined) return refuse('no field says how many there are', 'leave this one as it is');
  const value = at.per === 0 ? 0 : pods / at.per;
  if (at.per === 0 || !Number.isInteger(value))
    return refuse(`they come ${at.per} at a time`, `give a multiple of ${at.per}`);
  const field = fieldOf(at.path);
  const other = edits.get(field);
  if (other !== undefined && other.value !== value)
    return refuse(`${field} cannot be both ${other.value} and ${value}`, 'give numbers that go together');
  edits.set(field, { path: at.path, value });
}

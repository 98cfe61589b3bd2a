import type { WriteOperation } from '../json/patch.ts';
import type { JsonObject } from '../json/json.ts';
import type { KnownSpec } from '../json/known-specs.ts';
import { MusterError } from '../errors.ts';
import { componentsOf, isMultiTemplate } from '../workloads/components.ts';
import { knownKindOf } from '../workloads/kinds.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';
import { dependenciesOf } from './dependencies.ts';
import { answerOfSpec } from './known-answers.ts';
import { isHealthy } from './health.ts';
import { patchAnswer, type Answered, type InterpreterRequest } from './interpreter-context.ts';
import { revisionEdits } from './multi-replicas.ts';
import { operationsFor } from './object-edits.ts';
import { retainedEdits } from './retain.ts';
import { aggregatedStatus, clusterStatuses, reflectedStatus } from './status.ts';
import { totalReplicas } from './total-replicas.ts';

type Operate = (object: JsonObject, kind: WorkloadKind, request: InterpreterRequest) => Answered;

/** Operations that read neither containers' environment nor volumes, and copy no field that may contain such lists. */
export const COUNTING: ReadonlySet<string> = new Set([
  'InterpretReplica',
  'InterpretComponent',
  'InterpretHealth',
]);

/** The operations of Karmada's resource interpreter. Karmada defines `Prune` too, but never sends it. */
export const operations: ReadonlyMap<string, Operate> = new Map<string, Operate>([
  [
    'InterpretReplica',
    (object, kind, { namespace }) => {
      const { replicas, requirements } = totalReplicas(componentsOf(object, kind));
      const replicaRequirements = requirements && { ...requirements, ...(namespace !== '' && { namespace }) };
      return { replicas, ...(replicaRequirements && { replicaRequirements }) };
    },
  ],
  [
    'InterpretComponent',
    (object, kind) => ({
      components: componentsOf(object, kind).map(({ name, replicas, requirements }) => ({
        name,
        replicas,
        ...(requirements && { replicaRequirements: requirements }),
      })),
    }),
  ],
  ['ReviseReplica', (object, kind, { replicas }) => patchAnswer(revised(object, kind, replicas))],
  ['InterpretStatus', (object) => ({ rawStatus: reflectedStatus(object) })],
  ['InterpretHealth', (object, kind) => ({ healthy: isHealthy(object, kind) })],
  ['InterpretDependency', (object, kind) => ({ dependencies: dependenciesOf(object, kind) })],
  [
    'Retain',
    (object, kind, { observed }) =>
      patchAnswer(observed === undefined ? [] : operationsFor(object, retainedEdits(object, observed, kind))),
  ],
  [
    'AggregateStatus',
    (object, kind, request) => {
      const status = aggregatedStatus(object, clusterStatuses(request.aggregatedStatus), kind);
      const unchanged = status === undefined || JSON.stringify(status) === JSON.stringify(object['status']);
      return patchAnswer(unchanged ? [] : [{ op: 'add', path: '/status', value: status }]);
    },
  ],
]);

/**
 * Sets the number of Pods for one cluster. For a workload with components Karmada requests 0 in each of its clusters; for a
 * kind with several templates 0 is therefore no change, or every gang would be scaled to nothing.
 */
function revised(object: JsonObject, kind: WorkloadKind, replicas: number): WriteOperation[] {
  if (isMultiTemplate(kind) && replicas === 0) return [];
  const components = componentsOf(object, kind);
  const [first, ...others] = components;
  if (first === undefined || totalReplicas(components).replicas === replicas) return [];
  if (others.length > 0) {
    throw new MusterError(
      'WORKLOAD_SCALE',
      `a gang with ${components.length} templates cannot be cut to ${replicas} Pods: one number does not say of which`,
      'place it in one cluster: spreadConstraints with spreadByField cluster, minGroups 1, maxGroups 1',
    );
  }
  return operationsFor(
    object,
    revisionEdits(object, components, [{ templateName: first.name, replicas }], kind),
  );
}

/**
 * @param spec the object's spec, where it is known
 * @throws MusterError WORKLOAD_UNKNOWN, WORKLOAD_INVALID, WORKLOAD_SCALE
 */
export function operate(
  operation: Operate,
  object: JsonObject,
  request: InterpreterRequest,
  kinds: readonly WorkloadKind[],
  spec?: KnownSpec,
): Answered {
  const kind = knownKindOf(object, kinds);
  return answerOfSpec(spec, object, kind, request, (of) => operation(of, kind, request));
}

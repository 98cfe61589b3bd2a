import { own, ownString, type JsonObject } from '../../json/json.ts';
import { POD_GANG_KIND, LABEL_POD_GANG } from '../../api/names.ts';
import { FieldReader, objectTitle } from '../../k8s/field-reader.ts';
import { readGangRecord } from '../../gang/read-records.ts';
import type { GangRecord } from '../../gang/records.ts';
import { nextPreemptionStep, type PreemptionStep } from '../../preemption/preemption-state-machine.ts';
import { recalled, type InFlight, type WrittenPlan } from '../../preemption/in-flight.ts';
import { sparing } from '../../preemption/plan-within-budgets.ts';
import { preemptorOf, type Preemptor } from '../../preemption/preemptor.ts';
import type { Refusal } from '../../preemption/refusal.ts';
import { carefulSnapshot } from '../../preemption/read/read-snapshot.ts';
import { readSnapshotPod } from '../../preemption/read/read-pod.ts';
import { namespacedKey, type Pod, type Snapshot } from '../../preemption/snapshot.ts';

/** The input of a plan beside the cluster: plain data, because the planner runs in another thread. */
export interface PlanQuestion {
  /** The raw PodGang and its Pods that wait for a node. */
  readonly gang: JsonObject;
  readonly waiting: readonly JsonObject[];
  /** Whether the gang waits for capacity. */
  readonly waits: boolean;
  /** The gang's current plan, and whether the plan is too old to be continued. */
  readonly plan: WrittenPlan | undefined;
  readonly late: boolean;
  readonly exemptNamespaces: readonly string[];
  readonly overridePodDisruptionBudgets: boolean;
}

export interface Considered {
  /** Why no plan can be made for the gang; undefined when one can. */
  readonly obstacle: Refusal | undefined;
  readonly priority: number;
  /** The `nominatedNodeName` of the gang's waiting Pods, by their uids. */
  readonly nominated: ReadonlyMap<string, string>;
  /** The gang's current plan, with the names of its victims. */
  readonly known: InFlight | undefined;
  /** undefined when the gang has no plan and none can be made. */
  readonly step: Pick<PreemptionStep, 'verdict' | 'inFlight' | 'evict' | 'why' | 'refusal'> | undefined;
}

/** Makes or continues a plan. A pure function; its duration grows with the size of the cluster. */
export function consider(objects: readonly JsonObject[], question: PlanQuestion): Considered {
  const { plan, late, waits } = question;
  const gang = readGangRecord(question.gang);
  const { placed, without } = withNominated(objects, gang);
  const { snapshot: all, context, isClear, faults } = carefulSnapshot(placed);
  const title = objectTitle(question.gang, POD_GANG_KIND);
  const reading = new FieldReader(title);
  const waiting = question.waiting.map((object) => readSnapshotPod(object, context, reading));
  const preemptor = preemptorFor(gang, waiting, all);
  const snapshot = without(all, preemptor);
  const [fault] = [...reading.faults, ...faults.filter(({ object }) => object === title)];
  const { namespace, name } = gang;
  const obstacle: Refusal | undefined = fault
    ? {
        why: 'Unreadable',
        object: { namespace, name },
        words: `${fault.object}: ${fault.field}: ${fault.message}`,
      }
    : selfish(waiting);
  const known = plan && recalled(plan, snapshot, preemptor);
  const stops = late || !waits || obstacle !== undefined;
  const step =
    known === undefined && stops
      ? undefined
      : nextPreemptionStep(known && { ...known, closing: known.closing || stops }, {
          preemptor,
          snapshot,
          variant: 'kep',
          mayGo: sparing(question.exemptNamespaces, isClear),
          breaksBudgets: question.overridePodDisruptionBudgets,
        });
  return {
    obstacle,
    priority: preemptor.priority,
    nominated: new Map(waiting.map(({ uid, nominatedNode }) => [uid, nominatedNode])),
    known,
    step: step && {
      verdict: step.verdict,
      inFlight: step.inFlight,
      evict: step.evict,
      why: step.why,
      ...(step.refusal && { refusal: step.refusal }),
    },
  };
}

/**
 * Refuses a gang whose Pods kube-scheduler preempts for: it would evict for single Pods, and together with Muster twice
 * as much.
 */
function selfish(waiting: readonly Pod[]): Refusal | undefined {
  const [pod] = waiting.filter(({ preempts }) => preempts);
  return pod && { why: 'PreemptsByItself', pod: { namespace: pod.namespace, name: pod.name } };
}

/** The preemptor with the gang's waiting Pods; with no Pods when none waits. */
function preemptorFor(gang: GangRecord, waiting: readonly Pod[], snapshot: Snapshot): Preemptor {
  // The schedulers that Muster preempts for ignore a gang's topology, so a plan ignores it too.
  if (waiting.length > 0) return { ...preemptorOf(waiting, snapshot, 'kep'), topology: undefined };
  const { namespace, name } = gang;
  const key = namespacedKey(namespace, name);
  const { priority = 0, preempts = false } = snapshot.gangs.get(key) ?? {};
  const owns = (pod: Pod): boolean => pod.namespace === namespace && pod.gang === name;
  return { kind: 'Gang', key, priority, preempts, pods: [], minimums: [], owns };
}

interface Nominated {
  /** The objects, with each nominated Pod on its nominated node. */
  readonly placed: readonly JsonObject[];
  /** The snapshot without those nominated Pods that have a lower priority than the preemptor. */
  readonly without: (snapshot: Snapshot, preemptor: Preemptor) => Snapshot;
}

/** The nominated node of a Pod of another gang; undefined for all other objects. */
function nominationOf(object: JsonObject, gangs: { namespace: string; name: string }): string | undefined {
  if (own(object, 'kind') !== 'Pod' || ownString(own(object, 'spec'), 'nodeName')) return undefined;
  const metadata = own(object, 'metadata');
  const ours =
    ownString(metadata, 'namespace') === gangs.namespace &&
    ownString(own(metadata, 'labels'), LABEL_POD_GANG) === gangs.name;
  return ours ? undefined : ownString(own(object, 'status'), 'nominatedNodeName') || undefined;
}

/**
 * Treats nominated Pods of other gangs as bound to their nominated nodes, except Pods of lower priority than the
 * preemptor.
 */
function withNominated(objects: readonly JsonObject[], gang: { namespace: string; name: string }): Nominated {
  const uids = new Set<string>();
  const placed = objects.map((object) => {
    const node = nominationOf(object, gang);
    if (node === undefined) return object;
    uids.add(ownString(own(object, 'metadata'), 'uid') ?? '');
    return { ...object, spec: { ...(own(object, 'spec') as JsonObject), nodeName: node } };
  });
  const without = (snapshot: Snapshot, { priority }: Preemptor): Snapshot =>
    uids.size === 0
      ? snapshot
      : { ...snapshot, pods: snapshot.pods.filter((pod) => !uids.has(pod.uid) || pod.priority >= priority) };
  return { placed, without };
}

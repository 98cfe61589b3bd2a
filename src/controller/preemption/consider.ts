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

/** What is to be thought about, beside the cluster: plain data, since it is thought about elsewhere. */
export interface PlanQuestion {
  /** The PodGang as it came, and those of its Pods that wait for a node. */
  readonly gang: JsonObject;
  readonly waiting: readonly JsonObject[];
  /** Whether it waits for room at all. */
  readonly waits: boolean;
  /** The plan that it has; whether that is too old to be gone on with. */
  readonly plan: WrittenPlan | undefined;
  readonly late: boolean;
  readonly exemptNamespaces: readonly string[];
  readonly overridePodDisruptionBudgets: boolean;
}

export interface Considered {
  /** Why nothing can be planned for it; undefined where something can. */
  readonly obstacle: Refusal | undefined;
  readonly priority: number;
  /** The nodes that are meant for its Pods by now, by their uids. */
  readonly nominated: ReadonlyMap<string, string>;
  /** The plan that it has, with the names of its victims. */
  readonly known: InFlight | undefined;
  /** undefined where there is no plan, and none can be made. */
  readonly step: Pick<PreemptionStep, 'verdict' | 'inFlight' | 'evict' | 'why' | 'refusal'> | undefined;
}

/** Pure, and as long as the cluster is large. */
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

/** Two that evict for the same gang evict twice as much, and kube-scheduler takes what one Pod alone needs. */
function selfish(waiting: readonly Pod[]): Refusal | undefined {
  const [pod] = waiting.filter(({ preempts }) => preempts);
  return pod && { why: 'PreemptsByItself', pod: { namespace: pod.namespace, name: pod.name } };
}

/** The gang with its waiting Pods; without any where it waits no more. */
function preemptorFor(gang: GangRecord, waiting: readonly Pod[], snapshot: Snapshot): Preemptor {
  // Schedulers that Muster makes room for know no topology of a gang, so they will not keep one either.
  if (waiting.length > 0) return { ...preemptorOf(waiting, snapshot, 'kep'), topology: undefined };
  const { namespace, name } = gang;
  const key = namespacedKey(namespace, name);
  const { priority = 0, preempts = false } = snapshot.gangs.get(key) ?? {};
  const owns = (pod: Pod): boolean => pod.namespace === namespace && pod.gang === name;
  return { kind: 'Gang', key, priority, preempts, pods: [], minimums: [], owns };
}

interface Nominated {
  /** The objects, with these Pods on their nodes. */
  readonly placed: readonly JsonObject[];
  /** The snapshot of those, without the ones that are of lower priority. */
  readonly without: (snapshot: Snapshot, preemptor: Preemptor) => Snapshot;
}

/** The node that is being cleared for a Pod of another gang, by the Pod's uid. */
function nominationOf(object: JsonObject, gangs: { namespace: string; name: string }): string | undefined {
  if (own(object, 'kind') !== 'Pod' || ownString(own(object, 'spec'), 'nodeName')) return undefined;
  const metadata = own(object, 'metadata');
  const ours =
    ownString(metadata, 'namespace') === gangs.namespace &&
    ownString(own(metadata, 'labels'), LABEL_POD_GANG) === gangs.name;
  return ours ? undefined : ownString(own(object, 'status'), 'nominatedNodeName') || undefined;
}

/** Pods that a node is being cleared for count as if they were there already; those of lower priority do not. */
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

import { own, type JsonObject } from '../json/json.ts';
import { printable } from '../text/printable.ts';
import { outcomeOf, podCount, planVerdict, type PlanOutcome } from '../preemption/outcome.ts';
import { planWithinBudgets, sparing } from '../preemption/plan-within-budgets.ts';
import { counted, preemptorOf } from '../preemption/preemptor.ts';
import { mayName, type Audience } from '../preemption/refusal.ts';
import { readSnapshotPod } from '../preemption/read/read-pod.ts';
import { FieldReader, objectTitle } from '../k8s/field-reader.ts';
import { trimmed } from '../preemption/read/trim.ts';
import type { Gang, Pod } from '../preemption/snapshot.ts';
import { variantOfGroups, BEHAVIOUR, type Variant } from '../preemption/variants.ts';
import type { JudgedUnit } from '../preemption/search.ts';
import type { ClusterNow } from './cluster-watch.ts';
import type { Names, PreviewSetting, ForecastQuestion } from './question.ts';
import type { TriedGang } from './rehearsal.ts';

/** Prefix of every warning of a forecast. */
const HEAD = 'forecast: ';
/** At most this many victims are named; the rest are counted. */
const MOST_NAMED = 12;

/** The input of a forecast. */
export interface Given {
  readonly question: ForecastQuestion;
  readonly tried: TriedGang;
  readonly setting: Pick<PreviewSetting, 'names' | 'exemptNamespaces'>;
  readonly now: (more: readonly JsonObject[], gangKey: string) => ClusterNow;
}

const READERS: Readonly<Record<Names, (namespace: string) => Audience>> = {
  All: () => 'operator',
  Own: (namespace) => ({ namespace }),
  None: () => 'anybody',
};

/** Returns the warnings about a creation by dry run; none while Pods of its gang are missing. */
export function forecast({ question, tried, setting, now }: Given): string[] {
  const gang = tried.gang === undefined ? [] : [placed(tried.gang, question.namespace)];
  const cluster = now(gang, tried.key);
  const { snapshot, context, faults, isClear } = cluster;
  const wrong: string[] = [];
  const asked = tried.pods.map((object) => {
    const reading = new FieldReader(objectTitle(object, 'Pod'));
    const pod = readSnapshotPod(trimmed(object), { ...context, namespace: question.namespace }, reading);
    wrong.push(...reading.faults.map(({ object: name, field, message }) => `${name}: ${field}: ${message}`));
    return pod;
  });
  if (wrong.length > 0) return wrong.map((text) => `${HEAD}none: ${text}`);
  const byKey = new Map([...cluster.waiting, ...asked].map((pod) => [pod.key, pod]));
  const pods = [...byKey.values()].filter(({ nodeName }) => nodeName === '');
  const known = snapshot.gangs.get(tried.key);
  if (known === undefined || pods.length === 0) return [];
  const variant = variantFor(pods, known, cluster);
  const preemptor = preemptorOf(pods, snapshot, variant);
  const { minimums } = preemptor;
  const isComplete = minimums.every((one) => counted(one, pods) >= one.count);
  // A gang that has its minimum running does not wait for this Pod.
  if (!isComplete || minimums.every(({ count }) => count === 0)) return [];
  // Exempt namespaces are Muster's own setting: a scheduler that preempts by itself does not know them.
  const spared = BEHAVIOUR[variant].scheduler === undefined ? setting.exemptNamespaces : [];
  const mayGo = sparing(spared, isClear);
  const plan = planWithinBudgets({ preemptor, snapshot, variant, mayGo });
  const outcome = outcomeOf(preemptor, plan, snapshot);
  const reader = READERS[setting.names](question.namespace);
  return [
    `gang ${tried.key} (priority ${preemptor.priority}, ${podCount(pods.length)}) ${planVerdict(outcome, reader)}`,
    ...whoGoes(outcome, reader),
    ...(faults.length === 0 ? [] : [uncounted(new Set(faults.map(({ object }) => object)).size)]),
  ].map((text) => printable(HEAD + text));
}

/**
 * Which algorithm plans. For a gang that is a single native PodGroup: the one of the cluster's kube-scheduler. For any other
 * gang, such as one of several PodGroups, in a CompositePodGroup or not: the document's (`kep`), by the minimums of the
 * PodGang.
 */
function variantFor(pods: readonly Pod[], { name, groups }: Gang, { groupsOf }: ClusterNow): Variant {
  const [podGroup = '', ...others] = new Set(pods.map((pod) => pod.podGroup));
  const isOne = podGroup !== '' && others.length === 0 && (groups.length === 1 || podGroup === name);
  return (isOne ? variantOfGroups(groupsOf) : undefined) ?? 'kep';
}

const uncounted = (objects: number): string =>
  `${objects === 1 ? '1 object of the cluster says' : `${objects} objects of the cluster say`} what cannot be counted with; the forecast may be wrong there`;

/**
 * Describes the victims where there are several: it names those that the reader may know, and gives numbers and priorities
 * of the others.
 */
function whoGoes({ plan: { victims } }: PlanOutcome, reader: Audience): string[] {
  const lines: string[] = [];
  const broken = victims.filter(({ violatesBudget }) => violatesBudget).length;
  if (broken > 0)
    lines.push(
      broken === 1
        ? '1 of the units that make room would overdraw a PodDisruptionBudget'
        : `${broken} of the units that make room would overdraw a PodDisruptionBudget`,
    );
  if (victims.length < 2) return lines;
  const named = victims.filter(({ unit }) => mayName(reader, unit));
  lines.push(
    ...inLines(
      named.slice(0, MOST_NAMED).map(({ unit }) => unitText(unit)),
      named.length - MOST_NAMED,
    ),
  );
  const others = victims.filter(({ unit }) => !mayName(reader, unit));
  const where = reader === 'anybody' ? '' : 'of other namespaces ';
  if (others.length > 0) lines.push(`${where}${numbers(others)} would go`);
  return lines;
}

const unitText = ({ kind, namespace, name, priority, pods }: JudgedUnit['unit']): string => {
  const what = kind === 'Pod' ? 'Pod' : kind === 'PodGang' ? 'gang' : 'PodGroup';
  return `${what} ${namespace}/${name} (priority ${priority}${kind === 'Pod' ? '' : `, ${podCount(pods.length)}`})`;
};

function numbers(units: readonly JudgedUnit[]): string {
  const pods = units.reduce((sum, { unit }) => sum + unit.pods.length, 0);
  const priorities = [...new Set(units.map(({ unit }) => unit.priority))].sort((a, b) => a - b);
  const [lowest = 0, highest = lowest] = [priorities[0], priorities.at(-1)];
  const range = lowest === highest ? `priority ${lowest}` : `priorities ${lowest} to ${highest}`;
  return `${podCount(pods)} of ${units.length === 1 ? '1 unit' : `${units.length} units`} (${range})`;
}

/** Joins the texts into as few warnings as possible: the API server cuts each warning at 256 characters. */
function inLines(texts: readonly string[], left: number): string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const last = lines.at(-1);
    if (last !== undefined && HEAD.length + last.length + text.length + 2 <= 240)
      lines[lines.length - 1] = `${last}, ${text}`;
    else lines.push(`would go: ${text}`);
  }
  if (left > 0) lines.push(`would go: ${left} more of this namespace`);
  return lines;
}

function placed(gang: JsonObject, namespace: string): JsonObject {
  const metadata = own(gang, 'metadata');
  const of = typeof metadata === 'object' && metadata !== null ? (metadata as JsonObject) : {};
  return trimmed({ ...gang, metadata: { ...of, namespace } });
}

import { fault, keyed, type Fault } from '../api/fault.ts';
import { own, ownString, type JsonObject } from '../json/json.ts';
import { ANNOTATION_GANG_SIZE, LABEL_GANG, MARK_GANG_PER } from '../api/names.ts';
import { quoted } from '../text/printable.ts';
import { askingWorkload, type AskingWorkload } from './asking-workload.ts';
import { hasLabel, isPart } from './gang-label.ts';
import { isMultiTemplate, readComponents, templatesOf } from './components.ts';
import { placeIn } from './controlling.ts';
import { controlledPods } from './preview-gang.ts';
import type { GangKind, OrderedStart } from './kind.ts';
import { kindAmong, kinds as known } from './kinds.ts';
import { orderedBy } from './ordered-start.ts';
import { gangNumbers } from './gang-numbers.ts';
import { groupsFromSize } from './made-gang.ts';
import { labelAdded } from './label-added.ts';
import { placeOf } from './path.ts';
import { podFromTemplate } from './pod-from-template.ts';
import { namesOf } from './pod-names.ts';
import { marksOf } from './pod-origin.ts';
import { WorkloadReading } from './workload-reading.ts';

/** What is wrong with a workload as a gang: what cannot work, and what works otherwise than it looks. */
export interface WorkloadVerdict {
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
}

/** A text is a warning. */
type Check = (workload: AskingWorkload) => readonly (Fault | string)[];

/** What would be refused of each Pod as its controller makes it, by the rules of Pods. */
const podNames: Check = ({ object, kinds, by, templates }) => {
  // One that is not known may make workloads of a kind that is.
  if (by === undefined && kindAmong(known, object)?.gang !== 'never') {
    const field = keyed(`${templates[0]?.path}.metadata.labels`, LABEL_GANG);
    return [
      `${field}: Muster knows no gangs of this kind: Pods that such an object makes itself are refused, those of a workload of a known kind that it makes are not`,
    ];
  }
  const controlled = controlledPods(object, kinds);
  return templates.flatMap(({ template, path: place }) => {
    const pod = podFromTemplate(template, { name: '', namespace: '' });
    const told = namesOf(marksOf(controlled(pod, template)), kinds);
    return told.is === 'wrong' ? told.faults.map((one) => ({ ...one, field: `${place}.${one.field}` })) : [];
  });
};

/** What of a workload waits for Pods that are gated until it is there as well. */
function orderedStartOf({ by, templates }: AskingWorkload): readonly OrderedStart[] {
  if (by === undefined) return [];
  const ofTemplates = templates.flatMap(({ oneByOne }) =>
    oneByOne === undefined ? [] : [orderedBy(by.workload, oneByOne)],
  );
  const all = [...ofTemplates, ...(by.kind.orderedStart?.(by.workload) ?? [])];
  return [...new Map(all.map((one) => [one.field, { ...one, field: placeIn(by, one.field) }])).values()];
}

/** Of two Pods and more, one that is made once another has a node, or is ready. */
const podsOneByOne: Check = (workload) => {
  const count = workload.templates.reduce((sum, { pods }) => sum + (pods ?? 1), 0);
  if (count < 2) return [];
  return orderedStartOf(workload).map(({ field, value, advice }) =>
    fault('PodsOneByOne', field, { ...(typeof value === 'string' && { value }), detail: advice }),
  );
};

/** A minimum above the Pods that there are, or what is no number at all. */
const numbers: Check = ({ by }) => {
  if (by === undefined) return [];
  const reading = new WorkloadReading(by.workload);
  readComponents(by.workload, by.kind, reading);
  return reading.wrongs.map(({ field, message }) =>
    fault('GangNumbersInvalid', placeIn(by, field), { detail: message }),
  );
};

/** What the kind says of fields that work otherwise than they look. */
const ofKind: Check = ({ by }) =>
  by?.kind.warnings?.(by.workload).map(({ field, message }) => `${placeIn(by, field)}: ${message}`) ?? [];

/** A group without Pods. It is not refused: a PodGang that somebody wrote himself may leave that group out. */
const templatesWithoutLabel: Check = (workload) =>
  groupsWithoutLabel(workload).map(({ field, group }) => {
    const alone =
      workload.by?.kind.partIsGroup === true ? `, or the others ${MARK_GANG_PER}: replicatedjob besides` : '';
    return `${field}: the gang waits for Pods of ${quoted(group)}: give these the label as well${alone}`;
  });

/** The groups of a gang whose template has no label, and so no Pods, and where that is missing. */
export function groupsWithoutLabel({
  by,
}: AskingWorkload): { readonly field: string; readonly group: string }[] {
  if (by === undefined || !isMultiTemplate(by.kind)) return [];
  const { workload, kind } = by;
  const all = templatesOf(workload, kind, new WorkloadReading(workload));
  // A gang of a template alone does not wait for the others.
  if (!all.some(({ template }) => hasLabel(template) && !isPart(template))) return [];
  const { groups } = gangNumbers(workload, kind);
  return all.flatMap(({ template, path: at }, index) => {
    const { name = '', minReplicas = 0 } = groups[index] ?? {};
    if (template === undefined || hasLabel(template) || minReplicas === 0) return [];
    return [{ field: keyed(`${placeIn(by, placeOf(at))}.metadata.labels`, LABEL_GANG), group: name }];
  });
}

/** Numbers that cannot be read, for where nobody may read the workload. */
const sizes: Check = ({ templates }) =>
  templates.flatMap(({ template, path: place }) => {
    const size = ownString(own(own(template, 'metadata'), 'annotations'), ANNOTATION_GANG_SIZE);
    if (size === undefined || groupsFromSize(size) !== undefined) return [];
    const field = keyed(`${place}.metadata.annotations`, ANNOTATION_GANG_SIZE);
    return [`${field}: ${quoted(size)} says no numbers: write them as leader=1,worker=7`];
  });

const checks: readonly Check[] = [podNames, podsOneByOne, numbers, ofKind, templatesWithoutLabel, sizes];

/**
 * What is wrong with a workload whose Pods ask for a gang by the label `muster.dev/gang` on their template; nothing of any
 * other object. One list for admission, `muster review` and `muster validate`.
 * @param kinds workloads whose Pods may ask for a gang; default: those that Muster knows
 * @param before what is stored of it, without the label
 */
export function checkWorkload(
  object: JsonObject,
  kinds?: readonly GangKind[],
  before?: JsonObject,
): WorkloadVerdict {
  const workload = askingWorkload(object, kinds);
  const said = workload === undefined ? [] : checks.flatMap((check) => check(workload));
  if (workload !== undefined && before !== undefined) said.push(...labelAdded(workload, before));
  return {
    faults: said.filter((one) => typeof one !== 'string'),
    warnings: said.filter((one) => typeof one === 'string'),
  };
}

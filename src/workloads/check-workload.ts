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

/** The verdict on a workload as a gang: faults that stop it, and warnings about fields with another effect than expected. */
export interface WorkloadVerdict {
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
}

/** Faults are objects, warnings are texts. */
type Check = (workload: AskingWorkload) => readonly (Fault | string)[];

/** Faults of the Pods that the controller will create, by the rules for Pods. */
const podNames: Check = ({ object, kinds, by, templates }) => {
  // An unknown kind may create workloads of a known kind.
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

/** Fields of a workload that make some Pods wait for other Pods, which are gated until the first exist. */
function orderedStartOf({ by, templates }: AskingWorkload): readonly OrderedStart[] {
  if (by === undefined) return [];
  const ofTemplates = templates.flatMap(({ oneByOne }) =>
    oneByOne === undefined ? [] : [orderedBy(by.workload, oneByOne)],
  );
  const all = [...ofTemplates, ...(by.kind.orderedStart?.(by.workload) ?? [])];
  return [...new Map(all.map((one) => [one.field, { ...one, field: placeIn(by, one.field) }])).values()];
}

/** Faults of a gang of two or more Pods whose controller creates a Pod only after another one has a node or is ready. */
const podsOneByOne: Check = (workload) => {
  const count = workload.templates.reduce((sum, { pods }) => sum + (pods ?? 1), 0);
  if (count < 2) return [];
  return orderedStartOf(workload).map(({ field, value, advice }) =>
    fault('PodsOneByOne', field, { ...(typeof value === 'string' && { value }), detail: advice }),
  );
};

/** Faults of a minimum above the number of Pods, and of values that are no numbers. */
const numbers: Check = ({ by }) => {
  if (by === undefined) return [];
  const reading = new WorkloadReading(by.workload);
  readComponents(by.workload, by.kind, reading);
  return reading.wrongs.map(({ field, message }) =>
    fault('GangNumbersInvalid', placeIn(by, field), { detail: message }),
  );
};

/** The kind's own warnings about fields with another effect than expected. */
const ofKind: Check = ({ by }) =>
  by?.kind.warnings?.(by.workload).map(({ field, message }) => `${placeIn(by, field)}: ${message}`) ?? [];

/** Warns about groups without Pods. Not refused, since a user's own PodGang may leave such a group out. */
const templatesWithoutLabel: Check = (workload) =>
  groupsWithoutLabel(workload).map(({ field, group }) => {
    const alone =
      workload.by?.kind.partIsGroup === true ? `, or the others ${MARK_GANG_PER}: replicatedjob besides` : '';
    return `${field}: the gang waits for Pods of ${quoted(group)}: give these the label as well${alone}`;
  });

/** Groups of a gang that get no Pods because their template lacks the label, with the place of the missing label. */
export function groupsWithoutLabel({
  by,
}: AskingWorkload): { readonly field: string; readonly group: string }[] {
  if (by === undefined || !isMultiTemplate(by.kind)) return [];
  const { workload, kind } = by;
  const all = templatesOf(workload, kind, new WorkloadReading(workload));
  // When every labelled template is a gang of its own, no gang waits for other templates.
  if (!all.some(({ template }) => hasLabel(template) && !isPart(template))) return [];
  const { groups } = gangNumbers(workload, kind);
  return all.flatMap(({ template, path: at }, index) => {
    const { name = '', minReplicas = 0 } = groups[index] ?? {};
    if (template === undefined || hasLabel(template) || minReplicas === 0) return [];
    return [{ field: keyed(`${placeIn(by, placeOf(at))}.metadata.labels`, LABEL_GANG), group: name }];
  });
}

/**
 * Warns about an unreadable size annotation, which replaces the workload's numbers where Muster may not read the workload.
 */
const sizes: Check = ({ templates }) =>
  templates.flatMap(({ template, path: place }) => {
    const size = ownString(own(own(template, 'metadata'), 'annotations'), ANNOTATION_GANG_SIZE);
    if (size === undefined || groupsFromSize(size) !== undefined) return [];
    const field = keyed(`${place}.metadata.annotations`, ANNOTATION_GANG_SIZE);
    return [`${field}: ${quoted(size)} says no numbers: write them as leader=1,worker=7`];
  });

const checks: readonly Check[] = [podNames, podsOneByOne, numbers, ofKind, templatesWithoutLabel, sizes];

/**
 * The verdict on a workload with the label `muster.dev/gang` on a Pod template; empty for any other object. Admission,
 * `muster review` and `muster validate` use the same checks.
 * @param kinds kinds whose Pods may form gangs; default: those of Muster
 * @param before the stored workload, whose templates do not have the label yet
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

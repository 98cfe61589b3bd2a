import { isObject, own, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { POD_GANG_KIND, ANNOTATION_WORKLOAD, LABEL_POD_CLIQUE } from '../../api/names.ts';
import { MusterError } from '../../errors.ts';
import { objectTitle } from '../../k8s/field-reader.ts';
import { checkWorkload } from '../../workloads/check-workload.ts';
import { gangPodsOf } from '../../workloads/gang-pods.ts';
import { podFromTemplate } from '../../workloads/pod-from-template.ts';
import { podTemplatesOf } from '../../workloads/pod-templates.ts';
import { readObjects } from '../input/documents.ts';
import { unreadable, type InputFault } from '../input/input-fault.ts';
import { readInputs } from '../input/input-files.ts';
import { itemsOf, needed } from '../input/list-items.ts';
import type { CliIo } from '../output/io.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { expectedPods } from '../../gang/expected-pods.ts';
import { membershipOf } from '../../gang/membership.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';

/**
 * All objects of the files, items of lists included. A file that is JSON as a whole, as of `kubectl get -o json`, is parsed
 * by JSON.parse: a snapshot of a large cluster has hundreds of megabytes, and the YAML reader keeps a tree of it all.
 * @throws MusterError INPUT_UNREADABLE
 */
export async function objectsOf(
  paths: readonly string[],
  io: Pick<CliIo, 'readStdin'>,
): Promise<JsonObject[]> {
  const faults: InputFault[] = [];
  const objects: JsonObject[] = [];
  for await (const input of readInputs(paths, io, (fault) => faults.push(fault))) {
    const whole = /^\s*\{/.test(input.text) ? parsed(input.text) : undefined;
    const strange = (path: string, item: Json): void =>
      void faults.push({
        file: input.name,
        line: 0,
        column: 0,
        message: needed(item, path),
        fix: 'take the snapshot again, or correct this item',
      });
    const found =
      whole === undefined ? readObjects(input, (fault) => faults.push(fault)) : itemsOf(whole, strange);
    for (const { object } of found) objects.push(object);
  }
  if (faults.length > 0) throw unreadable(faults);
  return objects;
}

/**
 * All objects of files that have whole objects.
 * @throws MusterError INPUT_UNREADABLE, also for a file of `muster snapshot`
 */
export async function wholeObjectsOf(
  paths: readonly string[],
  io: Pick<CliIo, 'readStdin'>,
): Promise<JsonObject[]> {
  const objects = await objectsOf(paths, io);
  const cut = objects.find(
    (object) => own(object, 'kind') === POD_GANG_KIND && isCut(own(object, 'metadata')),
  );
  if (cut === undefined) return objects;
  throw new MusterError(
    'INPUT_UNREADABLE',
    `${objectTitle(cut)} comes from muster snapshot, which leaves out gates, conditions and times`,
    'take the file with kubectl get -o json, as --help shows, or read the cluster without -f',
  );
}

/** The API server gives each object a uid and a time of creation; a snapshot has only the uid of a PodGang. */
const isCut = (metadata: Json | undefined): boolean =>
  own(metadata, 'uid') !== undefined && own(metadata, 'creationTimestamp') === undefined;

/** undefined where the text is no JSON; the YAML reader then reports the fault with its position. */
function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Pods of one workload that are counted at most; a higher number is taken for a typing error. */
const MOST_PODS = 10_000;

/** The Pod itself, or the Pods of a workload's templates with numbered names. */
export function podsOf(object: JsonObject, namespace: string): JsonObject[] {
  if (ownString(object, 'kind') === 'Pod') return [object];
  const metadata = own(object, 'metadata');
  const name = ownString(metadata, 'name') ?? ownString(metadata, 'generateName') ?? '';
  const owner = { name, namespace: ownString(metadata, 'namespace') || namespace };
  const asked = gangPodsOf(object, owner.namespace)?.pods;
  const each =
    asked ??
    podTemplatesOf(object).map(({ template, pods = 1 }) => ({
      pod: podFromTemplate(template, owner),
      count: pods,
    }));
  let number = 0;
  return each.flatMap(({ pod, count }) =>
    Array.from({ length: Math.min(count, MOST_PODS) }, () => {
      number += 1;
      return withName(pod, `${name}-${number - 1}`);
    }),
  );
}

const withName = (pod: JsonObject, name: string): JsonObject => ({
  ...pod,
  metadata: { ...ownObject(pod, 'metadata'), name },
});

/**
 * The objects, and the PodGangs that Muster would make for their workloads where the input has none of that name.
 * @throws MusterError INPUT_UNREADABLE for a workload that would be refused
 */
export function withMadeGangs(objects: readonly JsonObject[], namespace: string): readonly JsonObject[] {
  const placeOf = (object: JsonObject): string => {
    const metadata = own(object, 'metadata');
    return `${ownString(metadata, 'namespace') || namespace}/${ownString(metadata, 'name') ?? ''}`;
  };
  const written = new Set(objects.filter((one) => own(one, 'kind') === POD_GANG_KIND).map(placeOf));
  const made = objects.flatMap((object) => {
    const { faults } = checkWorkload(object);
    if (faults.length > 0) {
      const lines = faults.map(({ field, message }) => `${objectTitle(object)}: ${field}: ${message}`);
      const fix = 'correct the workload: as it stands it is refused, and there is no gang to plan for';
      throw new MusterError('INPUT_UNREADABLE', lines.join('\n'), fix);
    }
    const at = ownString(own(object, 'metadata'), 'namespace') || namespace;
    return gangPodsOf(object, at)?.gangs ?? [];
  });
  return [...objects, ...made.filter((gang) => !written.has(placeOf(gang)))];
}

/**
 * The objects with a preview Pod multiplied to the number that its PodGang waits for: `muster review -o yaml` writes one Pod
 * for all Pods of a group.
 * @param namespace of objects without one
 */
export function withPreviewedPods(objects: readonly JsonObject[], namespace: string): readonly JsonObject[] {
  const gangs = new Map<string, PodGang>();
  for (const object of objects) {
    if (own(object, 'kind') !== POD_GANG_KIND) continue;
    const { gang } = parsePodGang(object, namespaceOf(object, namespace));
    gangs.set(`${gang.namespace}/${gang.name}`, gang);
  }
  const pods = objects.filter((one) => own(one, 'kind') === 'Pod');
  const byGang = Map.groupBy(pods, (pod) => gangOf(pod, namespace));
  const others = objects.filter((one) => own(one, 'kind') !== 'Pod');
  return [...others, ...[...byGang].flatMap(([key, some]) => allOf(some, gangs.get(key)))];
}

function allOf(pods: readonly JsonObject[], gang: PodGang | undefined): readonly JsonObject[] {
  const preview = pods.find(isPreview);
  if (gang === undefined || preview === undefined) return pods;
  const { counts } = expectedPods(gang);
  // The leaders and the workers of a LeaderWorkerSet may share a template.
  const sharesTemplate = gang.annotations.get(ANNOTATION_WORKLOAD)?.startsWith('lws/') === true;
  const byGroup = Map.groupBy(pods, groupOf);
  const more = gang.spec.groups.flatMap(({ name }, index) => {
    const there = byGroup.get(name) ?? [];
    const like = there.find(isPreview) ?? (sharesTemplate && there.length === 0 ? preview : undefined);
    if (like === undefined) return [];
    const missing = Math.max((counts[index] ?? 0) - there.length, 0);
    return Array.from({ length: missing }, (_, at) =>
      withName(inGroup(like, name), `${baseOf(like)}${name}-${there.length + at}`),
    );
  });
  return [
    ...pods.map((pod) => (nameOf(pod) ? pod : withName(pod, `${baseOf(pod)}${groupOf(pod)}-0`))),
    ...more,
  ];
}

const nameOf = (pod: JsonObject): string => ownString(own(pod, 'metadata'), 'name') ?? '';
const baseOf = (pod: JsonObject): string => ownString(own(pod, 'metadata'), 'generateName') ?? '';

/** Whether a Pod is a preview of a template, which stands for several Pods. */
const isPreview = (pod: JsonObject): boolean => {
  const metadata = own(pod, 'metadata');
  return ownString(metadata, 'generateName') !== undefined && ownString(metadata, 'uid') === undefined;
};

const namespaceOf = (object: JsonObject, fallback: string): string =>
  ownString(own(object, 'metadata'), 'namespace') || fallback;

const labelOf = (pod: JsonObject) => (key: string) => ownString(own(own(pod, 'metadata'), 'labels'), key);

function gangOf(pod: JsonObject, namespace: string): string {
  const at = namespaceOf(pod, namespace);
  return `${at}/${membershipOf(at, labelOf(pod)).gang}`;
}

const inGroup = (pod: JsonObject, group: string): JsonObject => {
  const metadata = ownObject(pod, 'metadata');
  const labels = { ...ownObject(metadata, 'labels'), [LABEL_POD_CLIQUE]: group };
  return { ...pod, metadata: { ...metadata, labels } };
};

const groupOf = (pod: JsonObject): string => membershipOf('', labelOf(pod)).group;

import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { ANNOTATION_WORKLOAD, LABEL_POD_CLIQUE, POD_GANG_KIND } from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { expectedPods } from '../../gang/expected-pods.ts';
import { membershipOf } from '../../gang/membership.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';
import { withName } from './plan-objects.ts';

/**
 * The objects with as many Pods as their PodGang waits for in place of one that a template is previewed by:
 * `muster review -o yaml` writes one for all Pods of a group.
 * @param namespace of objects that name none
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
  // The leaders and the workers of its groups may have one template.
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

/** A Pod that nobody has made yet, of which there may be more. */
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

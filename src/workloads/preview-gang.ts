import { isObject, own, ownString, type JsonObject } from '../json/json.ts';
import { LABEL_GANG } from '../api/names.ts';
import type { PodController } from '../api/pod-origin.ts';
import { controllersFor, nameOf } from './controlling.ts';
import type { GangKind } from './kind.ts';
import { gangNumbers, groupsByTemplate, groupsOfPart, isIdle } from './gang-numbers.ts';
import { hostsOfMade, madeGang } from './made-gang.ts';
import { MAIN } from './single-template.ts';
import { originOf } from './pod-origin.ts';

/** Whether a template's Pods request a gang. */
export const templateAsksForGang = (template: JsonObject): boolean =>
  own(own(own(template, 'metadata'), 'labels'), LABEL_GANG) !== undefined;

/** Adds to a Pod of a template the metadata that the workload's controller sets. */
export function controlledPods(
  object: JsonObject,
  kinds?: readonly GangKind[],
): (pod: JsonObject, template: JsonObject) => JsonObject {
  const all = controllersFor(object, kinds).map(({ workload, kind }) => {
    const groups = groupsByTemplate(workload, kind);
    return { name: nameOf(workload), kind, groups };
  });
  return (pod, template) => {
    const by = all.find(({ groups }) => groups.has(template)) ?? all[0];
    const made =
      by === undefined
        ? { labels: {}, controller: titleOf(object) }
        : by.kind.mark(by.name, by.groups.get(template) ?? MAIN, undefined);
    const metadata = own(pod, 'metadata');
    const labels = own(metadata, 'labels');
    return {
      ...pod,
      metadata: {
        ...(isObject(metadata) && metadata),
        ...('name' in made && made.name !== undefined && { name: made.name }),
        labels: { ...(isObject(labels) && labels), ...made.labels },
        ownerReferences: [{ ...made.controller, uid: '', controller: true }],
      },
    };
  };
}

const titleOf = (object: JsonObject): Omit<PodController, 'uid'> => ({
  apiVersion: ownString(object, 'apiVersion') ?? '',
  kind: ownString(object, 'kind') ?? '',
  name: nameOf(object),
});

/** The PodGang that Muster makes for an admitted Pod; undefined when it makes none. */
export function previewGang(
  admitted: JsonObject,
  object: JsonObject,
  {
    namespace,
    name,
    backend,
    kinds,
  }: {
    readonly namespace: string;
    readonly name: string;
    readonly backend?: string | undefined;
    readonly kinds?: readonly GangKind[] | undefined;
  },
): { readonly gang: JsonObject; readonly wrong?: string } | undefined {
  const origin = originOf(admitted, kinds);
  const by = controllersFor(object, kinds).find(({ kind }) => kind.short === origin?.kind);
  if (by === undefined || origin === undefined) return undefined;
  const numbers = gangNumbers(by.workload, by.kind);
  if (isIdle(numbers, by.kind)) return undefined;
  const groups = groupsOfPart(numbers, by.kind, origin.part);
  const priorityClassName = ownString(own(admitted, 'spec'), 'priorityClassName');
  const { policy } = numbers;
  const hosts =
    policy === undefined ? undefined : hostsOfMade(by.kind, nameOf(by.workload), groups, origin.part);
  const gang = madeGang({
    ...{ namespace, name, groups, backend, priorityClassName, policy, hosts },
    origin: { ...origin, uid: undefined },
  });
  return { gang, ...(numbers.wrong !== undefined && { wrong: numbers.wrong }) };
}

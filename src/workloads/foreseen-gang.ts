import { isObject, own, ownObject, ownString, type JsonObject } from '../api/json.ts';
import { LABEL_GANG } from '../api/names.ts';
import { groupVersionOf } from '../api/resource.ts';
import type { GangKind } from './gang-kind.ts';
import { gangKinds } from './gang-kinds.ts';
import { gangNumbers, groupOfTemplate, groupsOfPart } from './gang-numbers.ts';
import { madeGang } from './made-gang.ts';
import { originOf } from './pod-origin.ts';

/** What controls the Pods of a workload: for most it is the workload itself. */
interface Controlling {
  readonly workload: JsonObject;
  readonly kind: GangKind;
}

/**
 * The workload by which Pods are marked. What a controller still makes in between is taken for made: the ReplicaSet of a
 * Deployment, whose name ends with a hash of the template (`hash` stands for it), and a Job of a CronJob, whose name ends
 * with its minute (`0`).
 */
function controlling(object: JsonObject, kinds = gangKinds): Controlling | undefined {
  const apiVersion = ownString(object, 'apiVersion') ?? '';
  const { group } = groupVersionOf(apiVersion);
  const name = nameOf(object);
  const between = (kind: string, suffix: string, spec: JsonObject | undefined): JsonObject => ({
    ...{ apiVersion, kind },
    metadata: { name: `${name}-${suffix}` },
    ...(spec && { spec }),
  });
  const spec = ownObject(object, 'spec');
  const title = `${group}/${ownString(object, 'kind') ?? ''}`;
  const workload =
    title === 'apps/Deployment'
      ? between('ReplicaSet', 'hash', spec)
      : title === 'batch/CronJob'
        ? between('Job', '0', ownObject(own(spec, 'jobTemplate'), 'spec'))
        : object;
  const kind = kinds.find((one) => one.group === group && one.kind === ownString(workload, 'kind'));
  return kind && { workload, kind };
}

const nameOf = (object: JsonObject): string => ownString(own(object, 'metadata'), 'name') || 'unnamed';

/** Whether the Pods of a template ask for a gang. */
export const templateAsksForGang = (template: JsonObject): boolean =>
  own(own(own(template, 'metadata'), 'labels'), LABEL_GANG) !== undefined;

/** A Pod from a template of a workload, with the marks that the workload's controller puts on it. */
export function controlledPod(
  pod: JsonObject,
  object: JsonObject,
  template: JsonObject,
  kinds?: readonly GangKind[],
): JsonObject {
  const by = controlling(object, kinds);
  const metadata = own(pod, 'metadata');
  const made =
    by === undefined
      ? {
          labels: {},
          controller: {
            apiVersion: ownString(object, 'apiVersion') ?? '',
            kind: ownString(object, 'kind') ?? '',
            name: nameOf(object),
          },
        }
      : by.kind.mark(nameOf(by.workload), groupOfTemplate(by.workload, by.kind, template), undefined);
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
}

/** The PodGang that Muster makes for a Pod as it is admitted; undefined where it makes none. */
export function foreseenGang(
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
  const by = controlling(object, kinds);
  const origin = originOf(admitted, kinds);
  if (by === undefined || origin === undefined) return undefined;
  const numbers = gangNumbers(by.workload, by.kind);
  const groups = groupsOfPart(numbers, by.kind, origin.part);
  const priorityClassName = ownString(own(admitted, 'spec'), 'priorityClassName');
  const gang = madeGang({
    ...{ namespace, name, groups, backend, priorityClassName },
    origin: { ...origin, uid: undefined },
  });
  return { gang, ...(numbers.wrong !== undefined && { wrong: numbers.wrong }) };
}

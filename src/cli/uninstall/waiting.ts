import {
  CLEANUP_FINALIZER_PREFIX,
  GATE_POD_GANG_PENDING,
  LABEL_MANAGED_BY,
  LABEL_POD_GANG,
  MANAGED_BY_GROVE,
} from '../../api/names.ts';
import { ownList, ownString } from '../../json/json.ts';
import type { PatchOperation } from '../../json/patch.ts';
import { POD_GANGS, PODS, type KubeObject } from '../../kube/client/resources.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import { listedObjects, type Where } from './read.ts';
import type { StepWork, Write } from './write.ts';

/** Pods that wait behind Muster's gate, and PodGangs with a finalizer that Muster's loop would take off. */
export async function findWaiting(where: Where): Promise<StepWork> {
  const [gangs, pending] = await Promise.all([
    listedObjects(where, POD_GANGS),
    listedObjects(where, PODS, { fieldSelector: 'status.phase=Pending' }),
  ]);
  const managers = new Map(gangs.map(({ metadata }) => [keyIn(metadata), managerOf(metadata)]));
  const gated = pending.filter((pod) => gateIndex(pod) >= 0 && pod.metadata.deletionTimestamp === undefined);
  const isGroves = ({ metadata }: KubeObject): boolean => {
    const gang = keyOf(metadata.namespace ?? '', metadata.labels?.[LABEL_POD_GANG] ?? '');
    return (managers.get(gang) ?? managerOf(metadata)) === MANAGED_BY_GROVE;
  };
  const groves = gated.filter(isGroves).length;
  return {
    writes: [...gangs.flatMap(withoutFinalizers), ...gated.filter((pod) => !isGroves(pod)).map(withoutGate)],
    stays:
      groves === 0 ? [] : [`gates of ${groves} Pods of the Grove operator, which takes them off by itself`],
  };
}

/** Names that are listed of many. */
const SHOWN = 20;

/**
 * Pods of gangs without a node and without Muster's gate. A scheduler that counts gangs waits for the rest of one whose other
 * Pods came in as ordinary ones.
 */
export async function findUnbound(where: Where): Promise<readonly string[]> {
  const pending = await listedObjects(where, PODS, {
    fieldSelector: 'status.phase=Pending,spec.nodeName=',
    labelSelector: LABEL_POD_GANG,
  });
  const names = pending
    .filter((pod) => gateIndex(pod) < 0 && pod.metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
  if (names.length === 0) return [];
  const rest = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  return [
    `gang Pods without a node: ${names.slice(0, SHOWN).join(', ')}${rest}; one whose scheduler waits for the rest of ` +
      'its gang waits for ever: delete it, and its controller makes an ordinary one',
  ];
}

const keyIn = ({ namespace = '', name }: KubeObject['metadata']): string => keyOf(namespace, name);
const managerOf = ({ labels }: KubeObject['metadata']): string | undefined => labels?.[LABEL_MANAGED_BY];

const gateIndex = ({ spec }: KubeObject): number =>
  (ownList(spec, 'schedulingGates') ?? []).findIndex(
    (gate) => ownString(gate, 'name') === GATE_POD_GANG_PENDING,
  );

/** In a script the gate is named, not counted: another controller may have removed its own meanwhile. */
const GATE_OFF = JSON.stringify({
  spec: { schedulingGates: [{ $patch: 'delete', name: GATE_POD_GANG_PENDING }] },
});

function withoutGate(pod: KubeObject): Write {
  const path = `/spec/schedulingGates/${gateIndex(pod)}`;
  const { name, namespace = '', uid } = pod.metadata;
  return {
    target: { resource: PODS, namespace, name },
    patch: {
      operations: [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'test', path: `${path}/name`, value: GATE_POD_GANG_PENDING },
        { op: 'remove', path },
      ],
      flags: `-p '${GATE_OFF}'`,
    },
  };
}

function withoutFinalizers({ metadata }: KubeObject): Write[] {
  const { name, namespace = '', uid, finalizers = [] } = metadata;
  const operations = finalizers
    .map((finalizer, index) => ({ finalizer, path: `/metadata/finalizers/${index}` }))
    .filter(({ finalizer }) => finalizer.startsWith(CLEANUP_FINALIZER_PREFIX))
    .reverse()
    .flatMap(({ finalizer, path }): PatchOperation[] => [
      { op: 'test', path, value: finalizer },
      { op: 'remove', path },
    ]);
  if (operations.length === 0) return [];
  const tested: PatchOperation[] = [{ op: 'test', path: '/metadata/uid', value: uid }, ...operations];
  return [
    {
      target: { resource: POD_GANGS, namespace, name },
      patch: { operations: tested, flags: `--type=json -p '${JSON.stringify(tested)}'` },
    },
  ];
}

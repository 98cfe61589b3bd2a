import { constant } from '../../json/patch.ts';
import { own, ownObject, type JsonObject } from '../../json/json.ts';
import { LABEL_POD_GANG } from '../../api/names.ts';
import { FLUX, fluxConfigMapName, fluxSecretName, INIT_COMMAND } from './names.ts';
import type { FluxSettings } from './settings.ts';
import type { HpcGang } from '../preparer-factory.ts';
import type { PodList } from '../preparer.ts';

const APART = 'spec.affinity.podAntiAffinity';
const PREFERRED = `${APART}.preferredDuringSchedulingIgnoredDuringExecution` as const;
const REQUIRED = `${APART}.requiredDuringSchedulingIgnoredDuringExecution` as const;
export const NODES =
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms' as const;

/** Lists of a Pod to which the same items are added in all Pods of a gang. */
export const FLUX_LISTS = [
  'spec.volumes',
  'spec.initContainers',
  'containers.volumeMounts',
  PREFERRED,
  REQUIRED,
  NODES,
] as const satisfies readonly PodList[];

/** An item for a list of a Pod; for a list of containers, it is added to the container that runs under Flux. */
export interface FluxPodItem {
  readonly list: (typeof FLUX_LISTS)[number];
  readonly item: JsonObject;
  readonly why: string;
}

/** Items that every Pod of a gang gets under the same settings. */
export interface FluxPodItems {
  /** Items that bring Flux into the Pod. */
  readonly software: readonly FluxPodItem[];
  /** Items that select the Pod's node. */
  readonly places: readonly FluxPodItem[];
}

/** Computed once for all Pods of a gang; each review only compares them. */
export const fluxItemsOf = (gang: HpcGang, settings: FluxSettings): FluxPodItems =>
  constant({ software: softwareOf(gang, settings), places: placesOf(gang, settings) });

function softwareOf(gang: HpcGang, { viewImage, shmSize }: FluxSettings): FluxPodItem[] {
  const { install, software, config, curve, memory } = FLUX.volumes;
  const volume = (name: string, source: JsonObject, why: string): FluxPodItem => ({
    list: 'spec.volumes',
    item: { name, ...source },
    why,
  });
  const scripts = { name: fluxConfigMapName(gang.name), defaultMode: 0o755 };
  // Mode 0444 lets any user of the program read the root-owned file, which only this container mounts. The broker uses a
  // copy.
  const certificate = { secretName: fluxSecretName(gang.name), defaultMode: 0o444 };
  const shared = { medium: 'Memory', ...(shmSize !== undefined && { sizeLimit: shmSize }) };
  const mount = ({ name, mountPath }: { name: string; mountPath: string }, readOnly = false): JsonObject => ({
    name,
    mountPath,
    ...(readOnly && { readOnly }),
  });
  const installer: JsonObject = {
    name: FLUX.installer,
    image: viewImage,
    command: [...INIT_COMMAND],
    volumeMounts: [mount(install), mount(config, true)],
  };
  const mounts: readonly (readonly [JsonObject, string])[] = [
    [mount(install), 'where Flux is'],
    [mount(software), 'where the software of Flux is'],
    [mount(config, true), 'where the start script is'],
    [mount(curve, true), 'where the key of the gang is'],
    [mount(memory), 'shared memory that is large enough'],
  ];
  return [
    volume(install.name, { emptyDir: {} }, 'Flux is copied here'),
    volume(software.name, { emptyDir: {} }, 'what Flux needs is copied here'),
    volume(config.name, { configMap: scripts }, 'the scripts and settings of the gang'),
    volume(memory.name, { emptyDir: shared }, 'MPI shares memory, for which 64M are too little'),
    volume(curve.name, { secret: certificate }, 'the key that only brokers of this gang have'),
    {
      list: 'spec.initContainers',
      item: installer,
      why: 'copies Flux out of its image before the program starts',
    },
    ...mounts.map(([item, why]): FluxPodItem => ({ list: 'containers.volumeMounts', item, why })),
  ];
}

/** What the program's container asks for, where the scheduler and quotas count it; a device is the program's alone. */
const COUNTED = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Fields of a container's security context that only restrict it. */
const RESTRICTING = [
  'allowPrivilegeEscalation',
  'runAsNonRoot',
  'runAsUser',
  'runAsGroup',
  'readOnlyRootFilesystem',
  'seccompProfile',
  'seLinuxOptions',
  'appArmorProfile',
] as const;

/**
 * The installer with amounts and restrictions of the program's container, so that a Pod that is Guaranteed, within a quota or
 * `restricted` stays so. It runs before the program, so it adds nothing to what the Pod asks for.
 */
export function installerLike(installer: JsonObject, container: JsonObject): JsonObject {
  const resources = Object.fromEntries(
    ['requests', 'limits'].flatMap((part) => {
      const amounts = ownObject(ownObject(container, 'resources'), part) ?? {};
      const counted = Object.entries(amounts).filter(([name]) => COUNTED.has(name));
      return counted.length === 0 ? [] : [[part, Object.fromEntries(counted)]];
    }),
  ) as JsonObject;
  const given = ownObject(container, 'securityContext') ?? {};
  const drop = own(own(given, 'capabilities'), 'drop');
  const securityContext: JsonObject = {
    ...Object.fromEntries(RESTRICTING.flatMap((key) => (key in given ? [[key, given[key]]] : []))),
    ...(drop !== undefined && { capabilities: { drop } }),
  };
  return {
    ...installer,
    ...(Object.keys(resources).length > 0 && { resources }),
    ...(Object.keys(securityContext).length > 0 && { securityContext }),
  };
}

const HOSTNAME = 'kubernetes.io/hostname';

function placesOf(gang: HpcGang, settings: FluxSettings): FluxPodItem[] {
  const podAffinityTerm = {
    labelSelector: { matchLabels: { [LABEL_POD_GANG]: gang.name } },
    topologyKey: HOSTNAME,
  };
  const why = 'one Pod a node, so that Flux has the whole of it';
  const items: FluxPodItem[] = [];
  if (settings.onePodPerNode === 'preferred')
    items.push({ list: PREFERRED, item: { weight: 100, podAffinityTerm }, why });
  if (settings.onePodPerNode === 'required') items.push({ list: REQUIRED, item: podAffinityTerm, why });
  const term = policyNodeTerm(settings);
  if (term !== undefined) items.push({ list: NODES, item: term, why: 'the nodes that the HPCPolicy names' });
  return items;
}

export function policyNodeTerm({ nodeAffinity }: FluxSettings): JsonObject | undefined {
  if (nodeAffinity.length === 0) return undefined;
  return {
    matchExpressions: nodeAffinity.map(({ key, values }) =>
      values.length === 0 ? { key, operator: 'Exists' } : { key, operator: 'In', values: [...values] },
    ),
  };
}

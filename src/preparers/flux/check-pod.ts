import { isDeepStrictEqual } from 'node:util';
import { fault, keyed, type Fault } from '../../api/fault.ts';
import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { FLUX, fluxConfigMapName, fluxSecretName, INIT_COMMAND, ENTRYPOINT_COMMAND } from './names.ts';
import type { FluxSettings } from './settings.ts';
import type { HpcGang } from '../preparer-factory.ts';
import type { PodReader } from '../preparer.ts';
import { coresLimited, gpusOf, type AskedGpus } from '../../k8s/container-amounts.ts';
import { containersOf, containerOf, type ChosenContainer } from '../container.ts';
import { checkHostName, type HostName } from '../hosts/host-name.ts';

/** All faults that keep a Pod from running under Flux. Items from an earlier preparation of the same Pod are no faults. */
export function checkPod(
  pod: PodReader,
  runner: Runner,
  gang: HpcGang,
  settings: FluxSettings,
  host: HostName,
): Fault[] {
  return [
    ...checkNetwork(pod),
    ...checkHostName(pod, host, settings.clusterDomain),
    ...checkNames(pod, gang),
    ...checkMounts(runner),
    ...checkCommand(runner, settings),
    ...checkGpus(runner, settings),
    ...checkCores(runner, settings),
    ...checkRdma(runner, settings),
  ];
}

function checkNetwork(pod: PodReader): Fault[] {
  const faults: Fault[] = [];
  for (const field of ['hostNetwork', 'setHostnameAsFQDN']) {
    if (pod.at(['spec', field]) === true) {
      faults.push(fault('HpcNetworkForbidden', `spec.${field}`, { value: true }));
    }
  }
  return faults;
}

/** Faults of containers and volumes with a name that Muster reserves. Muster's own ones are recognized by their content. */
function checkNames(pod: PodReader, { name }: HpcGang): Fault[] {
  const faults: Fault[] = [];
  const reserved = (field: string, value: string): void => {
    faults.push(fault('HpcNameReserved', field, { value }));
  };
  pod.list('spec.initContainers').forEach((one, index) => {
    if (one['name'] !== FLUX.installer || isDeepStrictEqual(own(one, 'command'), INIT_COMMAND)) return;
    reserved(`spec.initContainers[${index}].name`, FLUX.installer);
  });
  containersOf(pod).forEach((one, index) => {
    if (one['name'] === FLUX.installer) reserved(`spec.containers[${index}].name`, FLUX.installer);
  });
  pod.list('spec.volumes').forEach((volume, index) => {
    const called = volume['name'];
    if (typeof called === 'string' && OURS.get(called)?.(volume, name) === false)
      reserved(`spec.volumes[${index}].name`, called);
  });
  return faults;
}

/** Checks by the names of Muster's volumes: whether a volume of that name is the one of this gang. */
const OURS: ReadonlyMap<string, (volume: Json, gang: string) => boolean> = new Map([
  [FLUX.volumes.install.name, (volume: Json) => isObject(own(volume, 'emptyDir'))],
  [FLUX.volumes.software.name, (volume: Json) => isObject(own(volume, 'emptyDir'))],
  [
    FLUX.volumes.config.name,
    (volume: Json, gang: string) => own(own(volume, 'configMap'), 'name') === fluxConfigMapName(gang),
  ],
  [
    FLUX.volumes.curve.name,
    (volume: Json, gang: string) => own(own(volume, 'secret'), 'secretName') === fluxSecretName(gang),
  ],
  [FLUX.volumes.memory.name, (volume: Json) => own(own(volume, 'emptyDir'), 'medium') === 'Memory'],
]);

/** Names of Muster's volumes by mount path. */
const PLACES: ReadonlyMap<string, string> = new Map<string, string>(
  Object.values(FLUX.volumes).map((volume) => [volume.mountPath, volume.name]),
);

function checkMounts({ container, path }: Runner): Fault[] {
  return (ownList(container, 'volumeMounts') ?? []).flatMap((mount, index) => {
    const written = ownString(mount, 'mountPath') ?? '';
    const at = written.endsWith('/') ? written.replace(/(?<=.)\/+$/, '') : written;
    const name = PLACES.get(at);
    return name === undefined || ownString(mount, 'name') === name
      ? []
      : [fault('HpcNameReserved', `${path}.volumeMounts[${index}].mountPath`, { value: at })];
  });
}

function checkCommand({ container, path, argv, wrapped }: Runner, { interactive }: FluxSettings): Fault[] {
  if (wrapped) return [];
  const command = ownList(container, 'command') ?? [];
  if (command.length > 0 || (interactive && argv.length === 0)) return [];
  return [fault('HpcCommandRequired', `${path}.command`)];
}

/** GPUs that the tasks of a Pod cannot share. A Pod without any may be in a gang with others that have some. */
function checkGpus({ gpus, path }: Runner, settings: FluxSettings): Fault[] {
  const { tasksPerNode: tasks, gpusPerTask: each } = settings;
  if (gpus === undefined || canShare(gpus.count, settings)) return [];
  const field = keyed(`${path}.resources.limits`, gpus.resource);
  const said = each === undefined ? '' : `, gpus-per-task ${each}`;
  return [fault('HpcGpusUneven', field, { value: gpus.count, detail: `tasks-per-node is ${tasks}${said}` })];
}

function canShare(
  gpus: number,
  { tasksPerNode: tasks, gpusPerTask: each, exclusive }: FluxSettings,
): boolean {
  if (tasks === 'cpu') return true;
  if (tasks === 'gpu') return gpus % (each ?? 1) === 0;
  if (each === undefined) return gpus % tasks === 0;
  return exclusive ? gpus === tasks * each : gpus >= tasks * each;
}

/** Tasks for which the CPU limit of the container leaves no core. */
function checkCores({ container, path }: Runner, settings: FluxSettings): Fault[] {
  const { tasksPerNode, coresPerTask = 1 } = settings;
  const limit = coresLimited(container);
  const asked = typeof tasksPerNode === 'number' ? tasksPerNode * coresPerTask : coresPerTask;
  if (limit === undefined || asked <= limit) return [];
  const detail = `tasks-per-node is ${tasksPerNode}, cores-per-task ${coresPerTask}`;
  return [fault('HpcCoresTooFew', keyed(`${path}.resources.limits`, 'cpu'), { value: limit, detail })];
}

/** Device plugins' resource names for RDMA: `rdma/hca_shared_devices_a`, `vpc.amazonaws.com/efa`, `nvidia.com/hostdev`. */
const RDMA = /rdma|infiniband|roce|\/efa$|hca|hostdev|mlnx/i;

/** A program that should use RDMA needs an RDMA device; without one it would silently use the slow network. */
export function checkRdma({ container, path }: Runner, { network }: FluxSettings): Fault[] {
  if (network !== 'rdma') return [];
  const resources = own(container, 'resources');
  const asked = ['limits', 'requests'].flatMap((part) => {
    const amounts = own(resources, part);
    return isObject(amounts) ? Object.keys(amounts) : [];
  });
  // A claim may be for any device: its class is unknown here.
  const claims = ownList(resources, 'claims') ?? [];
  return claims.length > 0 || asked.some((name) => RDMA.test(name))
    ? []
    : [fault('HpcRdmaRequired', `${path}.resources.limits`)];
}

/** The container whose command runs under Flux. */
export interface Runner extends ChosenContainer {
  /** The author's command and args, unchanged. */
  readonly argv: readonly string[];
  /** Whether the command already starts under Flux, because the Pod has been prepared before. */
  readonly wrapped: boolean;
  /** GPUs of the container. */
  readonly gpus: AskedGpus | undefined;
}

const wordsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter((word) => typeof word === 'string') : [];

/**
 * Whether a command contains the words that start a program under Flux, at any position: other webhooks may add a prefix.
 */
const isWrapped = (words: readonly string[]): boolean =>
  words.some((_, at) => ENTRYPOINT_COMMAND.every((word, index) => words[at + index] === word));

const argvOf = (container: JsonObject): string[] => [
  ...wordsOf(own(container, 'command')),
  ...wordsOf(own(container, 'args')),
];

/** The container that the settings name, else the one that already runs under Flux, else the only one. */
export function runnerOf(pod: PodReader, { runnerContainer }: FluxSettings): Runner | Fault {
  const chosen = containerOf(pod, runnerContainer, (container) => isWrapped(argvOf(container)));
  if ('rule' in chosen) return chosen;
  const argv = argvOf(chosen.container);
  return { ...chosen, argv, wrapped: isWrapped(argv), gpus: gpusOf(chosen.container) };
}

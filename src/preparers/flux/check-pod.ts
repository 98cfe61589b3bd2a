import { isDeepStrictEqual } from 'node:util';
import { fault, keyed, type Fault } from '../../api/fault.ts';
import { isObject, own, ownList, ownString, type Json } from '../../json/json.ts';
import { FLUX, fluxConfigMapName, fluxSecretName, INIT_COMMAND } from './names.ts';
import type { FluxSettings } from './settings.ts';
import type { HpcGang } from '../preparation.ts';
import type { PodReader } from '../preparer.ts';
import { containersOf } from '../container.ts';
import { checkHostName, type HostName } from '../hosts/host-name.ts';
import { checkRdma } from './check-rdma.ts';
import type { Runner } from './runner.ts';

/** All that keeps a Pod from running under Flux. Whatever is there already because it was prepared is in order. */
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

/** What the Pod calls by a name that Muster needs. What is Muster's own is known by what it is made of. */
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

/** Volumes of Muster's, by their names: whether one is what a gang of that name has. */
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

/** Names of volumes, by where they are mounted. */
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

function checkGpus({ gpus, path }: Runner, { tasksPerNode }: FluxSettings): Fault[] {
  if (gpus === undefined || gpus.count % tasksPerNode === 0) return [];
  const field = keyed(`${path}.resources.limits`, gpus.resource);
  return [fault('HpcGpusUneven', field, { value: gpus.count, detail: `tasks-per-node is ${tasksPerNode}` })];
}

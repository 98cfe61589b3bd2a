import { isDeepStrictEqual } from 'node:util';
import { fault, type Fault } from '../../api/fault.ts';
import { ownList, type JsonObject } from '../../api/json.ts';
import { LABEL_POD_GANG } from '../../api/names.ts';
import { checkFluxGang } from '../../hpc/flux-gang-rules.ts';
import {
  ENTRYPOINT_COMMAND,
  FLUX,
  fluxConfigMapName,
  fluxSecretName,
  INIT_COMMAND,
} from '../../hpc/flux-names.ts';
import { renderFluxObjects } from '../../hpc/flux-objects.ts';
import type { FluxSettings } from '../../hpc/flux-settings.ts';
import { hostGroups } from '../../hpc/hosts.ts';
import { withEnvironment } from '../../hpc/hpc-policy.ts';
import { gpusOf } from '../container.ts';
import { hostNameOf, setHostName } from '../host-name.ts';
import type { HpcGang, Preparation } from '../preparation.ts';
import { podRefused, type PatchSurface, type PodPatch, type PodReader } from '../preparer.ts';
import { checkPod } from './check-pod.ts';
import { runnerOf, type Runner } from './runner.ts';

const APART = 'spec.affinity.podAntiAffinity';
const PREFERRED = `${APART}.preferredDuringSchedulingIgnoredDuringExecution` as const;
const REQUIRED = `${APART}.requiredDuringSchedulingIgnoredDuringExecution` as const;
const NODES =
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms' as const;

const SURFACE: PatchSurface = {
  lists: [
    'spec.volumes',
    'spec.initContainers',
    'containers.volumeMounts',
    'containers.env',
    PREFERRED,
    REQUIRED,
    NODES,
  ],
  fields: ['containers.command', 'containers.args', 'spec.hostname', 'spec.subdomain'],
};

/** A Pod whose program runs under Flux: facts that stand in its gang's objects are not in it, so all Pods of a gang are alike. */
export const fluxPreparation: Preparation = {
  name: 'flux',
  validate: (gang, { flux }, subdomain) => ({
    faults: flux === undefined ? [] : checkFluxGang(gang, flux, subdomain),
    warnings: [],
  }),
  objects: (gang, { flux }, { certificate, subdomain }) =>
    flux === undefined
      ? []
      : renderFluxObjects(gang, flux, { certificate: certificate(gang.name), subdomain }),
  preparer: (gang, { flux }) =>
    flux && {
      name: 'flux',
      patchSurface: SURFACE,
      prepare: (pod, { group }, patch) => prepare(pod, patch, { gang, group, policy: flux }),
    },
};

/** @throws PodRefused with every fault of the Pod */
function prepare(
  pod: PodReader,
  patch: PodPatch,
  { gang, group, policy }: { readonly gang: HpcGang; readonly group: string; readonly policy: FluxSettings },
): void {
  const [runner, host] = [
    runnerOf(pod, policy),
    hostNameOf(pod, gang, group, hostGroups(gang, policy.leadGroup)),
  ];
  if ('rule' in runner || 'rule' in host) throw podRefused([runner, host].filter((one) => 'rule' in one));
  const env = ownList(runner.container, 'env') ?? [];
  const { settings, faults } = withEnvironment(policy, env, `${runner.path}.env`);
  const all = [
    ...checkPod(pod, runner, gang, settings, host),
    ...faults,
    ...checkNodeAffinity(pod, settings),
  ];
  if (all.length > 0) throw podRefused(all);
  setHostName(pod, host, patch);
  addVolumes(patch, gang, settings, runner);
  addAffinity(patch, gang, settings);
  if (runner.wrapped) return;
  const why = 'the program runs under Flux, its own command follows word for word';
  patch.set('containers.command', [...ENTRYPOINT_COMMAND, ...runner.argv], why, runner.name);
  if ((ownList(runner.container, 'args') ?? []).length > 0) {
    patch.set('containers.args', [], 'its arguments stand in the command now', runner.name);
  }
}

function addVolumes(
  patch: PodPatch,
  gang: HpcGang,
  { viewImage, shmSize }: FluxSettings,
  { name: runner, container }: Runner,
): void {
  const { install, software, config, curve, memory } = FLUX.volumes;
  const volume = (name: string, source: JsonObject, why: string): void =>
    patch.add('spec.volumes', { name, ...source }, why);
  const scripts = { name: fluxConfigMapName(gang.name), defaultMode: 0o755 };
  // For whoever the program runs as: the file is root's, and only this container has it. The broker's copy is its own.
  const certificate = { secretName: fluxSecretName(gang.name), defaultMode: 0o444 };
  volume(install.name, { emptyDir: {} }, 'Flux is copied here');
  volume(software.name, { emptyDir: {} }, 'what Flux needs is copied here');
  volume(config.name, { configMap: scripts }, 'the scripts and settings of the gang');
  const shared = { medium: 'Memory', ...(shmSize !== undefined && { sizeLimit: shmSize }) };
  volume(memory.name, { emptyDir: shared }, 'MPI shares memory, for which 64M are too little');
  volume(curve.name, { secret: certificate }, 'the key that only brokers of this gang have');
  const mount = ({ name, mountPath }: { name: string; mountPath: string }, readOnly = false): JsonObject => ({
    name,
    mountPath,
    ...(readOnly && { readOnly }),
  });
  const installer: JsonObject = {
    name: FLUX.installer,
    image: viewImage,
    command: INIT_COMMAND,
    volumeMounts: [mount(install), mount(config, true)],
  };
  patch.add('spec.initContainers', installer, 'copies Flux out of its image before the program starts');
  const mounts: readonly (readonly [JsonObject, string])[] = [
    [mount(install), 'where Flux is'],
    [mount(software), 'where the software of Flux is'],
    [mount(config, true), 'where the start script is'],
    [mount(curve, true), 'where the key of the gang is'],
    [mount(memory), 'shared memory that is large enough'],
  ];
  for (const [item, why] of mounts) patch.add('containers.volumeMounts', item, why, runner);
  const gpus = gpusOf(container);
  if (gpus !== undefined) {
    const item = { name: FLUX.gpusVariable, value: String(gpus.count) };
    patch.add('containers.env', item, 'only the Pod knows its GPUs', runner);
  }
}

const HOSTNAME = 'kubernetes.io/hostname';

function addAffinity(patch: PodPatch, gang: HpcGang, settings: FluxSettings): void {
  const podAffinityTerm = {
    labelSelector: { matchLabels: { [LABEL_POD_GANG]: gang.name } },
    topologyKey: HOSTNAME,
  };
  const why = 'one Pod a node, so that Flux has the whole of it';
  if (settings.onePodPerNode === 'preferred') patch.add(PREFERRED, { weight: 100, podAffinityTerm }, why);
  if (settings.onePodPerNode === 'required') patch.add(REQUIRED, podAffinityTerm, why);
  const term = nodeTerm(settings);
  if (term !== undefined) patch.add(NODES, term, 'the nodes that the HPCPolicy names');
}

function nodeTerm({ nodeAffinity }: FluxSettings): JsonObject | undefined {
  if (nodeAffinity.length === 0) return undefined;
  return {
    matchExpressions: nodeAffinity.map(({ key, values }) =>
      values.length === 0 ? { key, operator: 'Exists' } : { key, operator: 'In', values: [...values] },
    ),
  };
}

/** Terms of node affinity are a choice: what stands there already would be another way past the policy's. */
function checkNodeAffinity(pod: PodReader, settings: FluxSettings): Fault[] {
  const term = nodeTerm(settings);
  if (term === undefined || pod.list(NODES).every((one) => isDeepStrictEqual(one, term))) return [];
  return [fault('HpcAffinityForeign', NODES)];
}

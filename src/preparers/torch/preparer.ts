import { fault, type Fault } from '../../api/fault.ts';
import { own, ownList, ownString } from '../../json/json.ts';
import { gangService, hostCount, hostGroups, hostsBefore, leadHost, minimumPods } from '../hosts/hosts.ts';
import { checkHosts, checkHostName, hostNameOf, setHostName } from '../hosts/host-name.ts';
import type { TorchSettings } from './settings.ts';
import { containerOf, coresOf, gpusOf, type ChosenContainer } from '../container.ts';
import type { HpcGang, PreparerFactory } from '../preparer-factory.ts';
import { NO_FINDINGS, podRefused, type PatchSurface, type PodPatch, type PodReader } from '../preparer.ts';

const SURFACE: PatchSurface = {
  lists: ['containers.env'],
  fields: ['spec.hostname', 'spec.subdomain'],
};

/** Names of Pods are told without the domain of the cluster: only their length is held against the usual one. */
const CLUSTER_DOMAIN = 'cluster.local';

/** On which the first Pod of a gang listens: the port that torchrun takes by itself. */
const TORCH_PORT = 29_500;

/** By which a container shows that it has them. */
const TORCH_MARK = 'PET_NNODES';

/**
 * A Pod of a PyTorch program that runs on all Pods of its gang. Each is told its number at admission: those of the groups
 * before its own, and the one at the end of its host name.
 */
export const torchPreparer: PreparerFactory = {
  name: 'torch',
  preparer: (gang, { torch }) =>
    torch && {
      name: 'torch',
      patchSurface: SURFACE,
      prepare: (pod, { group }, patch) => prepare(pod, patch, { gang, group, settings: torch }),
    },
  validate: (gang, { torch }, subdomain) =>
    torch === undefined
      ? NO_FINDINGS
      : {
          faults: checkHosts(gang, hostGroups(gang), { subdomain, clusterDomain: CLUSTER_DOMAIN }),
          warnings: lateOf(gang),
        },
  objects: (gang, { torch }, { subdomain }) =>
    torch === undefined ? [] : gangService(gang, subdomain, { name: 'torch', port: TORCH_PORT }),
};

/** A PyTorch program starts with all of its Pods, while the gates open for the minimum. */
function lateOf(gang: HpcGang): string[] {
  const [all, least] = [hostCount(hostGroups(gang)), minimumPods(gang)];
  if (all <= least) return [];
  return [
    `the gang starts with ${least} Pods, and PyTorch waits for all ${all} that are expected: raise minReplicas to that`,
  ];
}

/** @throws PodRefused with every fault of the Pod */
function prepare(
  pod: PodReader,
  patch: PodPatch,
  given: { readonly gang: HpcGang; readonly group: string; readonly settings: TorchSettings },
): void {
  const { gang, group, settings } = given;
  const groups = hostGroups(gang);
  const chosen = containerOf(pod, settings.container, (container) =>
    (ownList(container, 'env') ?? []).some((one) => own(one, 'name') === TORCH_MARK),
  );
  const host = hostNameOf(pod, gang, group, groups);
  if ('rule' in chosen || 'rule' in host) throw podRefused([chosen, host].filter((one) => 'rule' in one));
  const processes = processesOf(chosen, settings);
  const faults = [...checkHostName(pod, host, CLUSTER_DOMAIN), ...checkDns(pod)];
  if (typeof processes !== 'number') throw podRefused([...faults, processes]);
  const variables = torchVariables({
    rank: hostsBefore(groups, group) + host.index,
    nodes: hostCount(groups),
    processes,
    address: `${leadHost(groups)}.${host.subdomain}`,
  });
  faults.push(...checkVariables(chosen, new Map(variables)));
  if (faults.length > 0) throw podRefused(faults);
  setHostName(pod, host, patch);
  for (const [name, value] of variables) {
    patch.add('containers.env', { name, value }, 'by which PyTorch finds the other Pods', chosen.name);
  }
}

/** With a value of its own this Pod would look for the others where they are not, or wait for some that there are not. */
const checkVariables = (
  { container, path }: ChosenContainer,
  variables: ReadonlyMap<string, string>,
): Fault[] =>
  (ownList(container, 'env') ?? []).flatMap((one, index) => {
    const name = ownString(one, 'name') ?? '';
    const wanted = variables.get(name);
    return wanted === undefined || own(one, 'value') === wanted
      ? []
      : [fault('TorchVariableTaken', `${path}.env[${index}]`, { value: name, detail: `it is ${wanted}` })];
  });

/** The name of the first Pod is one of the cluster. */
function checkDns(pod: PodReader): Fault[] {
  const policy = pod.at(['spec', 'dnsPolicy']) ?? 'ClusterFirst';
  const onNode = pod.at(['spec', 'hostNetwork']) === true;
  if (policy !== 'Default' && !(policy === 'ClusterFirst' && onNode)) return [];
  const detail = onNode ? 'with hostNetwork' : undefined;
  return [fault('TorchDnsMissing', 'spec.dnsPolicy', { value: policy, detail })];
}

/**
 * The processes of one Pod, as a number. torchrun would count what the machine has, of which the container may use a part,
 * and the other Pods would not know how many it found: a word means what the container asks for.
 */
function processesOf({ container, path }: ChosenContainer, { procPerNode }: TorchSettings): number | Fault {
  if (typeof procPerNode === 'number') return procPerNode;
  const gpus = procPerNode === 'cpu' ? undefined : gpusOf(container)?.count;
  if (gpus !== undefined) return gpus;
  return procPerNode === 'gpu' ? fault('TorchGpusMissing', `${path}.resources.limits`) : coresOf(container);
}

/** What one Pod of a gang is told. */
export interface TorchProcess {
  /** Of the Pod among all that are expected, from 0. */
  readonly rank: number;
  /** How many Pods are expected. */
  readonly nodes: number;
  /** How many processes each of them runs. */
  readonly processes: number;
  /** The name of the first Pod. */
  readonly address: string;
}

/**
 * The environment of a Pod, as text, in a fixed order: first what programs read that start without a launcher, and launchers
 * other than torchrun; then torchrun's own options, each of which it takes from `PET_` and its name. torchrun gives its
 * processes a `RANK` and `WORLD_SIZE` of their own.
 */
const torchVariables = ({
  rank,
  nodes,
  processes,
  address,
}: TorchProcess): readonly (readonly [string, string])[] => [
  ['MASTER_ADDR', address],
  ['MASTER_PORT', String(TORCH_PORT)],
  ['WORLD_SIZE', String(nodes * processes)],
  ['RANK', String(rank)],
  ['PET_NNODES', String(nodes)],
  ['PET_NPROC_PER_NODE', String(processes)],
  ['PET_NODE_RANK', String(rank)],
  ['PET_MASTER_ADDR', address],
  ['PET_MASTER_PORT', String(TORCH_PORT)],
];

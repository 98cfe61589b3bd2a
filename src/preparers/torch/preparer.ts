import { fault, type Fault } from '../../api/fault.ts';
import { own, ownList, ownString } from '../../json/json.ts';
import { gangService, hostCount, hostGroups, hostsBefore, leadHost, minimumPods } from '../hosts/hosts.ts';
import { checkHosts, checkHostName, hostNameOf, setHostName } from '../hosts/host-name.ts';
import type { TorchSettings } from './settings.ts';
import { coresAsked, gpusOf } from '../../k8s/container-amounts.ts';
import { containerOf, type ChosenContainer } from '../container.ts';
import type { HpcGang, PreparerFactory } from '../preparer-factory.ts';
import { NO_FINDINGS, podRefused, type PatchSurface, type PodPatch, type PodReader } from '../preparer.ts';

const SURFACE: PatchSurface = {
  lists: ['containers.env'],
  fields: ['spec.hostname', 'spec.subdomain'],
};

/** Domain for checking the length of names. Pods get names without the cluster's domain, so the usual one is enough. */
const CLUSTER_DOMAIN = 'cluster.local';

/** Port of the first Pod of a gang: torchrun's default. */
const TORCH_PORT = 29_500;

/** Variable that shows that a container has been prepared. */
const TORCH_MARK = 'PET_NNODES';

/**
 * Prepares a Pod of a PyTorch program that runs on all Pods of its gang. Each Pod gets its rank at admission: the number of
 * Pods in the groups before its own, plus the number at the end of its host name.
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

/**
 * Warns when the minimum is below the expected Pods: gates come off at the minimum, but PyTorch starts only with all Pods.
 */
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

/**
 * Faults of variables with a different value: the Pod would look for others at a wrong address, or wait for Pods that do not
 * exist.
 */
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

/** A DNS policy fault: the first Pod's name can be resolved only by the cluster's DNS. */
function checkDns(pod: PodReader): Fault[] {
  const policy = pod.at(['spec', 'dnsPolicy']) ?? 'ClusterFirst';
  const onNode = pod.at(['spec', 'hostNetwork']) === true;
  if (policy !== 'Default' && !(policy === 'ClusterFirst' && onNode)) return [];
  const detail = onNode ? 'with hostNetwork' : undefined;
  return [fault('TorchDnsMissing', 'spec.dnsPolicy', { value: policy, detail })];
}

/**
 * Number of processes of one Pod. A word such as `auto` is replaced by the container's GPUs or cores: torchrun would count
 * the whole machine, of which the container may use only a part, and the other Pods would not know the result.
 */
function processesOf({ container, path }: ChosenContainer, { procPerNode }: TorchSettings): number | Fault {
  if (typeof procPerNode === 'number') return procPerNode;
  const gpus = procPerNode === 'cpu' ? undefined : gpusOf(container)?.count;
  if (gpus !== undefined) return gpus;
  return procPerNode === 'gpu'
    ? fault('TorchGpusMissing', `${path}.resources.limits`)
    : (coresAsked(container) ?? 1);
}

/** PyTorch's parameters for one Pod of a gang. */
export interface TorchProcess {
  /** Rank of the Pod among all expected Pods, from 0. */
  readonly rank: number;
  /** Number of expected Pods. */
  readonly nodes: number;
  /** Number of processes of each Pod. */
  readonly processes: number;
  /** Name of the first Pod. */
  readonly address: string;
}

/**
 * The environment of a Pod, as text, in a fixed order: first the variables of programs without a launcher and of launchers
 * other than torchrun, then torchrun's own options, which it reads from `PET_` and the option's name. torchrun sets `RANK`
 * and `WORLD_SIZE` for its processes itself.
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

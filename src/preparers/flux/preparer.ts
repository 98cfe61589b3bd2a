import { isDeepStrictEqual } from 'node:util';
import { fault, keyed, type Fault } from '../../api/fault.ts';
import { ownList } from '../../json/json.ts';
import { ENTRYPOINT_COMMAND, FLUX } from './names.ts';
import { isDnsLabel } from '../../k8s/name-syntax.ts';
import { preparesAlike } from '../alike.ts';
import { renderFluxObjects } from './objects.ts';
import type { FluxSettings } from './settings.ts';
import { hostGroups, hostCount, quorumOf, type HostGroup, type HpcGang } from '../hosts/hosts.ts';
import { withEnvironment } from '../policy/hpc-policy.ts';
import { hostNameOf, setHostName, checkHosts, type HostName } from '../hosts/host-name.ts';
import type { PreparerFactory } from '../preparer-factory.ts';
import { podRefused, type PatchSurface, type PodPatch, type PodReader, type Preparer } from '../preparer.ts';
import { checkPod, runnerOf, type Runner } from './check-pod.ts';
import {
  FLUX_LISTS,
  fluxItemsOf,
  installerLike,
  policyNodeTerm,
  NODES,
  type FluxPodItem,
  type FluxPodItems,
} from './items.ts';
import { didYouMean } from '../../text/nearest-key.ts';

const SURFACE: PatchSurface = {
  lists: [...FLUX_LISTS, 'containers.env'],
  fields: ['containers.command', 'containers.args', 'spec.hostname', 'spec.subdomain'],
};

/**
 * Prepares a Pod so that its program runs under Flux. Facts about the gang are in the gang's objects rather than in the Pod,
 * so that all Pods of a gang get the same items.
 */
export const fluxPreparer: PreparerFactory = {
  name: 'flux',
  validate: (gang, { flux }, subdomain) => ({
    faults: flux === undefined ? [] : checkFluxGang(gang, flux, subdomain),
    warnings: [],
  }),
  objects: (gang, { flux }, { certificate, subdomain, asks }) =>
    flux === undefined
      ? []
      : renderFluxObjects(gang, flux, { certificate: certificate(gang.name), subdomain, asks }),
  preparer: (gang, { flux }) => flux && preparerOf(gang, flux),
};

/** The preparer for all Pods of a gang; common values are computed once. */
function preparerOf(gang: HpcGang, policy: FluxSettings): Preparer {
  const groups = hostGroups(gang, policy.leadGroup);
  const items = fluxItemsOf(gang, policy);
  const preparer: Preparer = {
    name: 'flux',
    patchSurface: SURFACE,
    prepare: (pod, { group }, patch) => prepare(pod, patch, { gang, group, groups, policy, items }),
  };
  return preparesAlike(preparer, (pod, { group }) => alikeBy(hostNameOf(pod, gang, group, groups), pod));
}

/** A host name that stays decides by its length alone, whether the whole domain is too long. */
function alikeBy(host: HostName | Fault, pod: PodReader): string | undefined {
  if ('rule' in host || !isDnsLabel(host.hostname)) return undefined;
  const { hostname } = host;
  return pod.at(['spec', 'hostname']) === hostname ? `stays: ${hostname.length}` : hostname;
}

interface Given {
  readonly gang: HpcGang;
  readonly group: string;
  readonly groups: readonly HostGroup[];
  readonly policy: FluxSettings;
  readonly items: FluxPodItems;
}

/** @throws PodRefused with every fault of the Pod */
function prepare(
  pod: PodReader,
  patch: PodPatch,
  { gang, group, groups, policy, items: usual }: Given,
): void {
  const [runner, host] = [runnerOf(pod, policy), hostNameOf(pod, gang, group, groups)];
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
  const items = settings === policy ? usual : fluxItemsOf(gang, settings);
  for (const { list, item, why } of items.software) {
    const whole = list === 'spec.initContainers' ? installerLike(item, runner.container) : item;
    patch.add(list, whole, why, runnerOfList(list, runner));
  }
  if (runner.gpus !== undefined) {
    const item = { name: FLUX.gpusVariable, value: String(runner.gpus.count) };
    patch.add('containers.env', item, 'only the Pod knows its GPUs', runner.name);
  }
  for (const { list, item, why } of items.places) patch.add(list, item, why);
  if (runner.wrapped) return;
  const why = 'the program runs under Flux, its own command follows word for word';
  patch.set('containers.command', [...ENTRYPOINT_COMMAND, ...runner.argv], why, runner.name);
  if ((ownList(runner.container, 'args') ?? []).length > 0) {
    patch.set('containers.args', [], 'its arguments stand in the command now', runner.name);
  }
}

const runnerOfList = (list: FluxPodItem['list'], { name }: Runner): string | undefined =>
  list === 'containers.volumeMounts' ? name : undefined;

/** Terms of node affinity are alternatives: an existing term would let the Pod run without satisfying the policy's term. */
function checkNodeAffinity(pod: PodReader, settings: FluxSettings): Fault[] {
  const term = policyNodeTerm(settings);
  if (term === undefined || pod.list(NODES).every((one) => isDeepStrictEqual(one, term))) return [];
  return [fault('HpcAffinityForeign', NODES)];
}

/**
 * All faults of a gang with these settings that can be found without its Pods. Fields under `spec.hpc.settings` are the
 * HPCPolicy's, all others the PodGang's.
 * @param subdomain of the gang's Pods, when they have their own
 */
export function checkFluxGang(gang: HpcGang, settings: FluxSettings, subdomain?: string): Fault[] {
  const groups = hostGroups(gang, settings.leadGroup);
  return [
    ...checkHosts(gang, groups, { subdomain, clusterDomain: settings.clusterDomain }),
    ...checkLead(gang, settings, groups),
    ...checkQuorum(gang, settings, groups),
  ];
}

const setting = (name: string): string => keyed('spec.hpc.settings', name);

function checkLead(gang: HpcGang, { leadGroup }: FluxSettings, groups: readonly HostGroup[]): Fault[] {
  if (leadGroup === undefined || groups.some(({ group }) => group === leadGroup)) return [];
  const names = gang.spec.groups.map(({ name }) => name);
  const detail = names.includes(leadGroup) ? undefined : didYouMean(leadGroup, names);
  return [fault('HpcLeadGroupUnknown', setting('lead-group'), { value: leadGroup, detail })];
}

function checkQuorum(gang: HpcGang, settings: FluxSettings, groups: readonly HostGroup[]): Fault[] {
  const [quorum, hosts] = [quorumOf(gang, settings), hostCount(groups)];
  if (quorum <= hosts && quorum > 0) return [];
  // The default quorum is the minimum, which exceeds the hosts only where these are not named as they have to be.
  if (settings.quorum === undefined) {
    return hosts === 0 || quorum > 0
      ? []
      : [fault('HpcHostsNone', 'spec.podgroups', { detail: 'every minimum is 0' })];
  }
  return [
    fault('HpcQuorumTooLarge', setting('quorum'), { value: String(quorum), detail: `${hosts} are expected` }),
  ];
}

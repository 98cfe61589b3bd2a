import type { GangRecord, PodRecord } from '../gang/records.ts';
import { listed } from '../text/printable.ts';
import {
  hostCount,
  hostGroups,
  hostNames,
  leadHost,
  quorumOf,
  type HostGroup,
} from '../preparers/hosts/hosts.ts';
import {
  preparedMarkOf,
  policyOfGang,
  settingsReplaced,
  verdictOnGang,
  runningMark,
} from '../preparers/registry.ts';
import type { StoredPolicy } from '../preparers/preparer-factory.ts';
import type {
  BrokerStatus,
  FluxStatus,
  GangStatus,
  HostsStatus,
  HpcStatus,
  PodStatus,
} from './gang-status.ts';
import type { JsonObject } from '../json/json.ts';
import { HPC_POLICY_GROUP } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { BY_GANG, type GangView } from '../controller/watch/gang-view.ts';
import { parseHpcPolicy, policyNameOf } from '../preparers/policy/hpc-policy.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isForbidden, isNotFound } from '../kube/client/errors.ts';
import { HPC_POLICIES } from '../kube/client/resources.ts';
import { keyOf } from '../kube/loop/cache.ts';

/** The policy that a gang names: the stored one, that it does not exist, or why it could not be read. */
export type FoundPolicy = StoredPolicy | 'missing' | { readonly unread: string };

/**
 * The state of a gang's hosts under its HPCPolicy, from the current policy and Pods.
 * @param pods the gang's Pods, and `states` their states in `muster status`
 */
export function hpcStatusOf(
  gang: GangRecord,
  named: string,
  found: FoundPolicy,
  { pods, states }: { readonly pods: readonly PodRecord[]; readonly states: readonly PodStatus[] },
): HpcStatus {
  const live = pods.filter(({ deletionTimestamp }) => deletionTimestamp === undefined);
  const bare = live.find(({ prepared }) => prepared === undefined);
  if (found === 'missing') {
    const gone = live.length > 0 && bare === undefined;
    const why = gone
      ? `HPCPolicy ${named} was deleted under its Pods: those that run go on, those with a gate are held, and further ones are refused until it is there again as it was`
      : `HPCPolicy ${named} does not exist in namespace ${gang.namespace}: Pods of the gang are refused until it is created`;
    return { policy: named, why };
  }
  if ('unread' in found) return { policy: named, why: found.unread };
  const policy = policyOfGang(gang, { get: () => found });
  if (policy === undefined || 'rule' in policy) return { policy: named, why: policy?.message ?? '' };
  const runs = live.flatMap((pod) => runningMark(pod) ?? []);
  const wrong =
    settingsReplaced(gang, preparedMarkOf(policy), {
      otherMark: (_, __, mark) => runs.find((one) => one !== mark),
    }) ?? verdictOnGang(gang, policy, subdomainOf(live)).faults[0];
  const unprepared =
    bare === undefined
      ? ''
      : `Pod ${bare.name} was not prepared when it was created (is hpc.enabled set, and was the policy there?): delete it, so that it is made anew`;
  const why = wrong === undefined ? unprepared : `${wrong.field}: ${wrong.message}`;
  if (wrong !== undefined) return { policy: named, why };
  const { flux, managed } = policy;
  // Only another workload manager itself knows the hosts of its program.
  if (managed !== undefined) return { policy: named, why };
  const hosts = hostsStatusOf(hostGroups(gang, flux?.leadGroup), pods, states);
  return flux === undefined
    ? { policy: named, why, torch: hosts }
    : { policy: named, why, flux: { ...hosts, quorum: quorumOf(gang, flux) } };
}

const subdomainOf = (pods: readonly PodRecord[]): string | undefined =>
  pods.find(({ subdomain }) => subdomain !== undefined)?.subdomain;

/** A host's Pod in one of these states is superseded by a later Pod of the same host. */
const PAST: readonly PodStatus['state'][] = ['terminating', 'failed'];
const READY: readonly BrokerStatus['state'][] = ['running', 'succeeded'];

function hostsStatusOf(
  groups: readonly HostGroup[],
  pods: readonly PodRecord[],
  states: readonly PodStatus[],
): HostsStatus {
  const stateOf = new Map(states.map(({ name, state }) => [name, state]));
  const podOf = new Map<string, BrokerStatus>();
  for (const { name, hostname: host } of pods) {
    const state = stateOf.get(name);
    if (host === undefined || state === undefined) continue;
    const before = podOf.get(host);
    if (before === undefined || PAST.some((past) => past === before.state))
      podOf.set(host, { host, pod: name, state });
  }
  const brokers = hostNames(groups).map(
    (host): BrokerStatus => podOf.get(host) ?? { host, pod: '', state: 'missing' },
  );
  const host = leadHost(groups);
  const lead = brokers[0] ?? { host, pod: '', state: 'missing' };
  const late = brokers.filter(({ state }) => !READY.includes(state));
  return {
    lead,
    expected: hostCount(groups),
    there: brokers.filter(({ state }) => state !== 'missing').length,
    ready: brokers.length - late.length,
    waitsFor: hasEnded(lead) ? [] : late,
  };
}

const hasEnded = ({ state }: BrokerStatus): boolean => state === 'succeeded' || state === 'failed';

/** The hosts in one line, for people. */
export const hostsText = ({ flux, torch }: Pick<HpcStatus, 'flux' | 'torch'>): string =>
  flux !== undefined ? brokersText(flux) : torch !== undefined ? torchText(torch) : '';

const leadText = ({ host, state, pod }: BrokerStatus): string =>
  `${host} (${state}${pod === '' || pod === host ? '' : `, Pod ${pod}`})`;

const namesOf = (hosts: readonly BrokerStatus[], noun: string): string =>
  listed(
    hosts.map(({ host, state }) => `${host} (${state})`),
    noun,
  );

function torchText({ lead, expected, there, ready, waitsFor }: HostsStatus): string {
  const head = `PyTorch: first ${leadText(lead)}; `;
  if (lead.state === 'succeeded') return `${head}the program has ended there`;
  const counts = `${there} of ${expected} Pods there, ${ready} ready`;
  return `${head}${counts}${waitsFor.length === 0 ? '' : `; waits for ${namesOf(waitsFor, 'Pods')}`}`;
}

function brokersText({ lead, expected, there, ready, quorum, waitsFor }: FluxStatus): string {
  const head = `Flux: lead ${leadText(lead)}; `;
  const counts = `${there} of ${expected} brokers there, ${ready} ready, quorum ${quorum}`;
  if (lead.state === 'succeeded') return `${head}the program has ended`;
  if (lead.state === 'failed') return `${head}the program, or the broker that led it, has failed; ${counts}`;
  if (waitsFor.length === 0) return `${head}${counts}`;
  return `${head}${counts}; ${ready < quorum ? 'waits for' : 'may start without'} ${namesOf(waitsFor, 'brokers')}`;
}

/** The status of a gang under the HPCPolicy that it names, which is read once; undefined for a gang without a policy. */
export async function hpcOf(
  client: KubeClient,
  view: GangView,
  { namespace, name, pods: states }: GangStatus,
): Promise<HpcStatus | undefined> {
  const gang = view.gangs.get(namespace, name);
  const named = gang && policyNameOf(gang);
  if (gang === undefined || named === undefined) return undefined;
  const pods = view.pods.byIndex(BY_GANG, keyOf(namespace, name));
  return hpcStatusOf(gang, named, await find(client, gang, named), { pods, states });
}

async function find(client: KubeClient, { namespace }: PodGang, name: string): Promise<FoundPolicy> {
  try {
    const found = await client.get<JsonObject>({ resource: HPC_POLICIES, namespace, name });
    const { policy, faults } = parseHpcPolicy(found, namespace, 'any');
    return { policy, wrong: faults[0]?.field };
  } catch (error) {
    if (isNotFound(error)) return 'missing';
    if (!isForbidden(error)) throw error;
    const right = `${HPC_POLICIES.plural}.${HPC_POLICY_GROUP}`;
    return { unread: `HPCPolicy ${name} is not known: it takes the right to get ${right} in ${namespace}` };
  }
}

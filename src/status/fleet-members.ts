import { MusterError } from '../errors.ts';
import { readBinding } from '../fleet/assign/binding.ts';
import type { TargetCluster } from '../fleet/assign/candidate.ts';
import { readMemberCluster } from '../fleet/assign/member.ts';
import { readQueuedBinding } from '../fleet/bindings/queued-binding.ts';
import { isManaged, schedulerOf } from '../fleet/bindings/owner.ts';
import { own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import { FieldReader, stringsOf } from '../k8s/field-reader.ts';
import { groupVersionString } from '../k8s/resource.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { clusterProbe } from '../kube/client/cluster-probe.ts';
import { ApiError, isForbidden } from '../kube/client/errors.ts';
import {
  CLUSTER_RESOURCE_BINDINGS,
  CLUSTERS,
  RESOURCE_BINDINGS,
  type Resource,
} from '../kube/client/resources.ts';
import { listAll } from '../kube/loop/list-pages.ts';
import { listed } from '../text/printable.ts';
import { amountTexts } from './fleet-status.ts';
import { byPlace } from './gang-status.ts';

/** A member cluster, as `/api/v1/fleet` shows it. */
export interface MemberStatus {
  readonly name: string;
  /** Status of Karmada's condition `Ready`; `Unknown` where there is none. */
  readonly ready: 'True' | 'False' | 'Unknown';
  /** Why it takes no more gangs, or fewer; '' where nothing is known. */
  readonly why: string;
  readonly nodes: { readonly ready: number; readonly total: number } | null;
  readonly allocatable: Readonly<Record<string, string>>;
  /** What is left for gangs by the cluster's own report; null where Muster counts the cluster as full. */
  readonly free: Readonly<Record<string, string>> | null;
}

/** A binding that Muster assigns. */
export interface AssignedStatus {
  /** Empty for a ClusterResourceBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly workload: string;
  readonly state: 'Waiting' | 'Held' | 'Placed' | 'Finished' | 'Deleting';
  /** Why it waits, or why what is placed does not change; '' where there is no reason. */
  readonly why: string;
  readonly clusters: readonly TargetCluster[];
}

export interface FleetMembers {
  /** Why there is no fleet, as a sentence; null where the API server serves Karmada's kinds. */
  readonly absent: string | null;
  /** The scheduler that the policies of these bindings name. */
  readonly schedulerName: string;
  readonly clusters: readonly MemberStatus[];
  /** Those that wait come first. */
  readonly bindings: readonly AssignedStatus[];
}

const KINDS = [CLUSTERS, RESOURCE_BINDINGS, CLUSTER_RESOURCE_BINDINGS];

/**
 * Reads the clusters of a fleet and the bindings whose policy names Muster as their scheduler.
 * @throws MusterError CLUSTER_REFUSED where the right to list one of the kinds is missing, CLUSTER_UNREACHABLE where what
 * serves Clusters is away; ApiError
 */
export async function fleetMembers(client: KubeClient, schedulerName: string): Promise<FleetMembers> {
  try {
    const missing = await unservedKinds(client);
    if (missing.length > 0) {
      const absent = `This API server is not Karmada’s, it serves no ${missing.join(' and no ')}: name Karmada’s with --kubeconfig, or as fleet.kubeconfig of --config.`;
      return { absent, schedulerName, clusters: [], bindings: [] };
    }
    const ofMuster = (object: JsonObject): AssignedStatus | undefined =>
      schedulerOf(object) === schedulerName && isManaged(object) ? assignedStatus(object) : undefined;
    const [clusters, ...bindings] = await Promise.all([
      listAll({ client, resource: CLUSTERS }, memberStatus),
      listAll({ client, resource: RESOURCE_BINDINGS }, ofMuster),
      listAll({ client, resource: CLUSTER_RESOURCE_BINDINGS }, ofMuster),
    ]);
    return {
      absent: null,
      schedulerName,
      clusters: clusters
        .map((one) => ({ ...one, namespace: '' }))
        .sort(byPlace)
        .map(({ namespace: _, ...one }) => one),
      bindings: bindings
        .flat()
        .filter((one) => one !== undefined)
        .sort((one, other) => ORDER[one.state] - ORDER[other.state] || byPlace(one, other)),
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 503)
      throw new MusterError('CLUSTER_UNREACHABLE', error.message, AWAY, { cause: error });
    if (!isForbidden(error)) throw error;
    throw new MusterError('CLUSTER_REFUSED', error.message, RIGHTS, { cause: error });
  }
}

const titleOf = ({ plural, group }: Resource): string => `${plural}.${group}`;
const RIGHTS = `It takes the rights to list ${KINDS.map(titleOf)
  .join(', ')
  .replace(/, ([^,]*)$/, ' and $1')}.`;
const AWAY =
  'Clusters are served by karmada-aggregated-apiserver, which Karmada’s API server asks: kubectl get apiservice v1alpha1.cluster.karmada.io says whether it answers.';
const ORDER = { Waiting: 0, Held: 1, Placed: 2, Deleting: 3, Finished: 4 };

/** By discovery, which everybody may read: a list of an unknown kind is a 403 for most users. */
async function unservedKinds(client: KubeClient): Promise<string[]> {
  const probe = clusterProbe(client, '', {});
  const versions = [...new Set(KINDS.map(groupVersionString))];
  const found = await Promise.all(versions.map((version) => probe.resources(version)));
  const served = new Map(versions.map((version, index) => [version, found[index] ?? []]));
  return KINDS.filter(
    (kind) => !served.get(groupVersionString(kind))?.some(({ plural }) => plural === kind.plural),
  ).map(titleOf);
}

function memberStatus(object: JsonObject): MemberStatus {
  const reading = new FieldReader('');
  const { name, free, deleting, taints } = readMemberCluster(object, reading);
  const [fault] = reading.faults;
  const status = own(object, 'status');
  const summary = own(status, 'resourceSummary');
  const ready = conditionOf(status, 'Ready');
  const told = ownString(ready, 'status');
  const nodes = own(status, 'nodeSummary');
  const [readyNodes, total] = [own(nodes, 'readyNum'), own(nodes, 'totalNum')];
  const why = [
    told === 'True' ? '' : ready === undefined ? 'Karmada has not said whether it is ready' : saidBy(ready),
    deleting ? 'it is being removed from the fleet' : '',
    taints.length === 0
      ? ''
      : `taints ${listed(
          taints.map(({ key, effect }) => `${key}:${effect}`),
          'taints',
        )}`,
    fault !== undefined
      ? `it counts as full: ${fault.field}: ${fault.message}`
      : free === undefined
        ? 'it does not say what it has, and counts as full'
        : '',
  ];
  return {
    name,
    ready: told === 'True' || told === 'False' ? told : 'Unknown',
    why: joined(why),
    nodes: isCount(readyNodes) && isCount(total) ? { ready: readyNodes, total } : null,
    allocatable: amountTexts(new FieldReader('').resources(own(summary, 'allocatable'), '')),
    free: free === undefined || fault !== undefined ? null : amountTexts(free),
  };
}

function assignedStatus(object: JsonObject): AssignedStatus {
  const { namespace, name, workload, held, finished, deleting, gang } = readQueuedBinding(object);
  const { clusters, evicting } = readBinding(object, new FieldReader(''));
  const scheduled = conditionOf(own(object, 'status'), 'Scheduled');
  const told = ownString(scheduled, 'status');
  const refusal = scheduled === undefined || told === 'True' ? '' : saidBy(scheduled);
  const suspended = 'its scheduling is suspended (spec.suspension.scheduling)';
  // Where it may still run: Karmada takes it away once others have it, or after some minutes.
  const leaving = evicting.size === 0 ? '' : `it is being evicted from ${[...evicting].join(', ')}`;
  const given = { namespace, name, workload, clusters };
  if (deleting) return { ...given, state: 'Deleting', why: '' };
  if (finished) return { ...given, state: 'Finished', why: '' };
  // What is in its clusters already stays there, and waits for nothing.
  if (held && clusters.length === 0) {
    const why =
      gang === undefined
        ? suspended
        : `it waits in queue ${gang.queue}: the queues say at which position, and why`;
    return { ...given, state: 'Held', why };
  }
  if (clusters.length > 0 || told === 'True') {
    const why = joined([held ? suspended : refusal, leaving, notAppliedText(object)]);
    return { ...given, state: 'Placed', why };
  }
  const unjudged = 'Muster has not judged it yet (if this stays, fleet.assigner is off, or no loop runs)';
  return { ...given, state: 'Waiting', why: joined([refusal || unjudged, leaving]) };
}

/** Why clusters do not have what they are to have, as Karmada says; '' where they have it, or nothing is known. */
function notAppliedText(object: JsonObject): string {
  const status = own(object, 'status');
  const applied = conditionOf(status, 'FullyApplied');
  if (applied === undefined || ownString(applied, 'status') !== 'False') return '';
  const suspension = own(own(object, 'spec'), 'suspension');
  const suspended = stringsOf(own(own(suspension, 'dispatchingOnClusters'), 'clusterNames'));
  const reasonOf = (one: Json, name: string): string =>
    own(suspension, 'dispatching') === true
      ? 'spec.suspension.dispatching'
      : suspended.includes(name)
        ? 'spec.suspension.dispatchingOnClusters'
        : (ownString(one, 'appliedMessage') ?? '');
  const texts = (ownList(status, 'aggregatedStatus') ?? [])
    .filter((one) => own(one, 'applied') !== true)
    .map((one) => {
      const name = ownString(one, 'clusterName') ?? '';
      const reason = reasonOf(one, name);
      return `${name} does not have it${reason === '' ? ' yet' : `: ${reason}`}`;
    });
  return texts.join('; ') || saidBy(applied);
}

/** Karmada ends some of its messages with a full stop. */
const joined = (parts: readonly string[]): string =>
  parts
    .filter((one) => one !== '')
    .join('; ')
    .replaceAll('.; ', '; ');

const isCount = (value: Json | undefined): value is number => Number.isSafeInteger(value);

const conditionOf = (status: Json | undefined, type: string): JsonObject | undefined =>
  (ownList(status, 'conditions') ?? []).find((one) => ownString(one, 'type') === type) as
    JsonObject | undefined;

/** The message of a condition, or its reason where it has none. */
const saidBy = (condition: JsonObject): string =>
  ownString(condition, 'message') || ownString(condition, 'reason') || 'no reason is given';

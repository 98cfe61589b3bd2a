import type { PodGang } from '../../api/pod-gang.ts';
import type { Membership } from '../../gang/membership.ts';
import type { ReleaseOrder } from '../../gang/records.ts';
import {
  BACKEND_CONTRACT_VERSION,
  PodRefused,
  type Backend,
  type BackendFactory,
  type PodPatch,
  type PodReader,
  type ConformanceSettings,
} from '../backend.ts';
import { KEEP_OBJECTS, type ClusterProbe } from '../cluster.ts';
import { nativeSettings, readNativeConfig } from './config.ts';
import { raisedMinimums, newlyIgnored } from '../shared-warnings.ts';
import { COMPOSITE_POD_GROUPS, SCHEDULING_GROUP, GANG_APIS, markerKind, type GangApi } from './gang-api.ts';
import { NativeDiscovery } from './discovery.ts';
import { mayCountReleased, type Native } from './objects.ts';
import { layoutOf, syncNative } from './sync.ts';
import { hasOptional, isOneCount, nativeGangNames, LAYOUTS, type Layout } from './native-gangs.ts';
import { NATIVE_NAME, preemptsHere, validateGatesAlone, validateNative, warnOfRaised } from './validate.ts';
import { own, ownList, ownObject, ownString, asObject, type JsonObject, type Json } from '../../json/json.ts';
import { parseGroupVersion } from '../../k8s/resource.ts';

const none = (): Promise<undefined> => Promise.resolve(undefined);

/** A cluster that serves one generation of native gangs and keeps every gated field. */
const clusterWith = (api: GangApi): ClusterProbe => ({
  versions: () => Promise.resolve([api.version]),
  resources: (groupVersion) =>
    Promise.resolve(
      [api.workloads, markerKind(api), COMPOSITE_POD_GROUPS].filter(
        ({ group, version }) => `${group}/${version}` === groupVersion,
      ),
    ),
  crdSchema: none,
  read: none,
  dryRunCreate: (_resource, object) => Promise.resolve(object),
});

/** Conformance settings: gates alone, and every version of the API in each of its layouts. */
const nativeTrials: Readonly<Record<string, ConformanceSettings>> = {
  'gates alone': {},
  ...Object.fromEntries(
    GANG_APIS.flatMap((api) =>
      LAYOUTS.filter((groups) => api.nests || groups !== 'composite').map((groups) => [
        `${api.version}, ${groups}`,
        { config: { groups }, cluster: clusterWith(api) },
      ]),
    ),
  ),
};

/**
 * kube-scheduler, with Kubernetes' native gangs when the cluster serves them: a Workload and its PodGroups, which the Pods
 * name. Otherwise a Pod gets only its scheduler name: the gate holds the gang until it is complete, and the scheduler then
 * places Pod by Pod.
 */
export const native: BackendFactory = {
  name: NATIVE_NAME,
  settings: nativeSettings,
  rights: [
    {
      group: SCHEDULING_GROUP,
      resources: ['workloads', 'compositepodgroups', 'podgroups'],
      verbs: KEEP_OBJECTS,
      why: "Kubernetes' own gangs",
    },
  ],
  leavesPreemption: true,
  traces: {
    deployment: /\/kube-scheduler$/,
    lease: { namespace: 'kube-system', name: 'kube-scheduler' },
  },
  conformance: nativeTrials,
  create: ({ config }): Backend => {
    const cluster = new NativeDiscovery(readNativeConfig(config));
    /** Layouts of gangs whose Pods were admitted under another layout than the current one, as of their last sync. */
    const former = new Map<string, Layout>();
    return {
      contractVersion: BACKEND_CONTRACT_VERSION,
      name: NATIVE_NAME,
      schedulerName: NATIVE_NAME,
      patchSurface: { schedulerName: true, schedulingGroup: true, workloadRef: true },
      init: (context) => cluster.look(context.cluster),
      preparePod: (pod, gang, patch) => {
        patch.setSchedulerName(NATIVE_NAME, 'the gang is served by kube-scheduler');
        if (cluster.native !== undefined) nameGang(pod, gang, patch, cluster.native);
      },
      validatePodGang: (gang) =>
        cluster.native === undefined
          ? validateGatesAlone(gang, cluster.certain)
          : validateNative(gang, cluster.native),
      warnOfUpdate: (before, after) => [
        ...warnOfRaised(raisedMinimums(before, after), cluster.native?.api),
        ...newlyIgnored(before, after, preemptsHere(after, cluster.native)),
      ],
      syncPodGang: async (context, gang) => {
        const served = cluster.native;
        if (served === undefined) return;
        const layout = layoutOf(context.pods, gang, served);
        if (layout === served.layout) former.delete(keyOf(gang));
        else former.set(keyOf(gang), layout);
        await syncNative(context, gang, served, layout);
      },
      // The objects are deleted by their owner reference to the PodGang, PodGroups only once their Pods have ended.
      onPodGangDelete: (_context, gang) => {
        former.delete(keyOf(gang));
        return Promise.resolve();
      },
      owns: () => {
        if (cluster.native === undefined) return [];
        const { api, layout } = cluster.native;
        return [
          api.workloads,
          ...(layout === 'composite' ? [COMPOSITE_POD_GROUPS] : []),
          ...(api.podGroups ? [api.podGroups] : []),
        ];
      },
      releaseOrder: (gang) => {
        const served = cluster.native;
        if (served === undefined) return 'all-at-once';
        return orderOf(gang, { ...served, layout: former.get(keyOf(gang)) ?? served.layout });
      },
      followsBinding: (gang) => mayCountReleased(gang, cluster.native),
      followsReferences: (gang) => mayCountReleased(gang, cluster.native),
      // The scheduler removes a Pod from its group when the Pod is gone or has ended.
      countsEnding: () => cluster.native !== undefined,
      // With native gangs the scheduler itself preempts for them. Whether it does so for the whole gang or Pod by Pod
      // depends on feature gates that Muster cannot see.
      preemptsGangs: () => (cluster.certain ? cluster.native !== undefined : undefined),
      explain: explainNative,
    };
  },
};

function orderOf(gang: Pick<PodGang, 'spec'>, { api, layout }: Native): ReleaseOrder {
  // A group outside of the CompositePodGroup is placed separately and would take the capacity of the groups inside.
  if (layout === 'composite') return hasOptional(gang) ? 'optional-groups-last' : 'all-at-once';
  // With one count for several groups, Pods of the wrong group could fill the count unless exactly the minimums are released
  // first.
  return isOneCount(gang, layout) && !api.waitsForGated ? 'minimum-first' : 'all-at-once';
}

/**
 * A Pod belongs to one native gang for good. A Pod that names another one is refused, so that its author decides between the
 * two. The exception is a Pod of the Job controller, which names its PodGroup unasked (docs/adr/0044).
 */
function nameGang(pod: PodReader, gang: Membership, patch: PodPatch, { api, layout }: Native): void {
  const unit = nativeGangNames(layout, gang.gang, gang.group);
  const [given, wanted] = [api.linkIn(pod), api.linkOf(gang.gang, unit)];
  if (given !== undefined && given !== wanted && !isOfJob(pod)) {
    throw new PodRefused(
      api.linkField,
      `in "${given}" already, while its gang is "${wanted}": leave out the field, or the label grove.io/podgang`,
    );
  }
  api.link(patch, gang.gang, unit);
}

/**
 * Whether a Job controls the Pod. With the feature gate WorkloadWithJob, a Job whose template names no PodGroup gets one
 * from the Job controller, which writes its name into each Pod. Such a Pod cannot be told from one whose template names the
 * PodGroup: pkg/controller/job/job_controller.go makes the PodGroup an owner of the template, but GetPodFromTemplate of
 * pkg/controller/controller_utils.go copies only the Job's owner reference.
 */
function isOfJob(pod: Pick<PodReader, 'at'>): boolean {
  const references = pod.at(['metadata', 'ownerReferences']);
  const owners: readonly Json[] = Array.isArray(references) ? (references as readonly Json[]) : [];
  return owners.some((owner) => asObject(owner)?.['controller'] === true && isJob(owner));
}

const isJob = (owner: Json): boolean =>
  ownString(owner, 'kind') === 'Job' &&
  parseGroupVersion(ownString(owner, 'apiVersion') ?? '').group === 'batch';

const keyOf = ({ namespace, name }: Pick<PodGang, 'namespace' | 'name'>): string => `${namespace}/${name}`;

/** Conditions of a PodGroup by the scheduler: the first in 1.36, the second from 1.37 on. */
const PLACED = ['PodGroupScheduled', 'PodGroupInitiallyScheduled'];

/**
 * The scheduler's reason for not placing a gang, on one line; undefined when it gives none, as while it waits for Pods and
 * after the gang was placed once.
 */
function explainNative(objects: readonly JsonObject[]): string | undefined {
  const said = objects.flatMap((object) => {
    const conditions = ownList(ownObject(object, 'status'), 'conditions') ?? [];
    const refusal = conditions.find(
      (condition) =>
        PLACED.includes(ownString(condition, 'type') ?? '') && own(condition, 'status') === 'False',
    );
    if (refusal === undefined) return [];
    const name = ownString(ownObject(object, 'metadata'), 'name') ?? '';
    const text = ownString(refusal, 'message') || ownString(refusal, 'reason') || 'not placed';
    return [`PodGroup ${name}: ${text.replace(/\s+/g, ' ').trim()}`];
  });
  return said.length === 0 ? undefined : said.join('; ');
}

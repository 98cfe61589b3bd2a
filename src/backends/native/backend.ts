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
} from '../backend.ts';
import { KEEP_OBJECTS } from '../cluster.ts';
import { nativeSettings, readNativeConfig } from './config.ts';
import { nativeTrials } from './conformance.ts';
import { raisedMinimums } from '../raised-minimum.ts';
import { explainPodGroups } from './explain.ts';
import { COMPOSITE_POD_GROUPS, SCHEDULING_GROUP } from './gang-api.ts';
import { isOfJob } from './job-pod-group.ts';
import { LookedAt } from './look.ts';
import { mayCountReleased } from './objects.ts';
import { layoutOf, syncNative } from './sync.ts';
import type { Native } from './terms.ts';
import { hasOptional, isOneCount, unitNames, type Layout } from './units.ts';
import { newlyUnheard } from '../preemption-terms.ts';
import { NAME, preemptsHere, validateGatesAlone, validateNative, warnOfRaised } from './validate.ts';

/**
 * kube-scheduler, with Kubernetes' own gangs where the cluster has them: a Workload and its PodGroups, which the Pods
 * name. Where it has none a Pod needs only its scheduler: the gate holds the gang until it is complete, and from then on
 * the scheduler places Pod by Pod.
 */
export const native: BackendFactory = {
  name: NAME,
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
    const cluster = new LookedAt(readNativeConfig(config));
    /** Of gangs whose Pods were admitted under another layout than Pods are now, as of their last sync. */
    const former = new Map<string, Layout>();
    return {
      contractVersion: BACKEND_CONTRACT_VERSION,
      name: NAME,
      schedulerName: NAME,
      patchSurface: { schedulerName: true, schedulingGroup: true, workloadRef: true },
      init: (context) => cluster.look(context.cluster),
      preparePod: (pod, gang, patch) => {
        patch.setSchedulerName(NAME, 'the gang is served by kube-scheduler');
        if (cluster.native !== undefined) nameGang(pod, gang, patch, cluster.native);
      },
      validatePodGang: (gang) =>
        cluster.native === undefined
          ? validateGatesAlone(gang, cluster.certain)
          : validateNative(gang, cluster.native),
      warnOfUpdate: (before, after) => [
        ...warnOfRaised(raisedMinimums(before, after), cluster.native?.api),
        ...newlyUnheard(before, after, preemptsHere(after, cluster.native)),
      ],
      syncPodGang: async (context, gang) => {
        const { native } = cluster;
        if (native === undefined) return;
        const layout = layoutOf(context.pods, gang, native);
        if (layout === native.layout) former.delete(keyOf(gang));
        else former.set(keyOf(gang), layout);
        await syncNative(context, gang, native, layout);
      },
      // The objects go with the PodGang, by their owner reference; PodGroups once their Pods have ended.
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
        const { native } = cluster;
        if (native === undefined) return 'all-at-once';
        return orderOf(gang, { ...native, layout: former.get(keyOf(gang)) ?? native.layout });
      },
      followsBinding: (gang) => mayCountReleased(gang, cluster.native),
      followsReferences: (gang) => mayCountReleased(gang, cluster.native),
      // The scheduler takes a Pod out of its group when it is gone, or has ended.
      countsEnding: () => cluster.native !== undefined,
      // With native gangs the scheduler preempts for them, as a whole or member by member: its gates cannot be seen.
      preemptsGangs: () => (cluster.certain ? cluster.native !== undefined : undefined),
      explain: explainPodGroups,
    };
  },
};

const keyOf = ({ namespace, name }: Pick<PodGang, 'namespace' | 'name'>): string => `${namespace}/${name}`;

function orderOf(gang: Pick<PodGang, 'spec'>, { api, layout }: Native): ReleaseOrder {
  // What is in no CompositePodGroup is placed by itself, and would take the room of those that are.
  if (layout === 'composite') return hasOptional(gang) ? 'optional-groups-last' : 'all-at-once';
  // One count for several groups is reached by the wrong Pods unless exactly the minimums are let go first.
  return isOneCount(gang, layout) && !api.waitsForGated ? 'minimum-first' : 'all-at-once';
}

/**
 * A Pod is in one native gang, for good. Whoever put it into another must say which of the two is meant, but for the Job
 * controller, which does so unasked (docs/adr/0044).
 */
function nameGang(pod: PodReader, gang: Membership, patch: PodPatch, { api, layout }: Native): void {
  const unit = unitNames(layout, gang.gang, gang.group);
  const [given, wanted] = [api.linkIn(pod), api.linkOf(gang.gang, unit)];
  if (given !== undefined && given !== wanted && !isOfJob(pod)) {
    throw new PodRefused(
      api.linkField,
      `in "${given}" already, while its gang is "${wanted}": leave out the field, or the label grove.io/podgang`,
    );
  }
  api.link(patch, gang.gang, unit);
}

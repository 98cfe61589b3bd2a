import type { PodGang } from '../../api/pod-gang.ts';
import type { Membership } from '../../gang/membership.ts';
import {
  BACKEND_CONTRACT_VERSION,
  definitionRight,
  type Backend,
  type BackendFactory,
  type PodPatch,
} from '../backend.ts';
import { KEEP_OBJECTS, type SyncContext } from '../cluster.ts';
import { raisedMinimums } from '../raised-minimum.ts';
import { lastSeenSpec, refuseFaults } from '../sync-guards.ts';
import { coschedulingSettings, readCoschedulingConfig, type CoschedulingConfig } from './config.ts';
import { explainPodGroups } from './explain.ts';
import { POD_GROUPS, podGroup } from './objects.ts';
import { CRD, probeCoscheduling } from './probe.ts';
import { newlyUnheard } from '../preemption-terms.ts';
import { COSCHEDULING_PREEMPTS, validateForCoscheduling } from './validate.ts';

const NAME = 'coscheduling';

/** How the plugin finds the PodGroup of a Pod, in the Pod's own namespace. */
const LABEL_POD_GROUP = 'scheduling.x-k8s.io/pod-group';

/**
 * The plugin Coscheduling of scheduler-plugins: one PodGroup with one flat count. With several groups the order in
 * which gates come off makes each group's minimum hold: with exactly the minimums let go, as many Pods as are not
 * gated are the count, which is what its PreFilter asks for, and none of them can be missing.
 */
export const coscheduling: BackendFactory = {
  name: NAME,
  settings: coschedulingSettings,
  rights: [
    {
      group: POD_GROUPS.group,
      resources: [POD_GROUPS.plural],
      verbs: KEEP_OBJECTS,
      why: 'the PodGroup of a gang',
    },
    definitionRight(CRD),
  ],
  countedBy: { labels: [LABEL_POD_GROUP], groupNamedBy: [LABEL_POD_GROUP] },
  leavesPreemption: true,
  traces: { deployment: /\/scheduler-plugins-scheduler$/ },
  conformance: { 'as it is': {} },
  create: (settings): Backend => {
    const config = readCoschedulingConfig(settings);
    const { schedulerName } = config;
    return {
      contractVersion: BACKEND_CONTRACT_VERSION,
      name: NAME,
      schedulerName,
      patchSurface: { schedulerName: true, labels: [LABEL_POD_GROUP] },
      init: (context) => probeCoscheduling(context, config),
      preparePod: (_pod, gang: Membership, patch: PodPatch) => {
        patch.setSchedulerName(schedulerName, 'the gang is served by coscheduling');
        patch.label(LABEL_POD_GROUP, gang.gang, 'the PodGroup it joins');
      },
      validatePodGang: (gang) => validateForCoscheduling(gang, config),
      warnOfUpdate: (before, after) => {
        const raised = raisedMinimums(before, after);
        const unheard = newlyUnheard(before, after, COSCHEDULING_PREEMPTS);
        return raised === undefined
          ? unheard
          : [
              `coscheduling leaves Pods that run, and asks for the raised minimum of those that come from now on: ${raised}`,
              ...unheard,
            ];
      },
      syncPodGang: (context, gang) => syncPodGang(context, gang, config),
      // The owner reference takes the PodGroup away.
      onPodGangDelete: () => Promise.resolve(),
      owns: () => [POD_GROUPS],
      releaseOrder: (gang) => (gang.spec.groups.length > 1 ? 'minimum-first' : 'all-at-once'),
      // The plugin counts the Pods that have a node, whether or not they are being deleted.
      countsEnding: () => true,
      // The plugin knows no preemption, and the scheduler's own is of single Pods.
      preemptsGangs: () => false,
      explain: explainPodGroups,
    };
  },
};

async function syncPodGang(context: SyncContext, gang: PodGang, config: CoschedulingConfig): Promise<void> {
  refuseFaults(validateForCoscheduling(gang, config).faults);
  await context.apply(podGroup(gang, config, lastSeenSpec(context, POD_GROUPS, gang.name)));
}

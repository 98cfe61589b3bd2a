import { keyed } from '../../api/fault.ts';
import { own } from '../../json/json.ts';
import { LABEL_POD_GANG } from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import type { Membership } from '../../gang/membership.ts';
import {
  BACKEND_CONTRACT_VERSION,
  definitionRight,
  PodRefused,
  type Backend,
  type BackendFactory,
  type PodPatch,
  type PodReader,
} from '../backend.ts';
import { KEEP_OBJECTS, type SyncContext } from '../cluster.ts';
import { raisedMinimums } from '../raised-minimum.ts';
import { lastSeenSpec, refuseFaults } from '../sync-guards.ts';
import { readVolcanoConfig, volcanoSettings, type VolcanoConfig } from './config.ts';
import { explainPodGroups } from './explain.ts';
import { minResources, POD_GROUPS, podGroup } from './objects.ts';
import { CRD, probeVolcano } from './probe.ts';
import { checkQueue, queueOf } from './queue.ts';
import { newlyUnheard } from '../preemption-terms.ts';
import { validateForVolcano, VOLCANO_PREEMPTS } from './validate.ts';

const NAME = 'volcano';

/** The only annotation that Volcano's scheduler goes by; the job it stands for is looked up in the Pod's namespace. */
const ANNOTATION_GROUP = 'scheduling.k8s.io/group-name';
/** The same under the newer name, which Grove writes too and a helper for virtual GPUs falls back to. */
const ANNOTATION_GROUP_NEW = 'scheduling.volcano.sh/group-name';

/**
 * Volcano, 1.14 and newer: one PodGroup for the gang with a sub-group policy for each group, which hold by themselves,
 * so all gates may come off at once.
 */
export const volcano: BackendFactory = {
  name: NAME,
  settings: volcanoSettings,
  rights: [
    {
      group: POD_GROUPS.group,
      resources: [POD_GROUPS.plural],
      verbs: KEEP_OBJECTS,
      why: 'the PodGroup of a gang',
    },
    {
      group: POD_GROUPS.group,
      resources: ['queues'],
      verbs: ['get'],
      why: 'whether the queue of a gang is there and open',
    },
    definitionRight(CRD),
  ],
  countedBy: {
    annotations: [ANNOTATION_GROUP, ANNOTATION_GROUP_NEW],
    groupNamedBy: [ANNOTATION_GROUP, ANNOTATION_GROUP_NEW],
  },
  traces: { deployment: /\/volcano-(.*-)?scheduler$/ },
  conformance: {
    'as it is': {},
    'with minResources': {
      config: { minResources: true },
      topology: { enabled: true, keys: ['zone', 'rack', 'host'] },
    },
  },
  create: (settings): Backend => {
    const config = readVolcanoConfig(settings);
    return {
      contractVersion: BACKEND_CONTRACT_VERSION,
      name: NAME,
      schedulerName: NAME,
      patchSurface: { schedulerName: true, annotations: [ANNOTATION_GROUP, ANNOTATION_GROUP_NEW] },
      init: probeVolcano,
      preparePod,
      validatePodGang: (gang) => validateForVolcano(gang, config),
      warnOfUpdate: (before, after) => {
        const raised = raisedMinimums(before, after);
        const unheard = newlyUnheard(before, after, VOLCANO_PREEMPTS);
        return raised === undefined
          ? unheard
          : [
              `volcano leaves Pods that run, and holds further ones until the raised minimum is there: ${raised}; Pods that come within the same second it may still place by the old one`,
              ...unheard,
            ];
      },
      syncPodGang: (context, gang) => syncPodGang(context, gang, config),
      // The owner reference takes the PodGroup away.
      onPodGangDelete: () => Promise.resolve(),
      owns: () => [POD_GROUPS],
      followsBinding: (gang) => minResources(gang, config) !== undefined,
      preemptsGangs: () => true,
      explain: explainPodGroups,
    };
  },
};

/**
 * At CREATE and not later: Volcano gives a Pod without the annotation a PodGroup of its own within a second, and binds
 * it alone once it has no gate.
 */
function preparePod(_pod: PodReader, { gang }: Membership, patch: PodPatch): void {
  if (gang === '') {
    const field = keyed('metadata.labels', LABEL_POD_GANG);
    throw new PodRefused(field, `volcano scheduler requires pod label "${LABEL_POD_GANG}"`);
  }
  patch.setSchedulerName(NAME, 'the gang is served by Volcano');
  patch.annotate(ANNOTATION_GROUP, gang, 'the PodGroup it joins');
  patch.annotate(ANNOTATION_GROUP_NEW, gang, 'the PodGroup it joins, under its newer name');
}

async function syncPodGang(context: SyncContext, gang: PodGang, config: VolcanoConfig): Promise<void> {
  refuseFaults(validateForVolcano(gang, config).faults);
  const spec = lastSeenSpec(context, POD_GROUPS, gang.name);
  const queue = queueOf(gang, config.queue);
  if (queue !== undefined && own(spec, 'queue') !== queue) await checkQueue(context, queue);
  const bound = context.pods.some((pod) => pod.nodeName !== '');
  await context.apply(podGroup(gang, { config, spec, bound }));
}

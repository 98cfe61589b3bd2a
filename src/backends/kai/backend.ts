import type { Membership } from '../../gang/membership.ts';
import {
  BACKEND_CONTRACT_VERSION,
  type Backend,
  type BackendFactory,
  type PodPatch,
  type PodReader,
} from '../backend.ts';
import { validateForKai } from './validate.ts';

const NAME = 'kai-scheduler';

/** For people: which gang and group a Pod is of (from the requirements; KAI itself does not read them). */
const ANNOTATION_POD_GANG = 'kai.scheduler/podgang';
const ANNOTATION_POD_GROUP = 'kai.scheduler/podgroup';
/** For KAI: no PodGroup of its own making (read from 0.15 on), and the one to join. The bare key is KAI's. */
const ANNOTATION_SKIP_PODGROUPER = 'kai.scheduler/skip-podgrouper';
const ANNOTATION_POD_GROUP_NAME = 'pod-group-name';
/** For KAI: the sub-group of that PodGroup; without it a Pod falls into one named `default`. */
const LABEL_SUBGROUP_NAME = 'kai.scheduler/subgroup-name';

/**
 * The PodGroup of a gang. KAI finds groups by name alone, over all namespaces, so the namespace is part of it; a
 * namespace has no dot, so the first one parts the two.
 */
export const podGroupName = (gang: Pick<Membership, 'namespace' | 'gang'>): string =>
  `${gang.namespace}.${gang.gang}`;

/** NVIDIA's KAI scheduler: membership by annotation, sub-group by label. */
export const kai: BackendFactory = {
  name: NAME,
  aliases: { 'grove-scheduler': NAME },
  create: (): Backend => ({
    contractVersion: BACKEND_CONTRACT_VERSION,
    name: NAME,
    schedulerName: NAME,
    patchSurface: {
      schedulerName: true,
      annotations: [
        ANNOTATION_POD_GANG,
        ANNOTATION_POD_GROUP,
        ANNOTATION_SKIP_PODGROUPER,
        ANNOTATION_POD_GROUP_NAME,
      ],
      labels: [LABEL_SUBGROUP_NAME],
    },
    init: () => Promise.resolve({ version: 'scheduling.run.ai/v2alpha2' }),
    preparePod,
    validatePodGang: validateForKai,
    syncPodGang: () => Promise.resolve(),
    onPodGangDelete: () => Promise.resolve(),
  }),
};

function preparePod(_pod: PodReader, gang: Membership, patch: PodPatch): void {
  patch.setSchedulerName(NAME, 'the gang is served by KAI');
  patch.annotate(ANNOTATION_POD_GANG, gang.gang, 'its gang, for people');
  patch.annotate(ANNOTATION_POD_GROUP, gang.group, 'its group, for people');
  patch.annotate(ANNOTATION_SKIP_PODGROUPER, 'true', 'KAI must not group it by its owner');
  patch.annotate(
    ANNOTATION_POD_GROUP_NAME,
    podGroupName(gang),
    'the PodGroup it joins, unique in the cluster',
  );
  patch.label(LABEL_SUBGROUP_NAME, gang.group, 'the sub-group it counts for');
}

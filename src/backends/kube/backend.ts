import type { PodGang } from '../../api/pod-gang.ts';
import { asksForTopology } from '../../gang/check-topology.ts';
import { BACKEND_CONTRACT_VERSION, type Backend, type BackendFactory } from '../backend.ts';

const NAME = 'default-scheduler';

/**
 * kube-scheduler. A Pod needs only its name: the gate holds the gang together until it is complete, and from then
 * on the scheduler places Pod by Pod. It has no objects of its own to keep.
 */
export const kube: BackendFactory = {
  name: NAME,
  create: (): Backend => ({
    contractVersion: BACKEND_CONTRACT_VERSION,
    name: NAME,
    schedulerName: NAME,
    patchSurface: { schedulerName: true },
    init: () => Promise.resolve({ version: 'none' }),
    preparePod: (_pod, _gang, patch) => patch.setSchedulerName(NAME, 'the gang is served by kube-scheduler'),
    validatePodGang: (gang) => ({ faults: [], warnings: ignoredBy(gang) }),
    syncPodGang: () => Promise.resolve(),
    onPodGangDelete: () => Promise.resolve(),
  }),
};

function ignoredBy(gang: PodGang): string[] {
  const warnings = [
    `${NAME} has no gang: the gates hold the Pods until all are there, then each is placed by itself`,
  ];
  if (asksForTopology(gang)) warnings.push(`${NAME} ignores topology constraints`);
  if (gang.spec.priorityClassName)
    warnings.push(`${NAME} ignores spec.priorityClassName: set it on the Pods`);
  if (gang.spec.reuseReservationRef) warnings.push(`${NAME} ignores spec.reuseReservationRef`);
  return warnings;
}

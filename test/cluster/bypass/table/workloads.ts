import type { Scene } from '../scene.ts';
import { policy, unreachable, webhook, type Way } from '../way.ts';

const ASKS = { 'muster.dev/gang': 'true' };
const JOB_NAME = 'batch.kubernetes.io/job-name';
const NAMED = policy('gang-pod-named', 'GangNotNamed');
const DOWN = unreachable('workload-pods');

const make = async (scene: Scene, labels: Record<string, string>, metadata: object = {}) => [
  await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('w0', { labels, metadata })),
];

/** The gangs of plain workloads, which nobody writes down. */
export const WORKLOAD_WAYS: readonly Way[] = [
  {
    who: 'tenant',
    tries: 'has a Pod that no workload controls ask for a gang by `muster.dev/gang`, to start alone',
    ends: { up: webhook('workload-pods', 'GangWorkloadUnknown'), gone: NAMED, down: DOWN },
    attempt: (scene) => make(scene, { ...ASKS, [JOB_NAME]: 'train' }),
  },
  {
    who: 'tenant',
    tries: 'writes the label of another’s Job on a Pod that his own Job controls',
    ends: { up: webhook('workload-pods', 'GangWorkloadMismatch', 403), gone: NAMED, down: DOWN },
    attempt: (scene) => {
      const uid = '00000000-0000-4000-8000-000000000000';
      const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'mine', uid, controller: true };
      return make(scene, { ...ASKS, [JOB_NAME]: 'train' }, { ownerReferences: [owner] });
    },
  },
];

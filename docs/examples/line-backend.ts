import {
  BACKEND_CONTRACT_VERSION,
  fault,
  PodRefused,
  type Backend,
  type BackendFactory,
  type JsonObject,
  type Membership,
  type PodGang,
  type PodGangVerdict,
  type PodPatch,
  type PodReader,
} from '../../src/index.ts';

const NAME = 'line-scheduler';
const ANNOTATION_GANG = 'line.example.com/gang';
const ANNOTATION_QUEUE = 'line.example.com/queue';

/** "line", a scheduler that starts a gang once `line.example.com/gang` has enough Pods in its queue. */
export const line: BackendFactory = {
  name: NAME,
  create: ({ config }): Backend => {
    const queues = queuesOf(config);
    return {
      contractVersion: BACKEND_CONTRACT_VERSION,
      name: NAME,
      schedulerName: NAME,
      patchSurface: { schedulerName: true, annotations: [ANNOTATION_GANG, ANNOTATION_QUEUE] },
      // There is nothing to look for in the cluster: this scheduler has no objects.
      init: () => Promise.resolve({ version: 'line' }),
      preparePod: (pod, gang, patch) => {
        preparePod(pod, gang, patch, queues);
      },
      validatePodGang,
      // This scheduler reads annotations only: it has no objects of its own to keep.
      syncPodGang: () => Promise.resolve(),
      onPodGangDelete: () => Promise.resolve(),
    };
  },
};

function queuesOf(config: JsonObject): readonly string[] {
  const { queues = ['default'] } = config;
  if (!Array.isArray(queues) || !queues.every((queue) => typeof queue === 'string')) {
    throw new Error('config.queues must be a list of names');
  }
  return queues;
}

function preparePod(pod: PodReader, gang: Membership, patch: PodPatch, queues: readonly string[]): void {
  const queue = pod.annotation(ANNOTATION_QUEUE) ?? queues[0] ?? 'default';
  if (!queues.includes(queue)) {
    throw new PodRefused(`metadata.annotations[${ANNOTATION_QUEUE}]`, `no queue "${queue}"`);
  }
  patch.setSchedulerName(NAME, 'the gang is served by line');
  patch.annotate(ANNOTATION_GANG, `${gang.namespace}/${gang.gang}`, 'the gang it counts for');
  patch.annotate(ANNOTATION_QUEUE, queue, 'the queue it waits in');
}

function validatePodGang(gang: PodGang): PodGangVerdict {
  const faults = gang.spec.groups.slice(1).map((group, index) =>
    fault('BackendCannotExpress', `spec.podgroups[${index + 1}]`, {
      value: group.name,
      detail: 'line counts one group only',
    }),
  );
  const warnings = gang.spec.pack === undefined ? [] : [`${NAME} ignores topology constraints`];
  return { faults, warnings };
}

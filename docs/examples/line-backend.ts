import {
  BACKEND_CONTRACT_VERSION,
  fault,
  newlyUnheard,
  PodRefused,
  readProfileConfig,
  unheardTerms,
  type Backend,
  type BackendFacts,
  type BackendFactory,
  type InitContext,
  type JsonObject,
  type Membership,
  type PodGang,
  type PodGangVerdict,
  type PodPatch,
  type PodReader,
  type Preempts,
  type Resource,
  type SyncContext,
} from '../../src/index.ts';

const NAME = 'line-scheduler';
const ANNOTATION_LINE = 'line.example.com/line';

/** The object that the scheduler "line" reads: how many Pods of a gang it has to see before it places any. */
const LINES: Resource = {
  group: 'line.example.com',
  version: 'v1',
  plural: 'lines',
  kind: 'Line',
  namespaced: true,
};
const CRD = `${LINES.plural}.${LINES.group}`;

const SETTINGS = {
  queue: {
    type: 'string',
    default: 'default',
    description: 'Where gangs wait that name no queue in the annotation line.example.com/queue.',
    check: (queue: string) => (queue === '' ? 'must not be empty' : undefined),
  },
} as const;
const ANNOTATION_QUEUE = 'line.example.com/queue';

/** Whatever a gang says of it, the scheduler preempts Pods one by one, by their own priority. */
const PREEMPTS: Preempts = { scheduler: NAME, always: { mode: 'Pod', says: 'it preempts Pods one by one' } };

/** "line", a scheduler that does not exist: it starts a gang once the Line has enough Pods. */
export const line: BackendFactory = {
  name: NAME,
  create: ({ config }): Backend => {
    // Throws for keys that it does not know, and names them: the backend is not ready then.
    const { queue } = readProfileConfig(config, SETTINGS);
    return {
      contractVersion: BACKEND_CONTRACT_VERSION,
      name: NAME,
      schedulerName: NAME,
      patchSurface: { schedulerName: true, annotations: [ANNOTATION_LINE] },
      init,
      preparePod,
      validatePodGang,
      warnOfUpdate: (before, after) => newlyUnheard(before, after, PREEMPTS),
      syncPodGang: (context, gang) => syncPodGang(context, gang, queue),
      // The Line belongs to the PodGang and goes with it.
      onPodGangDelete: () => Promise.resolve(),
      owns: () => [LINES],
      // Pods beyond the minimum would only be in the way of those that the Line waits for.
      releaseOrder: () => 'minimum-first',
      explain,
    };
  },
};

/** Looks for the definition of Lines. Until it is there, only the gangs of this backend wait. */
async function init({ cluster }: InitContext): Promise<BackendFacts> {
  const version = `${LINES.group}/${LINES.version}`;
  if (cluster === undefined) return { version, notices: ['whether the cluster has Lines was not looked at'] };
  if ((await cluster.crdSchema(CRD, LINES.version)) === undefined)
    throw new Error(`the cluster has no ${CRD} in version ${LINES.version}: install the scheduler "line"`);
  return { version };
}

function preparePod(pod: PodReader, gang: Membership, patch: PodPatch): void {
  const given = pod.annotation(ANNOTATION_LINE);
  if (given !== undefined && given !== gang.gang) {
    throw new PodRefused(`metadata.annotations[${ANNOTATION_LINE}]`, `stands in the line "${given}" already`);
  }
  patch.setSchedulerName(NAME, 'the gang is served by line');
  // The scheduler looks for the Line in the Pod's own namespace, so the name alone will do.
  patch.annotate(ANNOTATION_LINE, gang.gang, 'the Line it stands in');
}

function validatePodGang(gang: PodGang): PodGangVerdict {
  const faults = gang.spec.groups.slice(1).map((group, index) =>
    fault('BackendCannotExpress', `spec.podgroups[${index + 1}]`, {
      value: group.name,
      detail: 'line counts one group only',
    }),
  );
  const warnings = gang.spec.pack === undefined ? [] : [`${NAME} ignores topology constraints`];
  return { faults, warnings: [...warnings, ...unheardTerms(gang, PREEMPTS)] };
}

async function syncPodGang(context: SyncContext, gang: PodGang, fallback: string): Promise<void> {
  await context.apply({
    resource: LINES,
    name: gang.name,
    spec: {
      minimum: gang.spec.groups[0]?.minReplicas ?? 0,
      queue: gang.annotations.get(ANNOTATION_QUEUE) ?? fallback,
    },
  });
}

/** The scheduler writes its reason into `status.message`. */
function explain(objects: readonly JsonObject[]): string | undefined {
  for (const { status } of objects) {
    const message = typeof status === 'object' && status !== null && 'message' in status ? status.message : '';
    if (typeof message === 'string' && message !== '') return message.replaceAll(/\s+/g, ' ');
  }
  return undefined;
}

export default line;

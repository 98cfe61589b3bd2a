import { keyed } from '../../api/fault.ts';
import { own, ownObject, ownList, ownString, type JsonObject, type Json } from '../../json/json.ts';
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
import { KEEP_OBJECTS, type SyncContext, type BackendFacts, type InitContext } from '../cluster.ts';
import { raisedMinimums, newlyIgnored } from '../shared-warnings.ts';
import { lastSeenSpec, refuseFaults } from '../gang-objects.ts';
import { readVolcanoConfig, volcanoSettings, type VolcanoConfig } from './config.ts';
import {
  minResources,
  VOLCANO_POD_GROUPS,
  volcanoPodGroup,
  checkQueueIsOpen,
  volcanoQueueOf,
} from './objects.ts';
import { validateForVolcano, VOLCANO_PREEMPTS } from './validate.ts';
import { printable, quoted } from '../../text/printable.ts';

const NAME = 'volcano';

/** The only annotation that Volcano's scheduler reads. It looks up the PodGroup in the Pod's namespace. */
const ANNOTATION_GROUP = 'scheduling.k8s.io/group-name';
/** The same value under the newer key, which Grove also writes and Volcano's helper for virtual GPUs reads as a fallback. */
const ANNOTATION_GROUP_NEW = 'scheduling.volcano.sh/group-name';

const CRD = 'podgroups.scheduling.volcano.sh';
const REQUIRES = 'volcano scheduler backend requires Volcano 1.14 or newer with PodGroup.spec.subGroupPolicy';
/**
 * Fields that every sub-group policy needs. The API server prunes fields that the CRD lacks, and the gang would then be
 * broken.
 */
const POLICY_FIELDS = ['labelSelector', 'matchLabelKeys', 'subGroupSize', 'minSubGroups'] as const;

/**
 * Volcano, 1.14 and newer: one PodGroup for the gang with a sub-group policy for each group. Each policy enforces its
 * group's minimum, so all gates may come off at once.
 */
export const volcano: BackendFactory = {
  name: NAME,
  settings: volcanoSettings,
  rights: [
    {
      group: VOLCANO_POD_GROUPS.group,
      resources: [VOLCANO_POD_GROUPS.plural],
      verbs: KEEP_OBJECTS,
      why: 'the PodGroup of a gang',
    },
    {
      group: VOLCANO_POD_GROUPS.group,
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
      init: probe,
      preparePod,
      validatePodGang: (gang) => validateForVolcano(gang, config),
      warnOfUpdate: (before, after) => {
        const raised = raisedMinimums(before, after);
        const unheard = newlyIgnored(before, after, VOLCANO_PREEMPTS);
        return raised === undefined
          ? unheard
          : [
              `volcano leaves Pods that run, and holds further ones until the raised minimum is there: ${raised}; Pods that come within the same second it may still place by the old one`,
              ...unheard,
            ];
      },
      syncPodGang: (context, gang) => syncPodGang(context, gang, config),
      // The PodGroup is deleted by its owner reference.
      onPodGangDelete: () => Promise.resolve(),
      owns: () => [VOLCANO_POD_GROUPS],
      followsBinding: (gang) => minResources(gang, config) !== undefined,
      preemptsGangs: () => true,
      explain: explainVolcano,
    };
  },
};

/**
 * Sets the annotation at CREATE and not later: within a second Volcano makes a PodGroup for a Pod without it, and binds the
 * Pod alone once it has no gate.
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
  const spec = lastSeenSpec(context, VOLCANO_POD_GROUPS, gang.name);
  const queue = volcanoQueueOf(gang, config.queue);
  if (queue !== undefined && own(spec, 'queue') !== queue) await checkQueueIsOpen(context, queue);
  const bound = context.pods.some((pod) => pod.nodeName !== '');
  await context.apply(volcanoPodGroup(gang, { config, spec, bound }));
}

/** @throws Error when the cluster's PodGroup cannot express separate groups */
async function probe({ cluster }: InitContext): Promise<BackendFacts> {
  const version = `scheduling.volcano.sh/${VOLCANO_POD_GROUPS.version}`;
  if (cluster === undefined) {
    return { version, notices: ['no cluster was asked whether its Volcano is 1.14 or newer'] };
  }
  const schema = await cluster.crdSchema(CRD, VOLCANO_POD_GROUPS.version);
  if (schema === undefined) {
    throw new Error(
      `failed to get CRD ${CRD} with version ${VOLCANO_POD_GROUPS.version}: ${REQUIRES}; install it`,
    );
  }
  const lacking = lackingFields(schema);
  if (lacking.length > 0) {
    throw new Error(
      `${REQUIRES}; CRD ${CRD} ${VOLCANO_POD_GROUPS.version} lacks ${lacking.join(', ')}: upgrade Volcano and its CRDs`,
    );
  }
  return { version };
}

function lackingFields(schema: JsonObject): string[] {
  const spec = ownObject(ownObject(schema, 'properties'), 'spec');
  const policy = ownObject(ownObject(spec, 'properties'), 'subGroupPolicy');
  if (policy === undefined) return ['spec.subGroupPolicy'];
  const fields = ownObject(ownObject(policy, 'items'), 'properties');
  return POLICY_FIELDS.filter((field) => ownObject(fields, field) === undefined).map(
    (field) => `spec.subGroupPolicy[].${field}`,
  );
}

/**
 * Volcano's reason for not placing a gang. Its conditions are never removed: after a success `Unschedulable` is still True
 * beside `Scheduled`, so the phase decides first, and then the condition that changed last.
 */
export function explainVolcano(objects: readonly JsonObject[]): string | undefined {
  for (const object of objects) {
    const said = explain(object);
    if (said !== undefined) return printable(said.replaceAll(/\s+/g, ' '), 512);
  }
  return undefined;
}

function explain(podGroup: JsonObject): string | undefined {
  const status = ownObject(podGroup, 'status');
  const phase = ownString(status, 'phase') ?? '';
  // Running: the minimum is bound. Completed: all Pods have ended.
  if (phase === 'Running' || phase === 'Completed') return undefined;
  const queue = quoted(ownString(ownObject(podGroup, 'spec'), 'queue') ?? 'default');
  if (phase === '') {
    return `Volcano has not taken up the PodGroup: its queue ${queue} may be missing, or its scheduler is not running`;
  }
  const condition = newest(ownList(status, 'conditions') ?? []);
  const words =
    ownString(condition, 'type') === 'Unschedulable' ? ownString(condition, 'message') : undefined;
  if (phase === 'Pending') {
    // Without minResources Volcano soon admits every PodGroup to the queue, unless the queue is closed.
    const waits =
      ownObject(ownObject(podGroup, 'spec'), 'minResources') === undefined
        ? `the PodGroup waits to be let into queue ${queue}, which may be closed`
        : `the PodGroup waits in queue ${queue}: the queue or the cluster has no room for its minResources, or the queue is closed`;
    return words === undefined ? waits : `${waits}; ${words}`;
  }
  // Volcano's message for a closed queue is the usual one and does not name the queue, so the queue is added here.
  return words === undefined ? undefined : `${words} (queue ${queue})`;
}

/** The True condition with the latest transition; at the same time, `Unschedulable` wins. */
function newest(conditions: readonly Json[]): Json | undefined {
  const changed = (condition: Json): string => ownString(condition, 'lastTransitionTime') ?? '';
  const rank = (condition: Json): string =>
    `${changed(condition)} ${ownString(condition, 'type') === 'Unschedulable' ? 1 : 0}`;
  return conditions
    .filter((condition) => own(condition, 'status') === 'True')
    .reduce<Json | undefined>(
      (best, one) => (best === undefined || rank(one) > rank(best) ? one : best),
      undefined,
    );
}

import type { PodGang } from '../../api/pod-gang.ts';
import type { Membership } from '../../gang/membership.ts';
import {
  BACKEND_CONTRACT_VERSION,
  definitionRight,
  type Backend,
  type BackendFactory,
  type PodPatch,
  type BackendSettings,
  type PodGangVerdict,
} from '../backend.ts';
import {
  KEEP_OBJECTS,
  type SyncContext,
  type OwnedObject,
  type BackendFacts,
  type InitContext,
} from '../cluster.ts';
import { raisedMinimums, newlyIgnored, ignoredTerms, type Preempts } from '../shared-warnings.ts';
import { lastSeenSpec, refuseFaults, inheritedLabels } from '../gang-objects.ts';
import { isDnsSubdomain } from '../../k8s/name-syntax.ts';
import { readProfileConfig, type ProfileConfig, type ProfileSettings } from '../profile-config.ts';
import { asksForTopology } from '../../gang/rules/check-topology.ts';
import { checkTotalMinimum, totalMinimum } from '../../gang/rules/check-spec.ts';
import { checkMinResources, minResourcesOf } from '../min-resources.ts';
import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import type { Resource } from '../../k8s/resource.ts';
import { printable } from '../../text/printable.ts';

const NAME = 'coscheduling';

/** Label by which the plugin finds the PodGroup of a Pod, in the Pod's own namespace. */
const LABEL_POD_GROUP = 'scheduling.x-k8s.io/pod-group';

const MAX_SECONDS = 86_400;

/** `scheduler.profiles[].config` of the profile `coscheduling`. */
const coschedulingSettings = {
  schedulerName: {
    type: 'string',
    default: 'scheduler-plugins-scheduler',
    description:
      'The `schedulerName` whose profile has the plugin Coscheduling on. The default is what the chart "as a second scheduler" calls it; `default-scheduler` where the plugin is in the stock scheduler.',
    check: (name) =>
      isDnsSubdomain(name) ? undefined : 'must be the name of a scheduler, a lower-case DNS name',
  },
  scheduleTimeoutSeconds: {
    type: 'integer',
    description:
      'How long Pods that have a place wait for the others before all of them start over. Unset: what the plugin is configured with, 60 by default.',
    check: (seconds) =>
      seconds >= 1 && seconds <= MAX_SECONDS ? undefined : `must be from 1 to ${MAX_SECONDS}`,
  },
  minResources: {
    type: 'boolean',
    default: false,
    description:
      'Write `spec.minResources` from the annotation `muster.dev/min-resources` of a gang. The plugin compares it with the whole cluster before it tries a Pod.',
  },
} as const satisfies ProfileSettings;

type Config = ProfileConfig<typeof coschedulingSettings>;

/** @throws Error that names every wrong key */
const readConfig = ({ config }: Pick<BackendSettings, 'config'>): Config =>
  readProfileConfig(config, coschedulingSettings);

const CRD = 'podgroups.scheduling.x-k8s.io';

const POD_GROUPS: Resource = {
  group: 'scheduling.x-k8s.io',
  version: 'v1alpha1',
  plural: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
};

const PREEMPTS: Preempts = {
  scheduler: 'coscheduling',
  always: { mode: 'Pod', says: 'its scheduler preempts Pods one by one' },
};

/**
 * The Coscheduling plugin of scheduler-plugins: one PodGroup with one flat count. With several groups, the release order
 * enforces each group's minimum: the plugin's PreFilter requires as many ungated Pods as the count, and when exactly the
 * minimums have been released, every one of these Pods is needed.
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
    const config = readConfig(settings);
    const { schedulerName } = config;
    return {
      contractVersion: BACKEND_CONTRACT_VERSION,
      name: NAME,
      schedulerName,
      patchSurface: { schedulerName: true, labels: [LABEL_POD_GROUP] },
      init: (context) => probe(context, config),
      preparePod: (_pod, gang: Membership, patch: PodPatch) => {
        patch.setSchedulerName(schedulerName, 'the gang is served by coscheduling');
        patch.label(LABEL_POD_GROUP, gang.gang, 'the PodGroup it joins');
      },
      validatePodGang: (gang) => validate(gang, config),
      warnOfUpdate: (before, after) => {
        const raised = raisedMinimums(before, after);
        const unheard = newlyIgnored(before, after, PREEMPTS);
        return raised === undefined
          ? unheard
          : [
              `coscheduling leaves Pods that run, and asks for the raised minimum of those that come from now on: ${raised}`,
              ...unheard,
            ];
      },
      syncPodGang: (context, gang) => syncPodGang(context, gang, config),
      // The PodGroup is deleted by its owner reference.
      onPodGangDelete: () => Promise.resolve(),
      owns: () => [POD_GROUPS],
      releaseOrder: (gang) => (gang.spec.groups.length > 1 ? 'minimum-first' : 'all-at-once'),
      // The plugin counts every Pod that has a node, terminating Pods included.
      countsEnding: () => true,
      // The plugin does not preempt, and the scheduler's own preemption is for single Pods.
      preemptsGangs: () => false,
      explain: explainCoscheduling,
    };
  },
};

async function syncPodGang(context: SyncContext, gang: PodGang, config: Config): Promise<void> {
  refuseFaults(validate(gang, config).faults);
  await context.apply(podGroup(gang, config, lastSeenSpec(context, POD_GROUPS, gang.name)));
}

/**
 * Faults and warnings for terms that one flat count cannot express. Rules for every gang (a minimum above 0, a name that is
 * a label value) are checked elsewhere.
 */
function validate(gang: PodGang, config: Config): PodGangVerdict {
  const { groups, reuseReservationRef } = gang.spec;
  const warnings: string[] = [];
  if (groups.length > 1) {
    warnings.push(
      'coscheduling counts all Pods of the gang as one: the minimum of each group holds because its Pods are let go first and the others once those are bound, not in the scheduler',
    );
  }
  if (asksForTopology(gang)) warnings.push('coscheduling ignores topology constraints');
  if (reuseReservationRef) warnings.push('coscheduling ignores spec.reuseReservationRef');
  const resources = checkMinResources(gang, { name: 'coscheduling', reads: config.minResources });
  return {
    faults: [...checkTotalMinimum(gang), ...resources.faults],
    warnings: [...warnings, ...resources.warnings, ...ignoredTerms(gang, PREEMPTS)],
  };
}

/**
 * The PodGroup of a gang, with the gang's name.
 * @param spec of the existing PodGroup; undefined when there is none
 * @throws Error when no group has or ever had a minimum, since the CRD requires at least 1
 */
function podGroup(gang: PodGang, config: Config, spec: JsonObject | undefined): OwnedObject {
  const { scheduleTimeoutSeconds } = config;
  const resources = config.minResources ? minResourcesOf(gang).resources : undefined;
  return {
    resource: POD_GROUPS,
    name: gang.name,
    labels: inheritedLabels(gang),
    spec: {
      minMember: minMember(gang, spec),
      ...(scheduleTimeoutSeconds !== undefined && { scheduleTimeoutSeconds }),
      ...(resources && { minResources: resources }),
    },
  };
}

/** Grove releases a gang by setting every minimum to 0; the PodGroup keeps its count then, for the Pods that run. */
function minMember(gang: PodGang, spec: JsonObject | undefined): number {
  const total = totalMinimum(gang);
  if (total > 0) return total;
  const before = own(spec, 'minMember');
  if (typeof before === 'number' && before > 0) return before;
  throw new Error(
    'coscheduling cannot express a gang whose groups all have minReplicas 0: raise one, or choose another backend',
  );
}

/** @throws Error when the cluster has no such PodGroup */
async function probe(
  { cluster }: InitContext,
  { schedulerName }: Pick<Config, 'schedulerName'>,
): Promise<BackendFacts> {
  const notices: string[] = [];
  if (cluster === undefined)
    notices.push('no cluster was asked whether it has the PodGroup of scheduler-plugins');
  else {
    const schema = await cluster.crdSchema(CRD, POD_GROUPS.version);
    const spec = ownObject(ownObject(schema, 'properties'), 'spec');
    if (ownObject(ownObject(spec, 'properties'), 'minMember') === undefined) {
      throw new Error(
        `coscheduling backend requires CRD ${CRD} with version ${POD_GROUPS.version} and spec.minMember: install scheduler-plugins and its CRDs`,
      );
    }
  }
  if (schedulerName === 'default-scheduler') {
    notices.push(
      'schedulerName is default-scheduler, which says nothing on a Pod: label gangs and Pods grove.io/scheduler-name=coscheduling, or make coscheduling the default',
    );
  }
  return { version: `${POD_GROUPS.group}/${POD_GROUPS.version}`, ...(notices.length > 0 && { notices }) };
}

/** Phases that add something to what the Pods show. */
const TELLING = ['Failed', 'Unknown'];

/**
 * The phase, when it is in {@link TELLING}. The reason why a gang is not placed is on its Pods: the PodGroup has no
 * conditions, and its counts include Pods of other namespaces.
 */
export function explainCoscheduling(objects: readonly JsonObject[]): string | undefined {
  for (const object of objects) {
    const status = ownObject(object, 'status');
    const phase = ownString(status, 'phase') ?? '';
    if (!TELLING.includes(phase)) continue;
    const failed = own(status, 'failed');
    const detail = typeof failed === 'number' && failed > 0 ? `, ${failed} of its Pods failed` : '';
    return printable(`the PodGroup is in phase ${phase}${detail}`, 512);
  }
  return undefined;
}

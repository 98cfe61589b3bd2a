import { own, ownString, type JsonObject } from '../../../json/json.ts';
import {
  ANNOTATION_FLEET_QUEUE,
  ANNOTATION_FLEET_TERMS,
  LABEL_FLEET_QUEUE,
  TERMS_UNREAD,
} from '../../../api/names.ts';
import { isSuspended, schedulerOf } from '../../../fleet/bindings/owner.ts';
import { checkLeader, type Program } from '../check-program.ts';
import { saying, RIGHTS_FIX, valueOf, reasonOf, type Diagnosis, type Read } from '../diagnosis.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { ApiError } from '../../../kube/client/errors.ts';
import { RESOURCE_BINDINGS } from '../../../kube/client/resources.ts';

/** Objects of Karmada's API server that wait for Muster, and the Lease that shows whether Muster runs. */
export interface Acting extends Pick<Program, 'now' | 'lease'> {
  readonly schedulerName: string;
  /** `fleet.assigner.enabled`; undefined where no configuration is known. */
  readonly assigner: boolean | undefined;
  readonly queues: boolean | undefined;
  /** PropagationPolicies and ClusterPropagationPolicies. */
  readonly policies: readonly Read<readonly JsonObject[]>[];
  /** ResourceBindings and ClusterResourceBindings. */
  readonly bindings: readonly Read<readonly JsonObject[]>[];
  readonly clusters: Read<readonly JsonObject[]>;
}

const NOBODY = {
  never: 'nobody places bindings, or lets them through',
  idle: 'nobody places bindings, or lets them through',
  fix: 'see that Muster runs with fleet.kubeconfig of this API server: its log says why nobody leads',
};

/** Reports policies and bindings that wait for Muster while the configuration or the Lease shows that it does not act. */
export function checkActing(given: Acting): readonly Diagnosis[] {
  const { assigner, queues, schedulerName, clusters } = given;
  const bindings = given.bindings.flatMap((read) => valueOf(read) ?? []);
  const policies = given.policies.flatMap((read) => valueOf(read) ?? []);
  const named = [...policies, ...bindings].filter((one) => schedulerOf(one) === schedulerName);
  const held = bindings.filter((one) => isSuspended(one) && isOurs(one));
  const unread = [...given.policies, ...given.bindings].flatMap((read) =>
    read.state === 'unread' ? [read.reason] : [],
  );
  const acts = assigner === true || queues === true || named.length + held.length > 0;
  const say = saying('assigner', 'policies');
  const found: Diagnosis[] = unread.map((reason) => say.notChecked(reason, RIGHTS_FIX));
  if (named.length > 0 && assigner === false)
    found.push(
      say.problem(
        `${counted(named.length, 'policy', 'policies')} and bindings name the scheduler ${schedulerName}, and by the configuration nobody places them`,
        'set fleet.assigner.enabled: true, with the component karmada-assigner; a policy cannot be given another scheduler',
      ),
    );
  if (named.length === 0 && assigner === true)
    found.push(
      say.warning(
        `no policy names the scheduler ${schedulerName}: Muster has nothing to place`,
        `set spec.schedulerName: ${schedulerName} in new policies of gangs`,
      ),
    );
  if (held.length > 0 && queues === false)
    found.push(
      say.problem(
        `${counted(held.length, 'binding is', 'bindings are')} held, and by the configuration nobody lets them through`,
        'set fleet.queues.enabled: true, with the component karmada-queues',
      ),
    );
  if (found.length === 0)
    found.push(
      say.ok(
        named.length === 0
          ? `nothing names the scheduler ${schedulerName}`
          : `${named.length} policies and bindings name the scheduler ${schedulerName}`,
      ),
    );
  if (acts) found.push(checkLeader(saying('assigner', 'leader'), given, NOBODY));
  if (assigner === true || named.length > 0) found.push(checkClusters(clusters));
  return found;
}

const isOurs = (binding: JsonObject): boolean => {
  const annotations = own(own(binding, 'metadata'), 'annotations');
  return [ANNOTATION_FLEET_QUEUE, ANNOTATION_FLEET_TERMS].some(
    (key) => ownString(annotations, key) !== undefined,
  );
};

const counted = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;

function checkClusters(read: Read<readonly JsonObject[]>): Diagnosis {
  const say = saying('assigner', 'clusters');
  if (read.state === 'unread') return say.notChecked(read.reason, RIGHTS_FIX);
  const all = valueOf(read) ?? [];
  const silent = all.filter((one) => own(own(one, 'status'), 'resourceSummary') === undefined);
  if (all.length === 0)
    return say.problem('there are no clusters', 'join one, or name Karmada’s API server with --kubeconfig');
  if (silent.length === 0) return say.ok(`${all.length} report what they have`);
  const names = silent.map((one) => ownString(own(one, 'metadata'), 'name') ?? '').join(', ');
  return say.warning(
    `${silent.length} of ${all.length} clusters do not say what they have, and count as full: ${names}`,
    'see that Karmada collects the resources of these clusters',
  );
}

const NAME = 'muster-doctor';

/** Karmada's API server's answer to a dry run of a binding's create; nothing is stored. */
export interface BindingTrial {
  readonly namespace: string;
  readonly answer: { readonly stored: JsonObject } | { readonly refusal: string };
}

/** Namespaces whose bindings wait in a queue. */
export const queueNamespaces = (namespaces: Read<readonly JsonObject[]>): string[] =>
  (valueOf(namespaces) ?? []).flatMap((one) => {
    const metadata = own(one, 'metadata');
    const queue = ownString(own(metadata, 'labels'), LABEL_FLEET_QUEUE) ?? '';
    return queue === '' ? [] : [ownString(metadata, 'name') ?? ''];
  });

/** Creates a binding as a dry run, as Karmada does for a workload. @returns undefined where no namespace has a queue */
export async function tryBinding(
  client: KubeClient,
  namespaces: Read<readonly JsonObject[]>,
): Promise<BindingTrial | undefined> {
  const [namespace] = queueNamespaces(namespaces);
  if (namespace === undefined) return undefined;
  const binding = {
    metadata: { name: NAME, namespace },
    spec: {
      resource: { apiVersion: 'batch/v1', kind: 'Job', namespace, name: NAME },
      replicas: 1,
      placement: {},
    },
  };
  try {
    const options = { dryRun: true };
    const stored = await client.create<JsonObject>(RESOURCE_BINDINGS, binding, options);
    return { namespace, answer: { stored } };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { namespace, answer: { refusal: reasonOf(error) } };
  }
}

const LOOK =
  'see docs/fleet.md, "Setting it up": the Service of manifests/karmada/queues, the caBundle, and that Karmada reaches Muster';

/** Whether Karmada's API server reaches Muster. */
export function checkBindingTrial(
  namespaces: Read<readonly JsonObject[]>,
  trial: BindingTrial | undefined,
): Diagnosis {
  const say = saying('admission', 'bindings');
  if (namespaces.state === 'unread') return say.notChecked(namespaces.reason, RIGHTS_FIX);
  if (trial === undefined)
    return say.warning(
      `no namespace has the label ${LABEL_FLEET_QUEUE}: no binding is held, whatever queue its workload names`,
      `kubectl label namespace NAME ${LABEL_FLEET_QUEUE}=QUEUE, for each whose workloads are to wait`,
    );
  const { namespace, answer } = trial;
  const where = `dry run in ${namespace}`;
  if ('refusal' in answer) {
    const { refusal } = answer;
    return refusal.includes('failed calling webhook "bindings.muster.dev"')
      ? say.problem(
          `Karmada's API server gets no answer from Muster, so that no binding is made in namespaces with a queue: ${refusal}`,
          LOOK,
        )
      : say.notChecked(`a binding was refused before Muster was asked (${where}): ${refusal}`, RIGHTS_FIX);
  }
  const { stored } = answer;
  const terms = ownString(own(own(stored, 'metadata'), 'annotations'), ANNOTATION_FLEET_TERMS);
  return isSuspended(stored) && terms === TERMS_UNREAD
    ? say.ok(`Muster answers for bindings.muster.dev: a new binding is held (${where})`)
    : say.problem(
        `a new binding is not held (${where}): Karmada's API server does not ask Muster`,
        'kubectl apply -k manifests/karmada/queues, with caBundle as in docs/fleet.md',
      );
}

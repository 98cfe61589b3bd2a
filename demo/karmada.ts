import { PATH_INTERPRET } from '../src/api/names.ts';
import type { JsonObject } from '../src/json/json.ts';
import { ANNOTATION_PLACED_COMPONENTS } from '../src/fleet/assign/binding-annotations.ts';
import { definition } from '../test/cluster/support/crds/definition.ts';
import {
  clusterResourceBindings,
  fleetClusters,
  interpreterWebhookConfigurations,
  resourceBindings,
} from '../test/cluster/support/crds/karmada.ts';
import { propagationPolicies } from '../test/cluster/support/crds/karmada-policies.ts';
import { contextOf, readAnswer } from '../test/unit/fleet/karmada-client.ts';
import { policyOf, type Annotations } from './fleet-objects.ts';
import { NAMESPACE, yamlOf, type Manifest } from './objects.ts';
import { post } from './post.ts';
import type { Stage } from './stage.ts';

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The kinds that Karmada brings, and Volcano's Job. */
export const KARMADA_DEFINITIONS: readonly unknown[] = [
  ...[resourceBindings, clusterResourceBindings, fleetClusters, propagationPolicies],
  interpreterWebhookConfigurations,
  definition({
    ...{ group: 'batch.volcano.sh', version: 'v1alpha1', kind: 'Job', plural: 'jobs' },
    ...{ spec: free, statusSchema: free },
  }),
];

/** A cluster as it reports what it has. */
export async function addCluster(
  stage: Stage,
  name: string,
  allocatable: Readonly<Record<string, string>>,
): Promise<void> {
  const [apiVersion, kind] = ['cluster.karmada.io/v1alpha1', 'Cluster'];
  await stage.quietly(['create', '-f', '-'], yamlOf({ apiVersion, kind, metadata: { name }, spec: {} }));
  await setStatus(stage, 'clusters.cluster.karmada.io', name, {
    resourceSummary: { allocatable },
    apiEnablements: ['batch/v1', 'batch.volcano.sh/v1alpha1'].map((groupVersion) => ({
      groupVersion,
      resources: [{ name: 'jobs', kind: 'Job' }],
    })),
  });
}

const setStatus = (stage: Stage, kind: string, name: string, status: object): Promise<unknown> =>
  stage.quietly([
    ...['patch', kind, name, '--subresource=status', '--type=merge'],
    ...['-p', JSON.stringify({ status })],
  ]);

/** A workload and its policy, applied as a user does, and what Karmada's detector then does. */
export async function propagate(
  stage: Stage,
  workload: Manifest,
  given: { readonly policy?: Annotations; readonly priority?: number } = {},
): Promise<Manifest> {
  const policy = policyOf(workload, given.policy ?? {});
  const file = `${workload.metadata['name'] as string}.yaml`;
  await stage.kubectl(
    ['create', '-f', '-'],
    `create -f ${file}   # ${workload['kind'] as string} and PropagationPolicy`,
    [workload, policy].map(yamlOf).join('---\n'),
  );
  const binding = bindingOf(workload, {
    ...(await understood(stage, workload)),
    ...(given.priority !== undefined && { schedulePriority: { priority: given.priority } }),
  });
  const { code, stderr } = await stage.quietly(['create', '-f', '-'], yamlOf(binding));
  if (code !== 0) stage.tell.output(stderr);
  return binding;
}

/** Of a Job Karmada knows itself how many Pods it has; of others it asks the interpreter that is registered. */
async function understood(stage: Stage, workload: Manifest): Promise<JsonObject> {
  const { parallelism, template } = workload['spec'] as {
    parallelism?: number;
    template?: { spec: { containers: readonly { resources: { requests: JsonObject } }[] } };
  };
  const requests = template?.spec.containers[0]?.resources.requests;
  if (parallelism !== undefined && requests !== undefined)
    return { replicas: parallelism, replicaRequirements: { resourceRequest: requests } };
  const question = { operation: 'InterpretComponent', object: workload as JsonObject };
  const answer = await post(stage.serving, PATH_INTERPRET, contextOf('demo', question));
  return { components: [...(readAnswer('demo', question, answer).components ?? [])] };
}

/** It has none of the annotations of its workload and its policy, as Karmada's has none. */
export const bindingOf = (workload: Manifest, spec: JsonObject): Manifest => {
  const { name } = workload.metadata;
  return {
    ...{ apiVersion: 'work.karmada.io/v1alpha2', kind: 'ResourceBinding' },
    metadata: {
      ...{ name, namespace: NAMESPACE },
      labels: { 'propagationpolicy.karmada.io/permanent-id': '77aa' },
      annotations: {
        'propagationpolicy.karmada.io/namespace': NAMESPACE,
        'propagationpolicy.karmada.io/name': name,
      },
    },
    spec: {
      schedulerName: 'muster',
      resource: {
        ...{ apiVersion: workload['apiVersion'], kind: workload['kind'] },
        ...{ namespace: NAMESPACE, name },
      },
      placement: { clusterAffinity: {} },
      ...spec,
    },
  };
};

interface StoredBinding {
  readonly metadata?: { readonly annotations?: Annotations };
  readonly spec?: {
    readonly suspension?: { readonly scheduling?: boolean };
    readonly clusters?: readonly { readonly name: string; readonly replicas?: number }[];
  };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

const stored = async (stage: Stage, name: string): Promise<StoredBinding> =>
  (await stage.get('ResourceBinding', name)) as StoredBinding;

export const isHeld = (binding: unknown): boolean =>
  (binding as StoredBinding).spec?.suspension?.scheduling === true;

/** Whether these and no others of `names` are let through before long. */
export const areThrough = (
  stage: Stage,
  names: readonly string[],
  through: readonly string[],
): Promise<boolean> =>
  stage.within(async () => {
    const held = await Promise.all(names.map(async (name) => isHeld(await stored(stage, name))));
    return names.every((name, index) => held[index] !== through.includes(name));
  });

/** Whether all of them wait in a queue before long: what their workloads say has been read. */
export const areQueued = (stage: Stage, names: readonly string[], queue: string): Promise<boolean> =>
  stage.within(async () => {
    const { status } = (await stage.get('FleetQueue', queue)) as { status?: { waiting?: number } };
    return status?.waiting === names.length;
  });

/** How many replicas each cluster has of it. */
export async function placesOf(
  stage: Stage,
  name: string,
): Promise<Readonly<Record<string, number | undefined>>> {
  const { spec } = await stored(stage, name);
  return Object.fromEntries((spec?.clusters ?? []).map((one) => [one.name, one.replicas]));
}

/** Whether it is sent to these clusters before long, and with so many of each template where it has several. */
export const isPlaced = (
  stage: Stage,
  name: string,
  clusters: Readonly<Record<string, number>>,
  templates?: string,
): Promise<boolean> =>
  stage.within(async () => {
    const { metadata } = await stored(stage, name);
    const said = metadata?.annotations?.[ANNOTATION_PLACED_COMPONENTS];
    return (
      JSON.stringify(await placesOf(stage, name)) === JSON.stringify(clusters) &&
      said === templates &&
      (await scheduledOf(stage, name))[0] === 'Success'
    );
  });

/** Reason and message of its condition `Scheduled`. */
export async function scheduledOf(stage: Stage, name: string): Promise<readonly [string, string]> {
  const { status } = await stored(stage, name);
  const found = status?.conditions?.find(({ type }) => type === 'Scheduled');
  return [found?.reason ?? '', found?.message ?? ''];
}

/** Its clusters report that it has come to its end. */
export const finish = (stage: Stage, name: string): Promise<unknown> =>
  stage.within(async () => {
    const { spec } = await stored(stage, name);
    const [cluster] = spec?.clusters ?? [];
    if (cluster === undefined) return false;
    const status = { conditions: [{ type: 'Complete', status: 'True' }] };
    await setStatus(stage, 'resourcebindings', name, {
      aggregatedStatus: [{ clusterName: cluster.name, status }],
    });
    return true;
  });

import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { LEASES, PODS, type KubeObject, type Resource } from '../../kube/client/resources.ts';
import { readLease, type LeaseRecord } from '../../kube/loop/lease-record.ts';
import { checkBudget, checkRollout } from './check-program.ts';
import { checkCallers, checkNetwork } from './check-network.ts';
import { checkClock } from './check-clock.ts';
import { checkGates } from './check-gates.ts';
import { checkMounts, neededBy, checkOthers } from './check-mounts.ts';
import { mountedSecret } from './program-objects.ts';
import { ABSENT, attempt, found, unread, valueOf, type Diagnosis, type Read } from './diagnosis.ts';
import type { Shipped } from './installed/wanted.ts';
import { askWho } from './read-rights.ts';

const core = (kind: string): Resource => ({
  group: '',
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced: true,
});
const NETWORK_POLICIES: Resource = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
  namespaced: true,
};

export interface AroundProgram {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly now: Date;
  readonly shipped: Shipped | undefined;
  readonly deployment: Read<JsonObject>;
  /** Every Deployment of the cluster. */
  readonly deployments: Read<readonly JsonObject[]>;
  /** Lease of the loop; undefined without leader election. */
  readonly lease: { readonly name: string; readonly read: Read<LeaseRecord> } | undefined;
  /** Version of the API server, such as `v1.37.2`. */
  readonly kubernetes: string;
  /** API version of native gangs in this cluster; `none` without them. */
  readonly nativeGangs: string;
  /** Whether Muster demands a client certificate of its callers. */
  readonly asksCallers: boolean;
}

/** Examines what Muster’s Pods depend on, and looks for other installations. */
export async function examineProgram(given: AroundProgram): Promise<{
  readonly clock: readonly Diagnosis[];
  readonly program: readonly Diagnosis[];
  /** PEM of the CA in the Secret with the serving certificate; undefined where there is none. */
  readonly authority: string | undefined;
  /** The API server’s time, where its answer has one: Leases and certificates are compared with it. */
  readonly time: Date;
}> {
  const { client, namespace, now, deployment, deployments } = given;
  const system = {
    namespace: 'kube-system',
    labelSelector: 'component in (kube-apiserver,kube-scheduler,kube-controller-manager)',
  };
  const [server, others, pods, around] = await Promise.all([
    attempt(
      async () => new Date(ownString((await askWho(client))['metadata'] ?? null, 'creationTimestamp') ?? ''),
    ),
    given.lease === undefined ? found([]) : readLeases(client, given.lease.name),
    attempt(async () => (await client.list<JsonObject>(PODS, system)).items),
    deployment.state === 'found' ? examinePods(given, deployment.value) : NOTHING,
  ]);
  const told = server.state === 'found' && !Number.isNaN(server.value.getTime());
  const time = told ? server.value : now;
  return {
    clock: checkClock({
      here: now,
      server: server.state === 'found' && !told ? unread('the API server does not tell its time') : server,
      lease: given.lease?.read,
    }),
    program: [
      ...around.findings,
      ...checkOthers({ now: time, namespace, deployments, leases: others }),
      ...checkGates({ api: given.nativeGangs, kubernetes: given.kubernetes, pods }),
      ...checkCallers({ asked: given.asksCallers, pods }),
    ],
    authority: around.authority,
    time,
  };
}

const NOTHING = { findings: [] as readonly Diagnosis[], authority: undefined };

async function examinePods(
  { client, namespace, now, shipped }: AroundProgram,
  deployment: JsonObject,
): Promise<{ findings: readonly Diagnosis[]; authority: string | undefined }> {
  const get = (kind: string, name: string): Promise<Read<JsonObject>> =>
    attempt(() => client.get<JsonObject>({ resource: core(kind), namespace, name }));
  const ofKind = (kind: string): JsonObject | undefined =>
    shipped?.whole.find((object) => object['kind'] === kind);
  // The items of lists and the answers to gets have no apiVersion and kind.
  const named: JsonObject = { ...deployment, apiVersion: 'apps/v1', kind: 'Deployment' };
  const usualName = mountedSecret(ofKind('Deployment'));
  const needed = await Promise.all(
    neededBy(deployment).map(async (one) => [one, await get(one.kind, one.name)] as const),
  );
  const policies = await attempt(
    async () => (await client.list<JsonObject>(NETWORK_POLICIES, { namespace })).items,
  );
  const kind = 'PodDisruptionBudget';
  const budgets = { ...core(kind), group: 'policy' };
  const budget = await attempt(async () => {
    const object = await client.get<JsonObject>({ resource: budgets, namespace, name: 'muster' });
    return { ...object, apiVersion: 'policy/v1', kind };
  });
  const mounted = needed.find(([{ volume }]) => volume === 'certs')?.[1];
  const usual = mounted?.state === 'absent' ? await get('Secret', usualName) : ABSENT;
  const encoded = ownString(ownObject(valueOf(mounted ?? ABSENT) ?? null, 'data'), 'ca.crt');
  return {
    findings: [
      ...checkBudget(budget, deployment),
      ...checkMounts({ namespace, deployment: named, needed, usual, usualName }),
      ...checkRollout(deployment, namespace, now),
      ...checkNetwork({ deployment, policies, shipped: ofKind('NetworkPolicy') }),
    ],
    authority: encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('latin1'),
  };
}

/** The Leases of one name in all namespaces. */
const readLeases = (
  client: KubeClient,
  name: string,
): Promise<Read<readonly (readonly [string, LeaseRecord])[]>> =>
  attempt(async () => {
    const { items } = await client.list<KubeObject>(LEASES, { fieldSelector: `metadata.name=${name}` });
    return items
      .filter((one) => objectName(one as unknown as JsonObject) === name)
      .map((one) => [ownString(own(one, 'metadata'), 'namespace') ?? '', readLease(one)] as const);
  });

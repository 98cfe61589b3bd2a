/** The objects that Muster keeps for the schedulers, by the policies alone. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { untilEstablished } from './support/apply.ts';
import { coschedulingPodGroups } from './support/crds/coscheduling.ts';
import { kaiPodGroups, kaiTopologies } from './support/crds/kai.ts';
import { volcanoPodGroups } from './support/crds/volcano.ts';
import { HAS_GANGS, HAS_POD_GROUPS, VERSION } from './support/native-gangs.ts';
import {
  ALICE,
  COLLECTOR,
  gangOf,
  MUSTER,
  NAMESPACES,
  refused,
  untilRefused,
  withPolicies,
  type Answer,
  type Who,
} from './support/policies-alone.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GANGS = '/apis/scheduler.grove.io/v1alpha1/namespaces/a/podgangs';
const KEPT = { 'app.kubernetes.io/managed-by': 'muster' };
const ROOT: Who = {};
const VOLCANO = '/apis/scheduling.volcano.sh/v1beta1/namespaces/a/podgroups';

/** Each kind that Muster keeps, in a namespace; what its scheduler may write into spec; and what is for nobody. */
const KINDS: readonly [string, string, object, object | undefined, object][] = [
  [
    'KAI',
    '/apis/scheduling.run.ai/v2alpha2/namespaces/a/podgroups',
    { minMember: 2, queue: 'q' },
    { markUnschedulable: true, schedulingBackoff: 1 },
    { minMember: 1 },
  ],
  ['Volcano', VOLCANO, { minMember: 2 }, undefined, { minMember: 1 }],
  [
    'coscheduling',
    '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/a/podgroups',
    { minMember: 2 },
    undefined,
    { minMember: 1 },
  ],
];
const NATIVE = `/apis/scheduling.k8s.io/${VERSION}/namespaces/a/${HAS_POD_GROUPS ? 'podgroups' : 'workloads'}`;
const nativeSpec = (policy: object) =>
  HAS_POD_GROUPS ? { schedulingPolicy: policy } : { podGroups: [{ name: 'gang', policy }] };

/** Objects of definitions have to say what they are. */
function typed(path: string, body: unknown): unknown {
  const [, apiVersion = '', plural = ''] = /^\/apis\/([^/]+\/[^/]+)\/.*?([^/]+)$/.exec(path) ?? [];
  const kind = { podgroups: 'PodGroup', topologies: 'Topology', workloads: 'Workload' }[plural];
  return kind === undefined ? body : { apiVersion, kind, ...(body as object) };
}

clusterSuite('what Muster keeps, under the policies alone', () => {
  let plane: ControlPlane;
  let owner: object;

  const send = (method: string, path: string, body?: unknown, who: Who = ALICE) =>
    plane.client.request<Answer>(method, path, method === 'POST' ? typed(path, body) : body, who);
  const ok = async (method: string, path: string, body: unknown, who: Who = ALICE): Promise<Answer> => {
    const { status, body: answer } = await send(method, path, body, who);
    expect({ method, path, status, message: answer.message }).toMatchObject({ message: undefined });
    return answer;
  };
  const only = (did: string, way: string): string => `${did}; ${way} [GangObjectProtected]`;
  const made = only(
    'metadata: Forbidden: only trusted accounts make what Muster keeps for a scheduler',
    'leave out the label app.kubernetes.io/managed-by: muster, and the PodGang that controls it',
  );
  const marked = only(
    'metadata: Forbidden: only trusted accounts say whose an object is that Muster keeps for a scheduler',
    'leave its label, owner and record as they are',
  );
  const gone = only(
    'metadata: Forbidden: only trusted accounts and administrators delete what Muster keeps for a scheduler',
    'delete the PodGang, with which it goes',
  );

  beforeAll(async () => {
    plane = await withPolicies(async ({ client }) => {
      const definitions = [kaiPodGroups('0.17'), kaiTopologies, volcanoPodGroups, coschedulingPodGroups].map(
        (definition) => ({
          ...definition,
          kind: 'CustomResourceDefinition',
          apiVersion: 'apiextensions.k8s.io/v1',
        }),
      );
      for (const definition of definitions) await client.ok('POST', CRDS, definition);
      await untilEstablished(client, definitions);
    });
    const { metadata } = await until('PodGangs are served', () =>
      plane.client.ok<Answer>('POST', GANGS, gangOf('train')),
    );
    owner = {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      name: 'train',
      uid: metadata.uid,
      controller: true,
    };
    const probe = { metadata: { name: 'probe', labels: KEPT }, spec: { minMember: 1 } };
    await untilRefused(plane, 'muster-gang-objects', ['POST', VOLCANO, typed(VOLCANO, probe)]);
  }, 120_000);
  afterAll(() => plane?.stop(), 30_000);

  describe.each(KINDS)('a PodGroup of %s', (kind, path, spec, schedulers, forged) => {
    const object = (name: string, metadata: object) => ({ metadata: { name, ...metadata }, spec });
    const one = `${path}/kept`;

    test('is made by Muster alone, by its label or under a PodGang', async () => {
      for (const who of [ALICE, ROOT]) {
        refused(
          await send('POST', path, object('forged', { labels: KEPT }), who),
          'muster-gang-objects',
          made,
        );
        const owned = object('forged', { ownerReferences: [owner] });
        refused(await send('POST', path, owned, who), 'muster-gang-objects', made);
      }
      const annotations = { 'muster.dev/applied': '{}' };
      await ok('POST', path, object('kept', { labels: KEPT, annotations, ownerReferences: [owner] }), MUSTER);
      await ok('POST', path, object(`own-${kind.toLowerCase()}`, {}));
    });

    test('stays as Muster made it', async () => {
      for (const who of [ALICE, ROOT]) {
        refused(
          await send('PATCH', one, { spec: forged }, who),
          'muster-gang-objects',
          only(
            `spec.minMember: Forbidden: only trusted accounts change what Muster keeps for a scheduler, not "${who.as ?? 'admin'}"`,
            'change the PodGang',
          ),
        );
        for (const metadata of [
          { labels: { 'app.kubernetes.io/managed-by': null } },
          { annotations: { 'muster.dev/applied': '{"spec":{}}' } },
          { ownerReferences: [] },
        ]) {
          refused(await send('PATCH', one, { metadata }, who), 'muster-gang-objects', marked);
        }
        refused(await send('DELETE', one, undefined, ALICE), 'muster-gang-objects', gone);
      }
      const stolen = { metadata: { labels: KEPT } };
      refused(
        await send('PATCH', `${path}/own-${kind.toLowerCase()}`, stolen),
        'muster-gang-objects',
        marked,
      );
      refused(await send('DELETE', path, undefined), 'muster-gang-objects', gone);
    });

    test('is written by its scheduler: status, annotations, labels, and what of spec is its own', async () => {
      const metadata = {
        annotations: { 'kai.scheduler/last-start-timestamp': 'now' },
        labels: { pool: 'x' },
      };
      await ok('PATCH', one, { metadata });
      if (schedulers !== undefined) await ok('PATCH', one, { spec: schedulers });
      const now = await plane.client.ok<Answer>('GET', one);
      await ok('PUT', kind === 'Volcano' ? one : `${one}/status`, { ...now, status: { phase: 'Running' } });
      await ok('PATCH', one, { metadata: { finalizers: ['example.com/hold'] } });
    });

    test('goes by Muster, by Kubernetes and by administrators, and its finalizers come off', async () => {
      // What is left behind loses its owner; what goes in order no longer blocks it.
      await ok(
        'PATCH',
        one,
        { metadata: { ownerReferences: [{ ...owner, blockOwnerDeletion: false }] } },
        COLLECTOR,
      );
      await ok('PATCH', one, { metadata: { ownerReferences: [] } }, COLLECTOR);
      await ok('DELETE', one, undefined, MUSTER);
      await ok('DELETE', one, undefined);
      await ok('PATCH', one, { metadata: { finalizers: null, labels: null } });
      for (const who of [COLLECTOR, NAMESPACES, ROOT]) {
        await ok('POST', path, object('kept', { labels: KEPT }), MUSTER);
        await ok('DELETE', one, undefined, who);
      }
      await ok('DELETE', `${path}/own-${kind.toLowerCase()}`, undefined);
    });
  });

  if (HAS_GANGS) {
    test('a gang cannot be started in pieces by another native group in its place', async () => {
      const object = (policy: object) => ({
        metadata: { name: 'train', labels: KEPT, ownerReferences: [owner] },
        spec: nativeSpec(policy),
      });
      await ok('POST', NATIVE, object({ gang: { minCount: 2 } }), MUSTER);
      refused(await send('DELETE', `${NATIVE}/train`, undefined), 'muster-gang-objects', gone);
      await ok('DELETE', `${NATIVE}/train`, undefined, MUSTER);
      await ok('PATCH', `${NATIVE}/train`, { metadata: { finalizers: null } }).catch(() => undefined);
      refused(await send('POST', NATIVE, object({ basic: {} })), 'muster-gang-objects', made);
    });
  }

  test('a Topology of the cluster is held by its label', async () => {
    const path = '/apis/kai.scheduler/v1alpha1/topologies';
    const topology = (metadata: object) => ({ metadata, spec: { levels: [{ nodeLabel: 'zone' }] } });
    refused(await send('POST', path, topology({ name: 't', labels: KEPT })), 'muster-gang-objects', made);
    await ok('POST', path, topology({ name: 't', labels: KEPT }), MUSTER);
    refused(await send('DELETE', `${path}/t`, undefined), 'muster-gang-objects', gone);
    await ok('DELETE', `${path}/t`, undefined, MUSTER);
  });
});

import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { JsonObject } from '../../../../src/json/json.ts';
import { PATH_INTERPRET } from '../../../../src/api/names.ts';
import {
  checkActing,
  checkBindingTrial,
  queueNamespaces,
  type Acting,
} from '../../../../src/cli/doctor/fleet/check-acting.ts';
import { checkFleetDefinitions } from '../../../../src/cli/doctor/fleet/check-fleet-definitions.ts';
import { checkHolding, type Holding } from '../../../../src/cli/doctor/fleet/check-holding.ts';
import { checkInterpreter } from '../../../../src/cli/doctor/fleet/check-interpreter.ts';
import { ASSIGNER_RULES, QUEUE_RULES } from '../../../../src/cli/doctor/fleet/examine-fleet.ts';
import { rightsOf } from '../../../../src/cli/doctor/expected-rights.ts';
import { ABSENT, found, unread } from '../../../../src/cli/doctor/diagnosis.ts';
import { isMultiTemplate } from '../../../../src/workloads/components.ts';
import { workloadKinds } from '../../../../src/workloads/kinds.ts';
import { clusterResourceBindings, resourceBindings } from '../../../cluster/support/crds/karmada.ts';
import { interpreterManifest } from '../../../support/interpreter-manifest.ts';
import { calledOnLoopback, manifestsIn, type KubernetesObject } from '../../../support/manifests.ts';
import { told, wrong } from './told.ts';

const QUEUES = await manifestsIn('karmada/queues');
const CA = '-----BEGIN CERTIFICATE-----\n';
const json = (object: unknown): JsonObject => object as JsonObject;
/** As it ships, with a change. */
const shipped = (change: (webhook: Hook) => void = () => undefined, name = 'muster'): JsonObject => {
  const [configuration] = calledOnLoopback([parse(interpreterManifest()) as KubernetesObject], 1, CA);
  change(configuration?.webhooks?.[0] as never);
  return { ...json(configuration), metadata: { name } };
};
interface Hook {
  name: string;
  clientConfig: Record<string, unknown>;
  timeoutSeconds?: number;
  interpreterContextVersions: string[];
  rules: { operations: string[]; apiGroups: string[]; kinds: string[] }[];
}
/** Somebody else's. */
const another = (name: string, rule: Hook['rules'][number]): JsonObject => {
  const clientConfig = { url: 'https://other.example.com/x' };
  return shipped(
    (hook) => Object.assign(hook, { name: 'other.example.com', clientConfig, rules: [rule] }),
    name,
  );
};
const NONE = found<readonly JsonObject[]>([]);
const BY_SERVICE = {
  service: {
    name: 'muster',
    namespace: 'muster-system',
    path: '/mutate-work-karmada-io-v1alpha2-resourcebinding',
  },
  caBundle: Buffer.from(CA).toString('base64'),
};
const interpreter = (
  webhooks: readonly JsonObject[],
  customizations: readonly JsonObject[] = [],
  wanted?: boolean,
): string[] =>
  told(
    checkInterpreter(
      { webhooks: found(webhooks), customizations: found(customizations) },
      workloadKinds,
      wanted,
    ),
  );
const lua = (parts: JsonObject): JsonObject => ({
  metadata: { name: 'volcano' },
  spec: { target: { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job' }, customizations: parts },
});
const first = (change: (rule: Hook['rules'][number]) => void) =>
  shipped(({ rules }) => rules.forEach(change));

describe('whom Karmada asks about workloads', () => {
  test('as it ships', () => {
    expect(interpreter([shipped()])).toEqual([
      `ok interpreter/webhooks: muster/gangs.interpreter.muster.dev asks Muster about ${workloadKinds.filter(isMultiTemplate).length} kinds`,
    ]);
  });

  test('nobody asks Muster', () => {
    expect(interpreter([])).toEqual([
      'ok interpreter/webhooks: Muster is not registered: Karmada asks others about workloads',
    ]);
    expect(interpreter([], [], true)).toEqual([
      'problem interpreter/webhooks: no webhook calls Muster: Karmada does not ask it about any workload → kubectl apply -k manifests/karmada, with caBundle as in docs/fleet.md',
    ]);
    const asked = checkInterpreter(
      { webhooks: unread('may not list'), customizations: unread('may not, either') },
      workloadKinds,
      undefined,
    );
    expect(asked.map(({ severity }) => severity)).toEqual(['not-checked', 'not-checked']);
  });

  test.each<[string, JsonObject[], JsonObject[], RegExp[]]>([
    [
      'ReviseReplica of Muster',
      [shipped(({ rules }) => rules[2]?.operations.push('ReviseReplica'))],
      [],
      [
        /^warning interpreter\/revising: muster\/\S+ is asked for ReviseReplica of batch.volcano.sh\/v1alpha1 Job: .* Muster changes nothing then.* → take ReviseReplica out/,
      ],
    ],
    [
      'ReviseReplica of somebody else, among all operations',
      [shipped(), another('zz', { operations: ['*'], apiGroups: ['ray.io'], kinds: ['RayJob'] })],
      [],
      [
        /^problem interpreter\/revising: zz\/other.example.com is asked for ReviseReplica of ray.io\/v1 RayJob: Karmada asks for 0 Pods of each gang/,
      ],
    ],
    [
      'somebody else first',
      [shipped(), another('aa', { operations: ['Retain'], apiGroups: ['ray.io'], kinds: ['*'] })],
      [],
      [
        /^warning interpreter\/operations: aa\/other.example.com is asked before Muster, and alone, for Retain of RayCluster, Retain of RayJob/,
      ],
    ],
    [
      'operations that are missing',
      [first((rule) => (rule.operations = rule.operations.filter((one) => one !== 'InterpretComponent')))],
      [],
      [
        /^warning interpreter\/operations: Muster is not asked for InterpretComponent of scheduler.grove.io\/v1alpha1 PodGang, .* → kubectl apply/,
      ],
    ],
    [
      'no CA',
      [shipped(({ clientConfig }) => delete clientConfig['caBundle'])],
      [],
      [
        /^problem interpreter\/call: muster\/\S+ has no caBundle: Muster's certificate is not trusted, and each call fails → put the CA/,
      ],
    ],
    [
      'a CA that is none',
      [shipped(({ clientConfig }) => (clientConfig['caBundle'] = 'eHl6'))],
      [],
      [/^problem interpreter\/call: the caBundle of muster\/\S+ is no certificate in base64/],
    ],
    [
      'another path, version and no timeout',
      [
        shipped((hook) => {
          hook.clientConfig['url'] = 'https://127.0.0.1/x';
          hook.interpreterContextVersions = ['v2'];
          delete hook.timeoutSeconds;
        }),
      ],
      [],
      [
        new RegExp(
          `^problem interpreter/call: muster/\\S+ calls /x, and Muster answers at ${PATH_INTERPRET}`,
        ),
        /^problem .* does not take v1alpha1 \(interpreterContextVersions\)/,
        /^warning .* sets no timeoutSeconds: Karmada waits for 30 s → set timeoutSeconds: 5/,
      ],
    ],
    [
      'Lua that revises',
      [shipped()],
      [lua({ replicaRevision: { luaScript: '' } })],
      [
        /^problem interpreter\/customizations: ResourceInterpreterCustomization volcano revises replicas of batch.volcano.sh\/v1alpha1 Job/,
      ],
    ],
    [
      'Lua that is asked first',
      [shipped()],
      [lua({ retention: {}, componentResource: {} })],
      [
        /^warning interpreter\/customizations: .* is asked before Muster for Retain, InterpretComponent of batch.volcano.sh/,
      ],
    ],
  ])('%s', (_, webhooks, customizations, expected) => {
    const findings = interpreter(webhooks, customizations).filter((line) => !line.startsWith('ok '));
    expect(findings).toEqual(expected.map((one) => expect.stringMatching(one)));
  });
});

describe('what holds bindings', () => {
  const objects = calledOnLoopback(structuredClone(QUEUES), 1, CA).map(json);
  const of = (kind: string) => objects.filter((one) => one['kind'] === kind);
  const whole: Holding = {
    webhooks: found(of('MutatingWebhookConfiguration')),
    policies: found(of('ValidatingAdmissionPolicy')),
    policyBindings: found(of('ValidatingAdmissionPolicyBinding')),
    definition: found({}),
    service: found<JsonObject>({ spec: { type: 'ExternalName' } }),
  };
  const hook = (change: (webhook: Record<string, unknown>) => void): Partial<Holding> => {
    const copy = structuredClone(of('MutatingWebhookConfiguration')) as unknown as {
      webhooks: Record<string, unknown>[];
    }[];
    change(copy[0]?.webhooks[0] ?? {});
    return { webhooks: found(copy.map(json)) };
  };

  test('as it ships, and not at all', () => {
    expect(told(checkHolding(whole, true))).toEqual([
      'ok webhooks/bindings: bindings.muster.dev in muster-fleet-queues holds new bindings in namespaces with a queue',
      'ok policies/bindings: muster-fleet-queues: nobody but Muster lets a held binding go',
    ]);
    const none = {
      webhooks: NONE,
      policies: NONE,
      policyBindings: NONE,
      definition: ABSENT,
      service: ABSENT,
    };
    expect(told(checkHolding(none, undefined))).toEqual([
      'ok webhooks/bindings: no queues here: bindings are placed as they come',
    ]);
    expect(wrong(checkHolding(none, true))).toEqual([
      expect.stringMatching(/^problem webhooks\/bindings: no webhook holds new bindings/),
    ]);
    expect(wrong(checkHolding({ ...none, definition: found({}) }, undefined))).toHaveLength(1);
  });

  test.each<[string, Partial<Holding>, boolean | undefined, RegExp]>([
    [
      'may not be seen',
      { webhooks: unread('may not list') },
      true,
      /^not-checked webhooks\/bindings: may not list/,
    ],
    [
      'no policy',
      { policies: NONE },
      true,
      /^problem policies\/bindings: muster-fleet-queues is not installed: whoever may write a binding/,
    ],
    [
      'not bound',
      { policyBindings: NONE },
      true,
      /^problem policies\/bindings: muster-fleet-queues is not bound with Deny/,
    ],
    ['no right to see policies', { policies: unread('x') }, true, /^not-checked policies\/bindings: x/],
    [
      'held for nobody',
      {},
      false,
      /^problem webhooks\/bindings: bindings are held, and by the configuration nobody/,
    ],
    [
      'fails open',
      hook((one) => (one['failurePolicy'] = 'Ignore')),
      true,
      /^problem .* failurePolicy Ignore: what is made while Muster is down is never held/,
    ],
    [
      'another path',
      hook(
        (one) => (one['clientConfig'] = { url: 'https://x/y', caBundle: Buffer.from(CA).toString('base64') }),
      ),
      true,
      /^problem .* calls \/y, and Muster answers at/,
    ],
    [
      'no CA',
      hook((one) => (one['clientConfig'] = { ...(one['clientConfig'] as object), caBundle: '' })),
      true,
      /^problem .* has no caBundle/,
    ],
    [
      'bindings of the cluster alone',
      hook(
        (one) =>
          (one['rules'] = [
            { apiGroups: ['*'], operations: ['CREATE'], resources: ['clusterresourcebindings'] },
          ]),
      ),
      true,
      /^problem .* is not asked about CREATE of resourcebindings/,
    ],
    [
      'bindings of every namespace',
      hook((one) => delete one['namespaceSelector']),
      true,
      /^problem .* without the label muster.dev\/fleet-queue, too: while Muster is down none is made there/,
    ],
    [
      'by a Service that is not there',
      { ...hook((one) => (one['clientConfig'] = BY_SERVICE)), service: ABSENT },
      true,
      /^problem .* calls Service muster-system\/muster, which Karmada's API server looks up in itself, and there is none: each call fails → kubectl apply -k manifests\/karmada\/queues, or give clientConfig a url/,
    ],
    [
      'by a Service of Pods',
      {
        ...hook((one) => (one['clientConfig'] = BY_SERVICE)),
        service: found<JsonObject>({ spec: { type: 'ClusterIP' } }),
      },
      true,
      /^warning .* is no ExternalName: Karmada has no Pods behind it/,
    ],
    [
      'by a Service that may not be seen',
      { ...hook((one) => (one['clientConfig'] = BY_SERVICE)), service: unread('may not get services') },
      true,
      /^not-checked .*: may not get services/,
    ],
  ])('%s', (_, part, wanted, expected) => {
    expect(wrong(checkHolding({ ...whole, ...part }, wanted))).toEqual([expect.stringMatching(expected)]);
  });
});

describe('a binding that is tried', () => {
  const namespaces = (labels: JsonObject) =>
    found<readonly JsonObject[]>([{ metadata: { name: 'other' } }, { metadata: { name: 'ml', labels } }]);
  const queued = namespaces({ 'muster.dev/fleet-queue': 'research' });
  const held = {
    metadata: { annotations: { 'muster.dev/fleet-terms': 'unread' } },
    spec: { suspension: { scheduling: true } },
  };

  test('where one is held', () => {
    expect(queueNamespaces(queued)).toEqual(['ml']);
    expect(queueNamespaces(namespaces({ 'muster.dev/fleet-queue': '' }))).toEqual([]);
    expect(told([checkBindingTrial(queued, { namespace: 'ml', answer: { stored: held } })])).toEqual([
      'ok admission/bindings: Muster answers for bindings.muster.dev: a new binding is held (dry run in ml)',
    ]);
  });

  test.each<[string, Parameters<typeof checkBindingTrial>, RegExp]>([
    [
      'no namespace has a queue',
      [namespaces({}), undefined],
      /^warning admission\/bindings: no namespace has the label muster.dev\/fleet-queue: no binding is held.* → kubectl label namespace NAME/,
    ],
    [
      'namespaces may not be seen',
      [unread('may not list namespaces'), undefined],
      /^not-checked admission\/bindings: may not list namespaces/,
    ],
    [
      'nobody answers',
      [
        queued,
        {
          namespace: 'ml',
          answer: {
            refusal:
              'Internal error: failed calling webhook "bindings.muster.dev": service "muster" not found',
          },
        },
      ],
      /^problem admission\/bindings: Karmada's API server gets no answer from Muster, so that no binding is made in namespaces with a queue: .*service "muster" not found → see docs\/fleet.md, "Setting it up"/,
    ],
    [
      'somebody else refuses',
      [queued, { namespace: 'ml', answer: { refusal: 'may not create resourcebindings' } }],
      /^not-checked admission\/bindings: a binding was refused before Muster was asked \(dry run in ml\): may not create/,
    ],
    [
      'nobody is asked',
      [queued, { namespace: 'ml', answer: { stored: { spec: {} } } }],
      /^problem admission\/bindings: a new binding is not held \(dry run in ml\)/,
    ],
  ])('%s', (_, given, expected) =>
    expect(wrong([checkBindingTrial(...given)])).toEqual([expect.stringMatching(expected)]),
  );
});

describe('definitions of a fleet', () => {
  const [queue] = QUEUES.filter(({ kind }) => kind === 'CustomResourceDefinition').map(json);
  const bindings = (binding: unknown) => [
    ['resourcebindings.work.karmada.io', found(json(binding))] as const,
  ];
  /** Without one of its fields. */
  const without = (definition: unknown, ...path: string[]): JsonObject => {
    const copy = structuredClone(definition) as {
      spec: { versions: { schema: { openAPIV3Schema: object } }[] };
    };
    let at = copy.spec.versions[0]?.schema.openAPIV3Schema as { properties: Record<string, never> };
    for (const step of path.slice(0, -1)) at = at.properties[step] as never;
    delete at.properties[path.at(-1) ?? ''];
    return json(copy);
  };

  test('as they ship', () => {
    const given = {
      bindings: [...bindings(resourceBindings), ['wide', found(json(clusterResourceBindings))] as const],
      queue: found(queue ?? {}),
    };
    expect(told(checkFleetDefinitions(given, true))).toEqual([
      'ok definitions/resourcebindings: v1alpha2 is served; spec.clusters[].components is dropped, so an annotation says it',
      'ok definitions/wide: v1alpha2 is served, with all fields',
      'ok definitions/fleetqueues: v1alpha1 is served, with all fields',
    ]);
  });

  test.each<[string, Parameters<typeof checkFleetDefinitions>[0], RegExp]>([
    [
      'not Karmada',
      { bindings: [['x', ABSENT]], queue: found(queue ?? {}) },
      /^problem definitions\/x: the API server does not know x → name Karmada’s API server/,
    ],
    [
      'not seen',
      { bindings: [['x', unread('y')]], queue: found(queue ?? {}) },
      /^not-checked definitions\/x: y/,
    ],
    [
      'no such version',
      { bindings: bindings({ spec: { versions: [] } }), queue: found(queue ?? {}) },
      /^problem .* does not serve v1alpha2/,
    ],
    [
      'no components',
      { bindings: bindings(without(resourceBindings, 'spec', 'components')), queue: found(queue ?? {}) },
      /^warning .* drops spec.components: of a workload/,
    ],
    [
      'no suspension',
      {
        bindings: bindings(without(resourceBindings, 'spec', 'suspension', 'scheduling')),
        queue: found(queue ?? {}),
      },
      /^problem .* drops spec.suspension.scheduling: no binding can be held/,
    ],
    [
      'no queues',
      { bindings: bindings(resourceBindings), queue: ABSENT },
      /^problem definitions\/fleetqueues: the API server does not know/,
    ],
    ['queues not seen', { bindings: bindings(resourceBindings), queue: unread('z') }, /^not-checked .*: z/],
    [
      'queues of another version',
      { bindings: bindings(resourceBindings), queue: found({}) },
      /^problem .* does not serve v1alpha1/,
    ],
    [
      'queues without their memory',
      { bindings: bindings(resourceBindings), queue: found(without(queue, 'status', 'deficit')) },
      /^problem .* drops status.deficit/,
    ],
  ])('%s', (_, given, expected) => {
    expect(wrong(checkFleetDefinitions(given, true))).toEqual([expect.stringMatching(expected)]);
  });

  test('without queues nobody misses their definition', () => {
    expect(wrong(checkFleetDefinitions({ bindings: [], queue: ABSENT }, undefined))).toEqual([]);
  });
});

describe('who waits for Muster', () => {
  const now = new Date('2026-08-21T00:00:00Z');
  const lease = {
    holder: 'a',
    durationMs: 15_000,
    acquireTime: '',
    renewTime: now.toISOString(),
    transitions: 0,
  };
  const named: JsonObject = { spec: { schedulerName: 'muster' } };
  const held: JsonObject = {
    metadata: { annotations: { 'muster.dev/fleet-queue': 'q' } },
    spec: { suspension: { scheduling: true } },
  };
  const cluster: JsonObject = { metadata: { name: 'm1' }, status: { resourceSummary: {} } };
  const whole: Acting = {
    ...{ now, schedulerName: 'muster', assigner: true, queues: true },
    lease: { key: 'ns/l', read: found(lease) },
    ...{ policies: [found([named])], bindings: [found([held])], clusters: found([cluster]) },
  };

  test('in good order, and where there is nothing to do', () => {
    expect(told(checkActing(whole))).toEqual([
      'ok assigner/policies: 1 policies and bindings name the scheduler muster',
      'ok assigner/leader: a leads (Lease ns/l)',
      'ok assigner/clusters: 1 report what they have',
    ]);
    const idle = { ...whole, assigner: undefined, queues: undefined, policies: [], bindings: [] };
    expect(told(checkActing(idle))).toEqual(['ok assigner/policies: nothing names the scheduler muster']);
  });

  test.each<[string, Partial<Acting>, RegExp]>([
    [
      'a scheduler without an assigner',
      { assigner: false },
      /^problem assigner\/policies: 1 policy and bindings name the scheduler muster, and by the configuration nobody places them/,
    ],
    [
      'nobody names it',
      { policies: [NONE] },
      /^warning assigner\/policies: no policy names the scheduler muster/,
    ],
    [
      'held for ever',
      { queues: false },
      /^problem assigner\/policies: 1 binding is held, and by the configuration nobody lets them through/,
    ],
    [
      'no right',
      { policies: [found([named]), unread('may not')] },
      /^not-checked assigner\/policies: may not/,
    ],
    [
      'never led',
      { lease: { key: 'ns/l', read: ABSENT } },
      /^problem assigner\/leader: there is no Lease ns\/l: nobody places bindings/,
    ],
    [
      'not led',
      { lease: { key: 'ns/l', read: found({ ...lease, holder: '' }) } },
      /^problem assigner\/leader: nobody holds the Lease ns\/l/,
    ],
    [
      'led long ago',
      { lease: { key: 'ns/l', read: found({ ...lease, renewTime: '2026-08-20T00:00:00Z' }) } },
      /^problem assigner\/leader: a has not renewed the Lease ns\/l since 2026-08-20/,
    ],
    [
      'a Lease that may not be seen',
      { lease: { key: 'ns/l', read: unread('no') } },
      /^not-checked assigner\/leader: no/,
    ],
    ['no election', { lease: undefined }, /^not-checked assigner\/leader: leaderElection is off/],
    ['no clusters', { clusters: NONE }, /^problem assigner\/clusters: there are no clusters/],
    ['clusters that may not be seen', { clusters: unread('no') }, /^not-checked assigner\/clusters: no/],
    [
      'a silent cluster',
      { clusters: found([cluster, { metadata: { name: 'm2' } }]) },
      /^warning assigner\/clusters: 1 of 2 clusters do not say what they have, and count as full: m2/,
    ],
  ])('%s', (_, part, expected) => {
    expect(wrong(checkActing({ ...whole, ...part }))).toEqual([expect.stringMatching(expected)]);
  });
});

describe('rights in a fleet', () => {
  test.each([
    ['karmada/assigner', ASSIGNER_RULES],
    ['karmada/queues', QUEUE_RULES],
  ])('are those of manifests/%s', async (folder, rules) => {
    const place = { namespace: 'n', name: 'l' };
    const roles = (await manifestsIn(folder)).filter(({ kind }) => kind === 'ClusterRole') as unknown as {
      rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
    }[];
    const given = roles.flatMap((role) =>
      role.rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
        ),
      ),
    );
    const asked = rightsOf(rules, place).map(({ group, resource, verb }) => `${verb} ${resource}.${group}`);
    expect(asked.filter((one) => !given.includes(one))).toEqual([]);
    expect(given.filter((one) => !asked.includes(one) && hasOwnKind(one))).toEqual([]);
  });
});

/** A rule of RBAC crosses groups with resources; most of that exists nowhere. */
const hasOwnKind = (right: string): boolean =>
  !/^get \S+\.(apps|batch|batch\.volcano\.sh|scheduler\.grove\.io|grove\.io|kubeflow\.org|trainer\.kubeflow\.org|jobset\.x-k8s\.io|leaderworkerset\.x-k8s\.io|ray\.io|flink\.apache\.org)$/.test(
    right,
  );

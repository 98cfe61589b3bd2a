/**
 * The admission policies alone, on a real API server: no webhook configuration is installed, which is Muster at its
 * most absent. What must never happen has to be impossible here.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ANNOTATION_MIRROR_POD, GATE_POD_GANG_PENDING as GATE, MUSTER_USER } from '../../src/api/names.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { filledGang } from './support/policies-alone.ts';
import { MUTATING_POLICIES, policiesAsText } from './support/shipped-policies.ts';

interface Pod {
  metadata: {
    name: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
  };
  spec: { schedulingGates?: { name: string }[]; nodeName?: string };
}
interface Status {
  code?: number;
  message?: string;
}
type Answer = Pod & Status;
interface Who {
  as?: string;
  asGroups?: string[];
}

const ALICE: Who = { as: 'alice', asGroups: ['developers', 'system:authenticated'] };
const ROOT: Who = {};
const MUSTER: Who = { as: MUSTER_USER, asGroups: ['system:serviceaccounts', 'system:authenticated'] };
const KUBELET: Who = { as: 'system:node:n1', asGroups: ['system:nodes', 'system:authenticated'] };

const GANG = { 'grove.io/podgang': 'train', 'grove.io/podclique': 'workers' };
const WITHOUT_GATE =
  `spec.schedulingGates: Required value: a gang Pod is created with the gate ${GATE}; add it, or put the gang labels` +
  ' into the manifest so that Muster does: a label added by a later webhook comes too late [GateMissing]';
const UUID = '123e4567-e89b-42d3-a456-426614174000';

clusterSuite('admission policies without Muster', () => {
  let cluster: ControlPlane;
  let serial = 0;
  /** Names a group of namespace a from namespace b, and was stored before there were policies. */
  let legacy: Pod;

  const podPath = (namespace: string, name?: string, sub?: string): string =>
    ['/api/v1/namespaces', namespace, 'pods', ...(name ? [name] : []), ...(sub ? [sub] : [])].join('/');

  const podOf = (given: {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    spec?: Record<string, unknown>;
  }) => {
    serial += 1;
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `p${serial}`,
        ...(given.labels ? { labels: given.labels } : {}),
        ...(given.annotations ? { annotations: given.annotations } : {}),
      },
      spec: { containers: [{ name: 'c', image: 'registry.example/c' }], ...given.spec },
    };
  };

  const create = (given: Parameters<typeof podOf>[0], who: Who = ALICE, namespace = 'a') =>
    cluster.client.request<Answer>('POST', podPath(namespace), podOf(given), who);

  /** A stored Pod; the test fails where it cannot be made. Where no policy puts the gate on, it has come with it. */
  const stored = async (given: Parameters<typeof podOf>[0], namespace = 'a'): Promise<Pod> => {
    const pod = podOf(given);
    if (!MUTATING_POLICIES && given.labels?.['grove.io/podgang'] !== undefined) {
      const gates = (given.spec?.['schedulingGates'] ?? []) as { name: string }[];
      Object.assign(pod.spec, { schedulingGates: [...gates, { name: GATE }] });
    }
    return cluster.client.ok<Pod>('POST', podPath(namespace), pod, ROOT);
  };

  const patch = (
    pod: Pod,
    body: unknown,
    who: Who = ALICE,
    sub?: string,
    namespace = 'a',
    contentType?: string,
  ) =>
    cluster.client.request<Answer>('PATCH', podPath(namespace, pod.metadata.name, sub), body, {
      ...who,
      ...(contentType ? { contentType } : {}),
    });

  const gatesOf = (pod: Pod): string[] => (pod.spec.schedulingGates ?? []).map(({ name }) => name);

  /** Takes the gate at an index away, as a merge of the list would not. */
  const ungate = (pod: Pod, who: Who, gate = GATE) =>
    patch(pod, [{ op: 'remove', path: `/spec/schedulingGates/${gatesOf(pod).indexOf(gate)}` }], who);

  /** Exactly what kubectl shows the user, after the API server's own preface. */
  const refused = (
    answer: { status: number; body: Status },
    status: number,
    policy: string,
    text: string,
  ) => {
    expect(answer.body.message).toContain(
      `ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: ${text}`,
    );
    expect(answer.status).toBe(status);
    // Nothing follows: the message that was meant is the message that came, not the static fallback.
    expect(answer.body.message?.endsWith(text)).toBe(true);
  };

  const apply = async (args: readonly string[], stdin = ''): Promise<void> => {
    const flags = ['apply', '--server-side', '--validate=strict', ...args];
    const { code, stderr } = await cluster.kubectl(flags, { stdin });
    expect({ code, stderr }).toMatchObject({ code: 0 });
  };
  const applyPolicies = (): Promise<void> => apply(['-f', '-'], policiesAsText());

  beforeAll(async () => {
    cluster = await startControlPlane();
    const { client } = cluster;
    for (const name of ['a', 'b', 'pg-my', 'muster-system']) {
      await client.ok('POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      });
    }
    // Everybody here may do everything with Pods and gangs: what is refused is refused by a policy.
    await client.ok('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'everything-with-pods' },
      rules: [{ apiGroups: ['', 'scheduler.grove.io'], resources: ['*'], verbs: ['*'] }],
    });
    await client.ok('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'everything-with-pods' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'everything-with-pods' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' }],
    });
    legacy = await stored({ annotations: { 'pod-group-name': 'a.x' } }, 'b');
    await apply(['-k', 'manifests/crds']);
    await applyPolicies();
    await active();
  }, 120_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  /** Policies take effect some moments after they are stored: each is probed until it answers. */
  async function active(): Promise<void> {
    const { client } = cluster;
    const dryRun = { query: { dryRun: 'All' } };
    const plain = await stored({});
    const denies = async (what: string, send: () => Promise<{ body: Status }>) =>
      until(`${what} is in force`, async () => (await send()).body.message?.includes(`'${what}'`));
    if (MUTATING_POLICIES) {
      await until('muster-add-gang-gate is in force', async () => {
        const pod = await client.ok<Pod>('POST', podPath('a'), podOf({ labels: GANG }), dryRun);
        return gatesOf(pod).includes(GATE);
      });
    }
    const gang = await stored({ labels: GANG });
    await denies('muster-gang-pod-create', () =>
      client.request<Status>('POST', podPath('a'), podOf({ labels: GANG, spec: { nodeName: 'n1' } }), dryRun),
    );
    await denies('muster-gang-pod-gate', () =>
      client.request<Status>(
        'PATCH',
        podPath('a', gang.metadata.name),
        [{ op: 'remove', path: '/spec/schedulingGates/0' }],
        dryRun,
      ),
    );
    await denies('muster-gang-pod-identity', () =>
      client.request<Status>(
        'PATCH',
        podPath('a', plain.metadata.name),
        { metadata: { labels: GANG } },
        dryRun,
      ),
    );
    await denies('muster-pod-group-name', () =>
      client.request<Status>(
        'POST',
        podPath('b'),
        podOf({ annotations: { 'pod-group-name': 'a.x' } }),
        dryRun,
      ),
    );
    await denies('muster-pod-binding', () =>
      client.request<Status>(
        'POST',
        podPath('a', plain.metadata.name, 'binding'),
        bindingOf(plain, { labels: GANG }),
        dryRun,
      ),
    );
    const probe = await until('PodGangs are served', async () => makeGang('probe', 0));
    await denies('muster-podgang-initialized', () =>
      client.request<Status>('PATCH', gangPath(probe, 'status'), initialized('True'), dryRun),
    );
  }

  const bindingOf = (pod: Pod, metadata: Record<string, unknown> = {}) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: pod.metadata.name, ...metadata },
    target: { apiVersion: 'v1', kind: 'Node', name: 'n1' },
  });

  const gangPath = (name: string, sub?: string): string =>
    `/apis/scheduler.grove.io/v1alpha1/namespaces/a/podgangs/${name}${sub ? `/${sub}` : ''}`;

  const makeGang = async (
    name: string,
    references: number,
    labels: Record<string, string> = {},
  ): Promise<string> => {
    await filledGang(cluster.client, {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name, labels },
      spec: {
        podgroups: [
          {
            name: 'workers',
            minReplicas: 2,
            podReferences: Array.from({ length: references }, (_, i) => ({
              namespace: 'a',
              name: `${name}-${i}`,
            })),
          },
        ],
      },
    });
    return name;
  };

  const condition = (type: string, status: string, reason = 'Test') => ({
    type,
    status,
    reason,
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const initialized = (status: string) => ({
    status: { phase: 'Pending', conditions: [condition('Initialized', status)] },
  });

  test('a gang Pod gets the gate without Muster, after the gates of others; before 1.36 it is refused', async () => {
    const answer = await create({ labels: GANG, spec: { schedulingGates: [{ name: 'example.com/quota' }] } });
    if (MUTATING_POLICIES) {
      expect(answer.status).toBe(201);
      expect(gatesOf(answer.body)).toEqual(['example.com/quota', GATE]);
    } else refused(answer, 403, 'muster-gang-pod-create', WITHOUT_GATE);
  });

  test('a gang Pod that has the gate keeps it once, and its gates their order', async () => {
    const gates = [{ name: GATE }, { name: 'example.com/quota' }];
    const answer = await create({ labels: GANG, spec: { schedulingGates: gates } });
    expect(gatesOf(answer.body)).toEqual([GATE, 'example.com/quota']);
  });

  test('a gang Pod with nodeName is refused, naming node, rule and way out', async () => {
    const answer = await create({ labels: GANG, spec: { nodeName: 'n1' } });
    refused(
      answer,
      403,
      'muster-gang-pod-create',
      'spec.nodeName: Forbidden: "n1": gang pods must not set nodeName: that goes past the scheduler and past the gate;' +
        ' remove it; use nodeSelector or node affinity to steer the Pod [NodeNameForbidden]',
    );
  });

  test.each([
    ['alice', ALICE],
    ['system:masters', ROOT],
  ])('the gate is not for %s to take away', async (_, who) => {
    const pod = await stored({ labels: GANG });
    const answer = await ungate(pod, who);
    refused(
      answer,
      403,
      'muster-gang-pod-gate',
      `spec.schedulingGates: Forbidden: only trusted accounts take the gate ${GATE} away, not "${who.as ?? 'admin'}";` +
        ' wait until gang "train" is complete [GateProtected]',
    );
    const put = await cluster.client.request<Answer>(
      'PUT',
      podPath('a', pod.metadata.name),
      { ...pod, spec: { ...pod.spec, schedulingGates: [] } },
      who,
    );
    expect(put.body.message).toContain('[GateProtected]');
    const after = await cluster.client.ok<Pod>('GET', podPath('a', pod.metadata.name));
    expect(gatesOf(after)).toEqual([GATE]);
  });

  test('Muster takes the gate away, and no other', async () => {
    const pod = await stored({ labels: GANG, spec: { schedulingGates: [{ name: 'example.com/quota' }] } });
    const answer = await ungate(pod, MUSTER);
    expect(answer.status).toBe(200);
    expect(gatesOf(answer.body)).toEqual(['example.com/quota']);
  });

  test('the gates of others come off as ever', async () => {
    const pod = await stored({ labels: GANG, spec: { schedulingGates: [{ name: 'example.com/quota' }] } });
    const answer = await ungate(pod, ALICE, 'example.com/quota');
    expect(gatesOf(answer.body)).toEqual([GATE]);
  });

  test('a claim to be terminating does not open the gate', async () => {
    const pod = await stored({ labels: GANG });
    const forged = {
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 },
      spec: { ...pod.spec, schedulingGates: [] },
    };
    const answer = await cluster.client.request<Answer>(
      'PUT',
      podPath('a', pod.metadata.name),
      forged,
      ALICE,
    );
    expect(answer.status).toBeGreaterThanOrEqual(400);
    const after = await cluster.client.ok<Pod>('GET', podPath('a', pod.metadata.name));
    expect(gatesOf(after)).toEqual([GATE]);
  });

  const wayOut = 'delete the Pod and create it with the label you want [GangLabelImmutable]';
  const relabellings: [string, Record<string, string>, Record<string, string | null>, string][] = [
    [
      'another gang',
      GANG,
      { 'grove.io/podgang': 'other' },
      'metadata.labels[grove.io/podgang]: Forbidden: the gang labels of a Pod never change (was train, now other)',
    ],
    [
      'no gang',
      GANG,
      { 'grove.io/podgang': null },
      'metadata.labels[grove.io/podgang]: Forbidden: the gang labels of a Pod never change (was train, now not set)',
    ],
    [
      'another group',
      GANG,
      { 'grove.io/podclique': 'leader' },
      'metadata.labels[grove.io/podclique]: Forbidden: the gang labels of a Pod never change (was workers, now leader)',
    ],
    [
      'a base gang',
      GANG,
      { 'grove.io/base-podgang': 'base' },
      'metadata.labels[grove.io/base-podgang]: Forbidden: the gang labels of a Pod never change (was not set, now base)',
    ],
    [
      'a gang, from none',
      {},
      GANG,
      'metadata.labels[grove.io/podgang]: Forbidden: the gang labels of a Pod never change (was not set, now train)',
    ],
  ];
  test.each(relabellings)(
    'relabelling to %s is refused through every door',
    async (_, before, change, text) => {
      const pod = await stored({ labels: before });
      for (const sub of [undefined, 'status']) {
        // Muster's own account is held to less than that (policies-objects.test.ts), but not through status.
        for (const who of sub === undefined ? [ALICE, ROOT] : [ALICE, ROOT, MUSTER]) {
          const answer = await patch(pod, { metadata: { labels: change } }, who, sub);
          refused(answer, 403, 'muster-gang-pod-identity', `${text}; ${wayOut}`);
        }
      }
      const after = await cluster.client.ok<Pod>('GET', podPath('a', pod.metadata.name));
      expect(after.metadata.labels ?? {}).toEqual(before);
    },
  );

  test('the other subresources do not relabel', async () => {
    const requesting = [{ name: 'c', image: 'registry.example/c', resources: { requests: { cpu: '1' } } }];
    const pod = await stored({ labels: GANG, spec: { containers: requesting } });
    const change = { metadata: { labels: { 'grove.io/podgang': 'other' } } };
    for (const [sub, spec] of [
      ['ephemeralcontainers', { ephemeralContainers: [{ name: 'debug', image: 'registry.example/d' }] }],
      ['resize', { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }] }],
    ] as const) {
      const sent = await patch(
        pod,
        { ...change, spec },
        ALICE,
        sub,
        'a',
        'application/strategic-merge-patch+json',
      );
      expect({ sub, status: sent.status, message: sent.body.message }).toEqual({ sub, status: 200 });
    }
    const after = await cluster.client.ok<Pod>('GET', podPath('a', pod.metadata.name));
    expect(after.metadata.labels).toEqual(GANG);
  });

  test('what KAI counts by stays as it is, but may be written where it is absent', async () => {
    const prepared = await stored({
      labels: { ...GANG, 'kai.scheduler/subgroup-name': 'workers' },
      annotations: { 'pod-group-name': 'a.train' },
    });
    for (const sub of [undefined, 'status']) {
      refused(
        await patch(prepared, { metadata: { annotations: { 'pod-group-name': 'a.other' } } }, ALICE, sub),
        403,
        'muster-gang-pod-identity',
        'metadata.annotations[pod-group-name]: Forbidden: the PodGroup a gang Pod counts for never changes;' +
          ' delete the Pod and create it anew [SchedulerGroupImmutable]',
      );
      refused(
        await patch(prepared, { metadata: { labels: { 'kai.scheduler/subgroup-name': null } } }, ALICE, sub),
        403,
        'muster-gang-pod-identity',
        'metadata.labels[kai.scheduler/subgroup-name]: Forbidden: the group a gang Pod counts for never changes;' +
          ' delete the Pod and create it with the label you want [SchedulerGroupImmutable]',
      );
    }
    const bare = await stored({ labels: GANG });
    const metadata = {
      labels: { 'kai.scheduler/subgroup-name': 'workers' },
      annotations: { 'pod-group-name': `pg-train-${UUID}` },
    };
    expect((await patch(bare, { metadata })).status).toBe(200);
  });

  test('kubelets and schedulers write status, and people write labels and annotations of their own', async () => {
    const pod = await stored({ labels: GANG });
    const status = { phase: 'Running', conditions: [{ type: 'PodScheduled', status: 'True' }] };
    expect((await patch(pod, { status }, KUBELET, 'status')).status).toBe(200);
    const metadata = { labels: { team: 'x' }, annotations: { note: 'y' } };
    expect((await patch(pod, { metadata })).status).toBe(200);
    expect((await patch(pod, { metadata: { labels: { 'grove.io/podclique-pod-index': '1' } } })).status).toBe(
      200,
    );
  });

  test('a Binding with keys of ours is refused in both forms; without, it binds', async () => {
    const cases: [Record<string, unknown>, string][] = [
      [
        { labels: { 'grove.io/podgang': 'train' } },
        'metadata.labels[grove.io/podgang]: Forbidden: a Binding must not write the labels of a gang onto its Pod;' +
          ' remove it [BindingKeysForbidden]',
      ],
      [
        { labels: { 'kai.scheduler/subgroup-name': 'workers' } },
        'metadata.labels[kai.scheduler/subgroup-name]: Forbidden: a Binding must not write the labels of a gang onto' +
          ' its Pod; remove it [BindingKeysForbidden]',
      ],
      [
        { annotations: { 'pod-group-name': 'b.x' } },
        'metadata.annotations[pod-group-name]: Forbidden: names a group of another namespace; remove the annotation' +
          ' [PodGroupForeign]',
      ],
    ];
    const pod = await stored({});
    for (const [metadata, text] of cases) {
      for (const path of [podPath('a', pod.metadata.name, 'binding'), '/api/v1/namespaces/a/bindings']) {
        const answer = await cluster.client.request<Answer>('POST', path, bindingOf(pod, metadata), ROOT);
        refused(answer, 403, 'muster-pod-binding', text);
      }
    }
    const plain = bindingOf(pod, {
      labels: { team: 'x' },
      annotations: { 'kai.scheduler/other': 'y', 'muster.dev/x': '1' },
    });
    const bound = await cluster.client.request(
      'POST',
      podPath('a', pod.metadata.name, 'binding'),
      plain,
      ROOT,
    );
    expect(bound.status).toBe(201);
    const other = await stored({});
    const legacy = await cluster.client.request(
      'POST',
      '/api/v1/namespaces/a/bindings',
      bindingOf(other),
      ROOT,
    );
    expect(legacy.status).toBe(201);
    const after = await cluster.client.ok<Pod>('GET', podPath('a', pod.metadata.name));
    expect(after.spec.nodeName).toBe('n1');
  });

  test('a gated Pod is not bound, whoever tries', async () => {
    const pod = await stored({ labels: GANG });
    const answer = await cluster.client.request<Status>(
      'POST',
      podPath('a', pod.metadata.name, 'binding'),
      bindingOf(pod),
      ROOT,
    );
    expect(answer.status).toBe(409);
  });

  const foreignUnprintable =
    'metadata.annotations[pod-group-name]: Forbidden: names a group of another namespace; remove the annotation,' +
    ' Muster sets it on gang Pods [PodGroupForeign]';
  const foreign = (value: string): string =>
    `metadata.annotations[pod-group-name]: Forbidden: "${value}" names a group of another namespace, a Pod here may` +
    ' name only those that begin with "b."; remove the annotation, Muster sets it on gang Pods [PodGroupForeign]';

  test.each([
    ['a.x', foreign('a.x')],
    ['a.x.y', foreign('a.x.y')],
    ['.x', foreign('.x')],
    ['bb.x', foreign('bb.x')],
    ['pg-my.train', foreign('pg-my.train')],
    [`pg-${UUID}.train`, foreign(`pg-${UUID}.train`)],
    ['a.x\u001b[2m\nhidden', foreignUnprintable],
    [`a.${'x'.repeat(60_000)}`, foreignUnprintable],
  ])(
    'a Pod of b that names the group %j is refused: created, changed, labelled or not',
    async (value, text) => {
      const annotations = { 'pod-group-name': value };
      for (const labels of [undefined, GANG]) {
        const spec = { schedulingGates: [{ name: GATE }] };
        const answer = await create({ annotations, ...(labels ? { labels, spec } : {}) }, ALICE, 'b');
        refused(answer, 403, 'muster-pod-group-name', text);
      }
      const pod = await stored({}, 'b');
      for (const sub of [undefined, 'status']) {
        for (const who of sub === undefined ? [ALICE, ROOT] : [ALICE, ROOT, MUSTER]) {
          const answer = await patch(pod, { metadata: { annotations } }, who, sub, 'b');
          refused(answer, 403, 'muster-pod-group-name', text);
        }
      }
    },
  );

  test.each([
    'b.x',
    'b.x.y',
    'plain',
    `pg-app-${UUID}`,
    `pg-my.app-${UUID}`,
    `pg-my.app-v1.2-${UUID}-group-0`,
  ])('a Pod of b may name the group %s', async (value) => {
    const annotations = { 'pod-group-name': value };
    expect((await create({ annotations }, ALICE, 'b')).status).toBe(201);
    const pod = await stored({}, 'b');
    expect((await patch(pod, { metadata: { annotations } }, ALICE, undefined, 'b')).status).toBe(200);
  });

  test('a Pod that named a foreign group before the policy came is still updated and finished', async () => {
    expect((await patch(legacy, { metadata: { labels: { team: 'x' } } }, ALICE, undefined, 'b')).status).toBe(
      200,
    );
    expect((await patch(legacy, { status: { phase: 'Running' } }, KUBELET, 'status', 'b')).status).toBe(200);
    const again = { metadata: { annotations: { 'pod-group-name': 'a.y' } } };
    refused(await patch(legacy, again, ALICE, undefined, 'b'), 403, 'muster-pod-group-name', foreign('a.y'));
    const removed = { metadata: { annotations: { 'pod-group-name': null } } };
    expect((await patch(legacy, removed, ALICE, undefined, 'b')).status).toBe(200);
  });

  test('ordinary Pods, and any Pod of kube-system, pass untouched', async () => {
    const plain = await create({ labels: { app: 'web' }, spec: { nodeName: 'n1' } });
    expect(plain.status).toBe(201);
    expect(gatesOf(plain.body)).toEqual([]);
    for (const namespace of ['kube-system', 'muster-system']) {
      const system = await create({ labels: GANG, spec: { nodeName: 'n1' } }, ALICE, namespace);
      expect(system.status).toBe(201);
      expect(gatesOf(system.body)).toEqual([]);
    }
  });

  test('a mirror Pod from its node passes; from anybody else it is a gang Pod that goes past the gate', async () => {
    const mirror = {
      labels: GANG,
      annotations: { [ANNOTATION_MIRROR_POD]: 'x' },
      spec: { nodeName: 'n1' },
    };
    expect((await create(mirror, KUBELET)).status).toBe(201);
    const forged = await create(mirror, ALICE);
    expect(forged.status).toBe(403);
    expect(forged.body.message).toContain('[NodeNameForbidden]');
  });

  test('gang Pods are always deleted, and finalizers come off while they are', async () => {
    const gone = await stored({ labels: GANG });
    const answer = await cluster.client.request('DELETE', podPath('a', gone.metadata.name), undefined, ALICE);
    expect(answer.status).toBe(200);

    const held = await stored({ labels: GANG });
    await cluster.client.ok('PATCH', podPath('a', held.metadata.name), {
      metadata: { finalizers: ['example.com/hold'] },
    });
    await cluster.client.ok('DELETE', podPath('a', held.metadata.name), { gracePeriodSeconds: 0 });
    const release = { metadata: { finalizers: null, labels: { 'grove.io/podgang': null } } };
    expect((await patch(held, release)).status).toBe(200);
    await until('the Pod is gone', async () => {
      return (await cluster.client.request('GET', podPath('a', held.metadata.name))).status === 404;
    });
  });

  test('without the mutating policy an ungated gang Pod is refused, and a gated one accepted', async () => {
    const binding =
      '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings/muster-add-gang-gate';
    if (MUTATING_POLICIES) await cluster.client.ok('DELETE', binding);
    try {
      const answer = await until('the mutating policy is out of force', async () => {
        const now = await create({ labels: GANG });
        return now.status === 201 ? undefined : now;
      });
      refused(answer, 403, 'muster-gang-pod-create', WITHOUT_GATE);
      expect((await create({ labels: GANG, spec: { schedulingGates: [{ name: GATE }] } })).status).toBe(201);
    } finally {
      await applyPolicies();
      await until(
        'the mutating policy is in force again',
        async () => !MUTATING_POLICIES || (await create({ labels: GANG })).status === 201,
      );
    }
  });

  test('Initialized is for trusted accounts, everything else in status is free', async () => {
    const path = gangPath(await makeGang('who', 2), 'status');
    refused(
      await cluster.client.request<Status>('PATCH', path, initialized('True'), ALICE),
      403,
      'muster-podgang-initialized',
      'status.conditions[Initialized]: Forbidden: only trusted accounts change the condition Initialized, not "alice";' +
        ' leave it as it is [InitializedProtected]',
    );
    const free = { status: { phase: 'Starting', conditions: [condition('Scheduled', 'True')] } };
    expect((await cluster.client.request('PATCH', path, free, ALICE)).status).toBe(200);
    expect((await cluster.client.request('PATCH', path, initialized('False'), MUSTER)).status).toBe(200);
    const both = {
      status: {
        phase: 'Running',
        conditions: [...initialized('False').status.conditions, condition('Ready', 'True')],
      },
    };
    expect((await cluster.client.request('PATCH', path, both, ALICE)).status).toBe(200);
    const twice = {
      status: {
        phase: 'Running',
        conditions: [condition('Initialized', 'False'), condition('Initialized', 'True')],
      },
    };
    refused(
      await cluster.client.request<Status>('PATCH', path, twice, MUSTER),
      422,
      'muster-podgang-initialized',
      'status.conditions[Initialized]: Duplicate value: the condition Initialized is given once; remove the others' +
        ' [InitializedDuplicate]',
    );
  });

  test('Initialized comes only with enough references, and stays', async () => {
    const early = gangPath(await makeGang('early', 1), 'status');
    refused(
      await cluster.client.request<Status>('PATCH', early, initialized('True'), MUSTER),
      422,
      'muster-podgang-initialized',
      'status.conditions[Initialized]: Invalid value: Initialized is True only when every group refers to at least' +
        ' minReplicas Pods (group "workers" has 1 of 2); write podReferences first [InitializedTooEarly]',
    );
    const path = gangPath(await makeGang('complete', 2), 'status');
    expect((await cluster.client.request('PATCH', path, initialized('True'), MUSTER)).status).toBe(200);
    for (const status of [
      initialized('False'),
      { status: { phase: 'Pending', conditions: [] } },
      { status: null },
    ]) {
      refused(
        await cluster.client.request<Status>('PATCH', path, status, MUSTER),
        422,
        'muster-podgang-initialized',
        'status.conditions[Initialized]: Forbidden: Initialized stays True once it is: gates have come off on its word;' +
          ' keep the condition when you write status [InitializedFinal]',
      );
    }
    expect((await cluster.client.request('DELETE', gangPath('complete'), undefined, ALICE)).status).toBe(200);
  });

  test('a gang that Grove manages is held to who writes it, no more', async () => {
    const path = gangPath(
      await makeGang('groves', 0, { 'app.kubernetes.io/managed-by': 'grove-operator' }),
      'status',
    );
    expect((await cluster.client.request('PATCH', path, initialized('True'), ALICE)).status).toBe(403);
    expect((await cluster.client.request('PATCH', path, initialized('True'), MUSTER)).status).toBe(200);
    expect((await cluster.client.request('PATCH', path, initialized('False'), MUSTER)).status).toBe(200);
  });

  test('status sent with a new gang is dropped by the API server, so nobody is born Initialized', async () => {
    const created = await cluster.client.ok<{ status?: unknown }>(
      'POST',
      '/apis/scheduler.grove.io/v1alpha1/namespaces/a/podgangs',
      {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        metadata: { name: 'born' },
        spec: { podgroups: [] },
        ...initialized('True'),
      },
      ALICE,
    );
    expect(created.status).toBeUndefined();
  });
});

/**
 * The priorities of gangs and of their Pods on the real API server, whose Priority plugin fills in numbers before webhooks
 * are asked, and once more after one has changed the Pod.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster, KUBE } from './support/gang-cluster.ts';
import { group } from './support/gang-objects.ts';
import { secondWebhook } from './support/second-webhook.ts';

const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const COST = 'muster.dev/preemption-priority-class';
const MODE = 'muster.dev/disruption-mode';
const TYPE = 'PodsNotMatchingPriority';

interface Prioritised {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly priorityClassName?: string;
    readonly priority?: number;
    readonly preemptionPolicy?: string;
  };
}

clusterSuite('priorities of gangs and their Pods', () => {
  let cluster: GangCluster;
  const createClass = (name: string, value: number, rest: object = {}): Promise<unknown> =>
    cluster.client.ok('POST', CLASSES, {
      ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value },
      // What any gang may cost.
      metadata: { name, annotations: { 'muster.dev/preemption-priority-for': '*' } },
      ...rest,
    });
  const createGang = async (name: string, spec: object, annotations: Record<string, string> = {}) =>
    cluster.client.request<Prioritised & { message: string }>('POST', cluster.gangs(), {
      ...{ apiVersion: 'scheduler.grove.io/v1alpha1', kind: 'PodGang' },
      metadata: { name, labels: KUBE, annotations },
      spec: { podgroups: [group('worker', 1)], ...spec },
    });
  const podOf = (gang: string, name: string, spec: object = {}, labels: object = {}): object => ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      name: `${gang}-${name}`,
      labels: { 'grove.io/podgang': gang, 'grove.io/podclique': 'worker', ...labels },
    },
    spec: { containers: [{ name: 'main', image: 'example/train:1' }], ...spec },
  });
  const createPod = (gang: string, name: string, spec: object = {}, labels: object = {}) =>
    cluster.client.request<Prioritised & { message: string }>(
      'POST',
      cluster.pods(),
      podOf(gang, name, spec, labels),
    );
  const prioritiesOf = ({ spec: { priorityClassName, priority, preemptionPolicy } }: Prioritised) => [
    priorityClassName,
    priority,
    preemptionPolicy,
  ];
  /** Until Muster's memory has the gang: a Pod that comes before keeps the class that Kubernetes gives it. */
  const untilGiven = (gang: string, name: string, wanted: string) =>
    until(`a Pod of ${gang} gets its class`, async () => {
      const { status, body } = await cluster.client.request<Prioritised>(
        'POST',
        cluster.pods(),
        podOf(gang, name),
        { query: { dryRun: 'All' } },
      );
      return status === 201 && body.spec.priorityClassName === wanted;
    });

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true });
    await createClass('usual', 10, { globalDefault: true });
    await createClass('high', 1000);
    await createClass('polite', 500, { preemptionPolicy: 'Never' });
    await until('Muster knows the classes', async () => {
      const { body, status } = await createGang('usual', {});
      await cluster.client.request('DELETE', `${cluster.gangs()}/usual`);
      return status === 201 && body.spec.priorityClassName === 'usual';
    });
  }, 120_000);
  afterAll(async () => {
    await cluster?.stop();
  }, 60_000);

  test('a gang that names no class gets the default one, and keeps its class once it has Pods', async () => {
    const { body } = await createGang('plain', {});
    expect(body.spec.priorityClassName).toBe('usual');
    await untilGiven('plain', 'worker-0', 'usual');
    await createPod('plain', 'worker-0');
    await cluster.untilBound('plain', 1);
    const path = `${cluster.gangs()}/plain`;
    const other = await cluster.client.request<{ message: string }>('PATCH', path, {
      spec: { priorityClassName: 'high' },
    });
    expect([other.status, other.body.message]).toEqual([
      422,
      expect.stringContaining('[PriorityClassImmutable]'),
    ]);
    // Whoever applies a manifest without it changes nothing.
    const none = await cluster.client.ok<Prioritised>('PATCH', path, { spec: { priorityClassName: null } });
    expect(none.spec.priorityClassName).toBe('usual');
    const cost = { metadata: { annotations: { [COST]: 'high' } } };
    expect((await cluster.client.request('PATCH', path, cost)).status).toBe(200);
    // Also where nothing but such an annotation is written.
    for (const [key, value, rule] of [
      [MODE, 'PodGroup', 'DisruptionModeImmutable'],
      [COST, '', 'PriorityClassInvalid'],
      [COST, 'nope', 'PriorityClassUnknown'],
      ['muster.dev/preemption-policy', 'No', 'PreemptionPolicyInvalid'],
      ['muster.dev/preemption-plan', '{}', 'PreemptionPlanProtected'],
    ] as const) {
      const change = { metadata: { annotations: { [key]: value } } };
      const { status, body } = await cluster.client.request<{ message: string }>('PATCH', path, change);
      const code = rule === 'PreemptionPlanProtected' ? 403 : 422;
      expect([status, body.message]).toEqual([code, expect.stringContaining(`[${rule}]`)]);
    }
  });

  test.each<[string, object, Record<string, string>, string]>([
    ['a class that is not there', { priorityClassName: 'nope' }, {}, 'PriorityClassUnknown'],
    [
      'a cost below its priority',
      { priorityClassName: 'high' },
      { [COST]: 'usual' },
      'PreemptionPriorityBelow',
    ],
    ['a mode that there is not', {}, { [MODE]: 'All' }, 'DisruptionModeInvalid'],
    ['a policy that there is not', {}, { 'muster.dev/preemption-policy': 'No' }, 'PreemptionPolicyInvalid'],
  ])('%s is refused', async (_, spec, annotations, rule) => {
    const { status, body } = await createGang('refused', spec, annotations);
    expect([status, body.message]).toEqual([422, expect.stringContaining(`[${rule}]`)]);
  });

  test('its Pods get its class; Kubernetes fills in number and policy anew', async () => {
    for (const [gang, expected] of [
      ['high', ['high', 1000, 'PreemptLowerPriority']],
      ['polite', ['polite', 500, 'Never']],
    ] as const) {
      await createGang(gang, { priorityClassName: gang });
      await untilGiven(gang, 'worker-0', gang);
      const { status, body } = await createPod(gang, 'worker-0');
      expect([status, prioritiesOf(body)]).toEqual([201, expected]);
      await cluster.untilBound(gang, 1);
    }
  });

  test('also where another webhook makes the API server ask Muster again', async () => {
    const meddler = await secondWebhook(cluster.client, 'zz-labels', cluster.certificates, {
      answer: () => ({ patch: [{ op: 'add', path: '/metadata/labels/meddled', value: 'yes' }] }),
    });
    await createGang('again', { priorityClassName: 'polite' });
    await untilGiven('again', 'worker-0', 'polite');
    let attempt = 0;
    const pod = await until('the second webhook is called', async () => {
      attempt += 1;
      const { body } = await createPod('again', `worker-${attempt}`, {}, { 'zz-labels': 'yes' });
      return body.metadata.labels['meddled'] === 'yes' && body;
    });
    expect(meddler.calls()).toBe(2);
    expect(prioritiesOf(pod)).toEqual(['polite', 500, 'Never']);
    await meddler.close();
  });

  test('a class that a webhook exchanges past the plugin does not keep the number of the first', async () => {
    const thief = await secondWebhook(cluster.client, 'zz-thief', cluster.certificates, {
      // At first it changes something, to be asked again; then the number is there, and it takes another class.
      answer: ({ object }) => {
        const { spec } = object as Prioritised;
        return spec.priority === undefined
          ? { patch: [{ op: 'add', path: '/metadata/labels/seen', value: 'yes' }] }
          : { patch: [{ op: 'replace', path: '/spec/priorityClassName', value: 'usual' }] };
      },
    });
    await createGang('stolen', { priorityClassName: 'high' });
    await untilGiven('stolen', 'worker-0', 'high');
    const { status, message } = await until('the thief is called', async () => {
      const { status, body } = await createPod('stolen', 'worker-0', {}, { 'zz-thief': 'yes' });
      if (status === 201) await cluster.removePod('stolen-worker-0');
      return thief.calls() > 0 && { status, message: body.message };
    });
    expect([status, message]).toEqual([403, expect.stringContaining('[PriorityMismatch]')]);
    await thief.close();
  });

  test('Pods of another class are told of, and it is taken back once they are gone', async () => {
    await createGang('mixed', { priorityClassName: 'high' });
    await untilGiven('mixed', 'worker-0', 'high');
    const { status, body, warnings } = await createPod('mixed', 'worker-0', { priorityClassName: 'polite' });
    expect([status, prioritiesOf(body)]).toEqual([201, ['polite', 500, 'Never']]);
    expect(warnings).toEqual([
      'spec.priorityClassName: "polite" is not the PriorityClass of its gang: leave it out, and the Pod gets that of its gang',
    ]);
    const told = await cluster.untilCondition('mixed', TYPE, {
      status: 'True',
      reason: 'OtherPriorityClass',
    });
    expect(told.message).toMatch(/^Pod mixed-worker-0 has another PriorityClass than "high"/);
    await cluster.untilEvent('PodGang', 'mixed', 'OtherPriorityClass');
    await cluster.removePod('mixed-worker-0');
    await createPod('mixed', 'worker-1');
    await cluster.untilCondition('mixed', TYPE, { status: 'False', reason: 'PriorityClassesAgree' });
    await cluster.untilEvent('PodGang', 'mixed', 'PriorityClassesAgree');
  });

  test('a class that goes under a gang stops neither its Pods nor its changes', async () => {
    await createClass('brief', 20);
    await until('Muster knows the class', async () => {
      const { status } = await createGang('orphan', { priorityClassName: 'brief' });
      return status === 201;
    });
    await untilGiven('orphan', 'worker-0', 'brief');
    await cluster.client.ok('DELETE', `${CLASSES}/brief`);
    const warning =
      "spec.priorityClassName is not that of its gang, and stays so: the gang's PriorityClass is not there any more";
    let attempt = 0;
    const { status } = await until('Muster knows that it is gone', async () => {
      attempt += 1;
      const made = await createPod('orphan', `worker-${attempt}`);
      return made.warnings.includes(warning) && made;
    });
    expect(status).toBe(201);
    const change = { metadata: { labels: { team: 'blue' } }, spec: { podgroups: [group('worker', 1)] } };
    expect((await cluster.client.request('PATCH', `${cluster.gangs()}/orphan`, change)).status).toBe(200);
  });
});

import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { node, planFor, pod } from '../small-cluster.ts';

/** `node: message` for each node that refuses a Pod with this spec; the name of the node that takes it. */
function judged(spec: JsonObject, objects: readonly JsonObject[], labels: Record<string, string> = {}) {
  const wanting = { name: 'want', cpu: 1, prio: 0, spec, labels };
  const { placement, rejected, fits } = planFor([wanting], objects, 'kube-1.36');
  return fits
    ? [...placement.values()]
    : rejected.map((one) => `${one.node} ${one.predicate}: ${one.messages.join(', ')}`);
}

const at = (name: string, labels: JsonObject = {}, spec: JsonObject = {}): JsonObject =>
  node(name, 4, {}, { labels, spec });
const taint = (key: string, effect: string, value = ''): JsonObject => ({ key, effect, value });
const nodeTerms = (...terms: JsonObject[]): JsonObject => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  },
});
const where = (key: string, operator: string, ...values: string[]): JsonObject => ({
  matchExpressions: [{ key, operator, values }],
});
const podTerms = (
  kind: 'podAffinity' | 'podAntiAffinity',
  app: string,
  more: JsonObject = {},
): JsonObject => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'zone', labelSelector: { matchLabels: { app } }, ...more },
      ],
    },
  },
});
const spread = (more: JsonObject = {}): JsonObject => ({
  topologySpreadConstraints: [
    {
      topologyKey: 'zone',
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'a' } },
      ...more,
    },
  ],
});
const running = (
  name: string,
  on: string,
  app: string,
  spec: JsonObject = {},
  namespace = 'ns',
): JsonObject => pod({ name, on, namespace, labels: { app }, spec });

const AFFINITY = "NodeAffinity: node(s) didn't match Pod's node affinity/selector";
const TAINTED = 'TaintToleration: node(s) had untolerated taint(s)';
const UNSCHEDULABLE = 'NodeUnschedulable: node(s) were unschedulable';
const SKEWED = "PodTopologySpread: node(s) didn't match pod topology spread constraints";
const TOO_CLOSE = "InterPodAffinity: node(s) didn't match pod anti-affinity rules";
const NO_COMPANY = "InterPodAffinity: node(s) didn't match pod affinity rules";
const REFUSED = "InterPodAffinity: node(s) didn't satisfy existing pods anti-affinity rules";

describe('nodes', () => {
  test('cordoned, unless it is tolerated', () => {
    const cordoned = at('a', {}, { unschedulable: true });
    expect(judged({}, [cordoned])).toEqual([`a ${UNSCHEDULABLE}`]);
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];
    expect(judged({ tolerations }, [cordoned])).toEqual(['a']);
  });

  test.each<[string, JsonObject, boolean]>([
    ['nothing', {}, false],
    ['the key', { key: 'gpu', operator: 'Exists' }, true],
    ['everything', { operator: 'Exists' }, true],
    ['its value', { key: 'gpu', value: 'yes' }, true],
    ['its value, said so', { key: 'gpu', operator: 'Equal', value: 'yes' }, true],
    ['another value', { key: 'gpu', value: 'no' }, false],
    ['another effect', { key: 'gpu', operator: 'Exists', effect: 'NoExecute' }, false],
  ])('tainted, tolerating %s', (_, toleration, takes) => {
    const tainted = at('a', {}, { taints: [taint('gpu', 'NoSchedule', 'yes')] });
    expect(judged({ tolerations: [toleration] }, [tainted])).toEqual([takes ? 'a' : `a ${TAINTED}`]);
  });

  test('a taint that only prefers others decides where it goes, not whether', () => {
    const soft = at('a', {}, { taints: [taint('x', 'PreferNoSchedule')] });
    expect(judged({}, [soft])).toEqual(['a']);
    expect(judged({}, [soft, at('b')])).toEqual(['b']);
  });

  test.each<[string, JsonObject, readonly string[]]>([
    ['a selector', { nodeSelector: { zone: 'x' } }, ['a']],
    ['In', nodeTerms(where('zone', 'In', 'x', 'q')), ['a']],
    ['NotIn', nodeTerms(where('zone', 'NotIn', 'x')), ['b']],
    ['Exists', nodeTerms(where('rank', 'Exists')), ['b']],
    ['DoesNotExist', nodeTerms(where('rank', 'DoesNotExist')), ['a']],
    ['Gt', nodeTerms(where('rank', 'Gt', '4')), ['b']],
    ['Lt', nodeTerms(where('rank', 'Lt', '5')), [`a ${AFFINITY}`, `b ${AFFINITY}`]],
    ['one of two terms', nodeTerms(where('zone', 'In', 'q'), where('rank', 'Exists')), ['b']],
    ['an empty term', nodeTerms({}), [`a ${AFFINITY}`, `b ${AFFINITY}`]],
    [
      'the name',
      nodeTerms({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }),
      ['b'],
    ],
  ])('chosen by %s', (_, spec, expected) =>
    expect(judged(spec, [at('a', { zone: 'x' }), at('b', { zone: 'y', rank: '5' })])).toEqual(expected),
  );

  test('a preferred node goes before an emptier one', () => {
    const preferred = {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: where('zone', 'In', 'x') },
          ],
        },
      },
    };
    expect(judged(preferred, [at('a'), at('b', { zone: 'x' })])).toEqual(['b']);
  });

  test('a bound volume keeps its Pod near', () => {
    const volume: JsonObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pv' },
      spec: { nodeAffinity: { required: { nodeSelectorTerms: [where('zone', 'In', 'y')] } } },
    };
    const claim: JsonObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'ns' },
      spec: { volumeName: 'pv' },
    };
    const spec = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] };
    const ephemeral: JsonObject = { ...claim, metadata: { name: 'want-v', namespace: 'ns' } };
    expect(judged(spec, [at('a', { zone: 'x' }), volume, claim])).toEqual([
      "a VolumeBinding: node(s) didn't match PersistentVolume's node affinity",
    ]);
    expect(judged(spec, [at('a', { zone: 'x' }), at('b', { zone: 'y' }), volume, claim])).toEqual(['b']);
    const generated = { volumes: [{ name: 'v', ephemeral: {} }] };
    expect(judged(generated, [at('a'), at('b', { zone: 'y' }), volume, ephemeral])).toEqual(['b']);
  });
});

describe('resources', () => {
  const wants = (spec: JsonObject, cpu: number | string) => judged(spec, [node('a', cpu)]);
  const asks = (cpu: string, more: JsonObject = {}): JsonObject => ({
    name: cpu,
    resources: { requests: { cpu } },
    ...more,
  });
  const SHORT = ['a NodeResourcesFit: Insufficient cpu'];

  test.each<[string, JsonObject, string]>([
    ['containers together', { containers: [asks('1'), asks('2')] }, '3'],
    ['an init container that needs more', { containers: [asks('1')], initContainers: [asks('3')] }, '3'],
    ['one that needs less', { containers: [asks('2')], initContainers: [asks('1')] }, '2'],
    [
      'a sidecar beside the containers',
      { containers: [asks('1')], initContainers: [asks('1', { restartPolicy: 'Always' })] },
      '2',
    ],
    [
      'an init container beside the sidecar before it',
      { containers: [asks('1')], initContainers: [asks('1', { restartPolicy: 'Always' }), asks('3')] },
      '4',
    ],
    [
      'an init container before the sidecar',
      { containers: [asks('1')], initContainers: [asks('3'), asks('1', { restartPolicy: 'Always' })] },
      '3',
    ],
    ['the runtime’s overhead', { containers: [asks('1')], overhead: { cpu: '500m' } }, '1500m'],
    ['the Pod’s own request', { containers: [asks('1')], resources: { requests: { cpu: '3' } } }, '3'],
    ['a limit without a request', { containers: [{ name: 'c', resources: { limits: { cpu: '2' } } }] }, '2'],
  ])('%s', (_, spec, cpu) => {
    expect(wants(spec, cpu)).toEqual(['a']);
    expect(wants(spec, `${Number.parseFloat(cpu) * (cpu.endsWith('m') ? 1 : 1000) - 1}m`)).toEqual(SHORT);
  });

  test('every resource that is short is named, and the number of Pods', () => {
    const full: JsonObject = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'a' },
      status: { allocatable: { cpu: '1', memory: '1Gi', pods: '0' } },
    };
    const spec = {
      containers: [{ name: 'c', resources: { requests: { memory: '2Gi', 'nvidia.com/gpu': 1 } } }],
    };
    expect(judged(spec, [full])).toEqual([
      'a NodeResourcesFit: Too many pods, Insufficient memory, Insufficient nvidia.com/gpu',
    ]);
  });

  test.each<[string, JsonObject, boolean]>([
    ['the same port', { hostPort: 80 }, false],
    ['another port', { hostPort: 81 }, true],
    ['another protocol', { hostPort: 80, protocol: 'UDP' }, true],
    ['another address', { hostPort: 80, hostIP: '10.0.0.2' }, true],
    ['every address', { hostPort: 80, hostIP: '0.0.0.0' }, false],
  ])('a port of the node: %s', (_, port, takes) => {
    const taken = pod({
      name: 'p',
      on: 'a',
      spec: { containers: [{ name: 'c', ports: [{ hostPort: 80, hostIP: '10.0.0.1' }] }] },
    });
    const ports = [{ hostIP: '10.0.0.1', ...port }];
    expect(judged({ containers: [{ name: 'c', ports }] }, [at('a'), taken])).toEqual([
      takes ? 'a' : "a NodePorts: node(s) didn't have free ports for the requested pod ports",
    ]);
  });
});

describe('other Pods', () => {
  const zones = [at('a', { zone: 'x' }), at('b', { zone: 'y' }), at('c')];

  test('away from some', () => {
    const objects = [...zones, running('p', 'a', 'db')];
    expect(judged(podTerms('podAntiAffinity', 'db'), objects)).not.toEqual(['a']);
    const everywhere = [...objects, running('q', 'b', 'db'), at('d', { zone: 'x' })].filter(
      (one) => one !== zones[2],
    );
    expect(judged(podTerms('podAntiAffinity', 'db'), everywhere)).toEqual([
      `a ${TOO_CLOSE}`,
      `b ${TOO_CLOSE}`,
      `d ${TOO_CLOSE}`,
    ]);
  });

  test('others want to be away from it', () => {
    const hermit = running('p', 'a', 'x', podTerms('podAntiAffinity', 'web'));
    expect(judged({}, [zones[0] ?? {}, hermit], { app: 'web' })).toEqual([`a ${REFUSED}`]);
    expect(judged({}, [zones[0] ?? {}, hermit], { app: 'other' })).toEqual(['a']);
  });

  test('near some', () => {
    const objects = [...zones, running('p', 'b', 'db')];
    expect(judged(podTerms('podAffinity', 'db'), objects)).toEqual(['b']);
    const nobody = judged(podTerms('podAffinity', 'db'), zones);
    expect(nobody).toEqual([`a ${NO_COMPANY}`, `b ${NO_COMPANY}`, `c ${NO_COMPANY}`]);
  });

  test('the first of those that want to be together goes where the topology is known', () => {
    expect(judged(podTerms('podAffinity', 'a'), zones, { app: 'a' })).toEqual(['a']);
    expect(judged(podTerms('podAffinity', 'a'), [at('c')], { app: 'a' })).toEqual([`c ${NO_COMPANY}`]);
  });

  test('of other namespaces only those that are named or selected', () => {
    const elsewhere = running('p', 'b', 'db', {}, 'other');
    const namespace: JsonObject = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'other', labels: { team: 't' } },
    };
    const near = (more: JsonObject) =>
      judged(podTerms('podAffinity', 'db', more), [...zones.slice(0, 2), elsewhere, namespace]);
    expect(near({})).toEqual([`a ${NO_COMPANY}`, `b ${NO_COMPANY}`]);
    expect(near({ namespaces: ['other'] })).toEqual(['b']);
    expect(near({ namespaceSelector: {} })).toEqual(['b']);
    expect(near({ namespaceSelector: { matchLabels: { team: 't' } } })).toEqual(['b']);
    expect(near({ namespaceSelector: { matchLabels: { team: 'u' } } })).toEqual([
      `a ${NO_COMPANY}`,
      `b ${NO_COMPANY}`,
    ]);
  });

  test('spread evenly', () => {
    const two = zones.slice(0, 2);
    const objects = [...two, running('p', 'a', 'a')];
    expect(judged(spread(), objects, { app: 'a' })).toEqual(['b']);
    const full = [...objects, node('b', 0, {}, { labels: { zone: 'y' } })].filter((one) => one !== zones[1]);
    expect(judged(spread(), full, { app: 'a' })).toEqual([
      `a ${SKEWED}`,
      'b NodeResourcesFit: Insufficient cpu',
    ]);
    expect(judged(spread({ maxSkew: 2 }), full, { app: 'a' })).toEqual(['a']);
    expect(judged(spread({ whenUnsatisfiable: 'ScheduleAnyway' }), full, { app: 'a' })).toEqual(['a']);
  });

  test('a node without the topology', () => {
    expect(judged(spread(), [at('c')], { app: 'a' })).toEqual([`c ${SKEWED} (missing required label)`]);
  });

  test('fewer domains than asked for count as one without any', () => {
    const objects = [at('a', { zone: 'x' }), running('p', 'a', 'a')];
    expect(judged(spread({ minDomains: 2 }), objects, { app: 'a' })).toEqual([`a ${SKEWED}`]);
    expect(judged(spread(), objects, { app: 'a' })).toEqual(['a']);
  });

  test('domains where it may not be do not count, unless it says so; the tainted only where it says so', () => {
    const objects = [at('a', { zone: 'x', ok: '1' }), at('b', { zone: 'y' }), running('p', 'a', 'a')];
    const chosen = { nodeSelector: { ok: '1' } };
    expect(judged({ ...spread(), ...chosen }, objects, { app: 'a' })).toEqual(['a']);
    expect(judged({ ...spread({ nodeAffinityPolicy: 'Ignore' }), ...chosen }, objects, { app: 'a' })).toEqual(
      [`a ${SKEWED}`, `b ${AFFINITY}`],
    );
    const tainted = [
      at('a', { zone: 'x' }),
      at('b', { zone: 'y' }, { taints: [taint('t', 'NoSchedule')] }),
      running('p', 'a', 'a'),
    ];
    expect(judged(spread(), tainted, { app: 'a' })).toEqual([`a ${SKEWED}`, `b ${TAINTED}`]);
    expect(judged(spread({ nodeTaintsPolicy: 'Honor' }), tainted, { app: 'a' })).toEqual(['a']);
  });

  test('matchLabelKeys count only Pods with its own values', () => {
    const objects = [
      at('a', { zone: 'x' }),
      at('b', { zone: 'y' }, { unschedulable: true }),
      running('p', 'a', 'a'),
    ];
    expect(judged(spread(), objects, { app: 'a', v: '2' })).toEqual([`a ${SKEWED}`, `b ${UNSCHEDULABLE}`]);
    expect(judged(spread({ matchLabelKeys: ['v'] }), objects, { app: 'a', v: '2' })).toEqual(['a']);
  });
});

/** Forecasts from watches of a cluster that is made up, in this thread. */
import { afterEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { ApiError } from '../../../src/kube/client/errors.ts';
import {
  POD_GANGS,
  PODS,
  PRIORITY_CLASSES,
  SNAPSHOT_RESOURCES,
  type KubeObject,
} from '../../../src/kube/client/resources.ts';
import { ClusterWatch } from '../../../src/preview/cluster-watch.ts';
import type { Names } from '../../../src/preview/question.ts';
import { Forecaster } from '../../../src/preview/forecaster.ts';
import { FakeCluster } from '../kube/loop/fake-cluster.ts';
import {
  budget,
  node,
  pod,
  podGang,
  podGroup,
  priorityClass,
  type PodIn,
} from '../preemption/small-cluster.ts';
import { until } from '../tls/until.ts';

const of = (plural: string) =>
  SNAPSHOT_RESOURCES.flat().find((resource) => resource.plural === plural) ?? PODS;
const [NODES, BUDGETS, VOLUMES, CLAIMS] = [
  'nodes',
  'poddisruptionbudgets',
  'persistentvolumes',
  'persistentvolumeclaims',
].map(of) as [typeof PODS, typeof PODS, typeof PODS, typeof PODS];

const CLASSES = [priorityClass('low', 10), priorityClass('high', 100)];
const gang = podGang('train', { className: 'high', groups: { worker: 2 } });
const worker = (name: string, cpu = 2, more: Partial<PodIn> = {}): JsonObject =>
  pod({ name, cpu, prio: 100, gang: 'train', ...more });

const stored = (object: JsonObject, version = 1): KubeObject => {
  const { metadata } = object as unknown as KubeObject;
  return {
    ...object,
    metadata: { uid: `uid-${metadata.name}`, ...metadata, resourceVersion: String(version) },
  };
};

let watch: ClusterWatch | undefined;
afterEach(() => watch?.stop());

async function forecaster(
  given: {
    nodes?: JsonObject[];
    pods?: JsonObject[];
    gangs?: JsonObject[];
    budgets?: JsonObject[];
    volumes?: JsonObject[];
    claims?: JsonObject[];
    podGroups?: JsonObject[];
  },
  names: Names = 'Own',
): Promise<{ cluster: FakeCluster; ask: (object: JsonObject, until?: number) => readonly string[] }> {
  const cluster = new FakeCluster();
  const put = (resource: typeof PODS, objects: JsonObject[] = []): void =>
    void cluster.objects.set(
      resource,
      objects.map((one) => stored(one)),
    );
  put(NODES, given.nodes ?? [node('n1', 4)]);
  put(PODS, given.pods);
  put(POD_GANGS, given.gangs);
  put(BUDGETS, given.budgets);
  put(VOLUMES, given.volumes);
  put(CLAIMS, given.claims);
  put(of('podgroups'), given.podGroups);
  put(PRIORITY_CLASSES, CLASSES);
  watch = await ClusterWatch.start(cluster.client, () => undefined);
  const answerer = new Forecaster(watch, { names, exemptNamespaces: ['exempt'] }, () => 0);
  const seen = watch;
  await until('all is listed', () => seen.missing === undefined);
  let id = 0;
  return {
    cluster,
    ask: (object, before = 1) => {
      id += 1;
      return answerer.answer({ id, user: 'alice', namespace: 'ns', object, until: before });
    },
  };
}

const elsewhere = (name: string, more: Partial<PodIn> = {}): JsonObject =>
  pod({ name, namespace: 'batch', on: 'n1', cpu: 1, prio: 10, ...more });
const old = [0, 1, 2].map((index) => elsewhere(`old-${index}`, { gang: 'old' }));
const OLD = { ...podGang('old', { className: 'low', mode: 'PodGroup' }) };
const oldGang = { ...OLD, metadata: { ...(OLD['metadata'] as JsonObject), namespace: 'batch' } };

describe('who would have to make room', () => {
  test('nobody', async () => {
    const { ask } = await forecaster({});
    expect(ask(gang)).toEqual([]);
    expect(ask(worker('w-0'))).toEqual([]);
    expect(ask(worker('w-1'))).toEqual(['forecast: gang ns/train (priority 100, 2 Pods) fits as it is']);
  });

  test('a gang of another namespace, by name only where the configuration says so', async () => {
    const given = { pods: old, gangs: [oldGang, gang] };
    const own = await forecaster(given);
    own.ask(worker('w-0'));
    expect(own.ask(worker('w-1'))).toEqual([
      'forecast: gang ns/train (priority 100, 2 Pods) would fit if 3 Pods of a gang of another namespace (priority 10) made room; nothing else is touched',
    ]);
    await watch?.stop();
    const all = await forecaster(given, 'All');
    all.ask(worker('w-0'));
    expect(all.ask(worker('w-1'))).toEqual([
      'forecast: gang ns/train (priority 100, 2 Pods) would fit if 3 Pods of gang batch/old (priority 10) made room; nothing else is touched',
    ]);
  });

  test('whom the cluster’s own scheduler takes, for a gang that is one of Kubernetes’ own', async () => {
    // 1.37 keeps the gang where it would be with nobody there; the document spares who is more important.
    const given = {
      nodes: [node('n1', 3), node('n2', 3)],
      pods: [elsewhere('first', { cpu: 3, prio: 50 }), elsewhere('second', { cpu: 3, on: 'n2' })],
      gangs: [podGang('train', { className: 'high', groups: { worker: 1 } })],
    };
    const takes = (name: string, prio: number): string[] => [
      `forecast: gang ns/train (priority 100, 1 Pod) would fit if 1 Pod (batch/${name}, priority ${prio}) made room; nothing else is touched`,
    ];
    expect((await forecaster(given, 'All')).ask(worker('w-0', 3))).toEqual(takes('second', 10));
    await watch?.stop();
    const own = worker('w-0', 3, { podGroup: 'train' });
    expect((await forecaster(given, 'All')).ask(own)).toEqual(takes('first', 50));
    await watch?.stop();
    // Of several PodGroups none says by itself what the gang needs: the leader alone is not the gang.
    const podGroups = ['leader', 'worker'].map((name) => podGroup(`train.${name}`, { prio: 100, min: 1 }));
    const two = {
      ...given,
      podGroups,
      gangs: [podGang('train', { className: 'high', groups: { leader: 1, worker: 1 } })],
    };
    const { ask } = await forecaster(two, 'All');
    expect(ask(worker('l-0', 1, { group: 'leader', podGroup: 'train.leader' }))).toEqual([]);
    expect(ask(worker('w-0', 3, { group: 'worker', podGroup: 'train.worker' }))).toEqual([
      expect.stringContaining('gang ns/train (priority 100, 2 Pods) would fit'),
      expect.any(String),
    ]);
  });

  test('nobody at all where anybody may ask', async () => {
    const mine = pod({ name: 'mine', on: 'n2', cpu: 2, prio: 5 });
    const given = { nodes: [node('n1', 3), node('n2', 4)], pods: [...old, mine], gangs: [oldGang, gang] };
    const { ask } = await forecaster(given, 'None');
    ask(worker('w-0', 3));
    const told = ask(worker('w-1', 3));
    expect(told).toEqual([
      'forecast: gang ns/train (priority 100, 2 Pods) would fit if 4 Pods of 2 units made room; nothing else is touched',
      'forecast: 4 Pods of 2 units (priorities 5 to 10) would go',
    ]);
    await watch?.stop();
    const one = await forecaster({ pods: old, gangs: [oldGang, gang] }, 'None');
    one.ask(worker('w-0'));
    expect(one.ask(worker('w-1'))).toEqual([
      'forecast: gang ns/train (priority 100, 2 Pods) would fit if 3 Pods of a gang (priority 10) made room; nothing else is touched',
    ]);
  });

  test('no name, node or label of another namespace is in any warning', async () => {
    const pods = [
      ...old,
      elsewhere('secret-1', { on: 'n2', cpu: 2, labels: { app: 'secret' } }),
      pod({ name: 'mine', on: 'n2', cpu: 2, prio: 5 }),
    ];
    const secret = { ...budget('secret', 0), metadata: { name: 'secret', namespace: 'batch' } };
    const { ask } = await forecaster({
      nodes: [node('n1', 3), node('n2', 4)],
      pods,
      gangs: [oldGang, gang],
      budgets: [secret],
    });
    ask(worker('w-0', 3));
    const told = ask(worker('w-1', 3));
    expect(told).toEqual([
      'forecast: gang ns/train (priority 100, 2 Pods) would fit if 5 Pods of 3 units made room; nothing else is touched',
      'forecast: 1 of the units that make room would overdraw a PodDisruptionBudget',
      'forecast: would go: Pod ns/mine (priority 5)',
      'forecast: of other namespaces 4 Pods of 2 units (priority 10) would go',
    ]);
    expect(told.join(' ')).not.toMatch(/batch|secret|old/);
  });

  test('many, within the length of a warning', async () => {
    const pods = Array.from({ length: 20 }, (_, index) =>
      pod({ name: `one-of-many-that-run-here-${index}`, on: 'n1', cpu: '200m', prio: index % 2 }),
    );
    const { ask } = await forecaster({ pods, gangs: [gang] });
    ask(worker('w-0'));
    const told = ask(worker('w-1'));
    expect(told[0]).toContain('would fit if 20 Pods of 20 units made room');
    expect(told.at(-1)).toBe('forecast: would go: 8 more of this namespace');
    expect(told.every((text) => text.length <= 256)).toBe(true);
    expect(told.join(' ').match(/one-of-many/g)).toHaveLength(12);
  });
});

describe('what is counted', () => {
  test('Pods that wait already, for a PodGang that is tried out', async () => {
    const { ask } = await forecaster({ pods: [worker('w-0'), worker('w-1')] });
    expect(ask(gang)).toEqual(['forecast: gang ns/train (priority 100, 2 Pods) fits as it is']);
  });

  test('members that run: one more Pod completes nothing', async () => {
    const pods = [worker('w-0', 1, { on: 'n1' }), worker('w-1', 1, { on: 'n1' })];
    const { ask } = await forecaster({ pods, gangs: [gang] });
    expect(ask(worker('w-2', 1))).toEqual([]);
  });

  test('changes, and what has ended', async () => {
    const { ask, cluster } = await forecaster({ pods: old, gangs: [gang] });
    ask(worker('w-0'));
    const last = worker('w-1');
    expect(ask(last)[0]).toContain('3 Pods of 3 units');
    const ended = { ...(old[0] as JsonObject), status: { phase: 'Succeeded' } };
    await cluster.tell(PODS, 'MODIFIED', stored(ended, 2));
    ask(worker('w-0'));
    await until('one has ended', () => {
      ask(worker('w-0'));
      return ask(last)[0]?.includes('2 Pods of 2 units') === true;
    });
  });

  test('volumes, as they are bound now', async () => {
    const claim: JsonObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'ns' },
      spec: { volumeName: 'disk' },
    };
    const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n2'] }] };
    const volume: JsonObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk' },
      spec: { nodeAffinity: { required: { nodeSelectorTerms: [term] } } },
    };
    const spec = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] };
    const { ask } = await forecaster({
      pods: [worker('w-0', 2, { spec }), worker('w-1', 2, { spec })],
      volumes: [volume],
      claims: [claim],
    });
    expect(ask(gang)[0]).toContain("1 node(s) didn't match PersistentVolume's node affinity");
  });

  test('what cannot be counted with is told, and does not keep others from their forecast', async () => {
    const strange = elsewhere('strange', { ask: { memory: '9000Pi' } });
    const nodes = [node('n1', 4), node('n2', 4)];
    const { ask } = await forecaster({ nodes, pods: [strange], gangs: [gang] });
    ask(worker('w-0', 1));
    expect(ask(worker('w-1', 1))).toEqual([
      'forecast: gang ns/train (priority 100, 2 Pods) fits as it is',
      'forecast: 1 object of the cluster says what cannot be counted with; the forecast may be wrong there',
    ]);
    expect(ask(worker('w-0', 1, { ask: { memory: 'much' } }))).toEqual([
      'forecast: none: Pod ns/w-0: spec.containers[0].resources.requests.memory: "much" is no quantity; write it as 500m, 2 or 12Gi',
    ]);
  });
});

describe('no forecast', () => {
  test('that nobody waits for any more', async () => {
    const { ask } = await forecaster({ gangs: [gang] });
    ask(worker('w-0'));
    expect(ask(worker('w-1'), 0)).toEqual([]);
  });

  test('until a right is granted, also that by which the version of a kind is found out', async () => {
    const cluster = new FakeCluster();
    let granted = false;
    cluster.beforeList = (resource) => {
      if (resource.plural !== 'podgroups') return Promise.resolve();
      const [status, reason] = granted ? [404, 'NotFound'] : [403, 'Forbidden'];
      return Promise.reject(new ApiError('list podgroups', { status, reason, message: 'no' }));
    };
    cluster.objects.set(NODES, [stored(node('n1', 4))]);
    watch = await ClusterWatch.start(cluster.client, () => undefined, 10);
    const seen = watch;
    await until('only that is missing', () => seen.missing === 'no right to list and watch podgroups');
    granted = true;
    await until('nothing is missing', () => seen.missing === undefined);
  });

  test('before all is listed, and without the rights', async () => {
    const cluster = new FakeCluster();
    const told: (string | undefined)[] = [];
    cluster.beforeList = () =>
      Promise.reject(new ApiError('list nodes', { status: 403, reason: 'Forbidden', message: 'no' }));
    watch = await ClusterWatch.start(cluster.client, () => told.push(watch?.missing));
    const answerer = new Forecaster(watch, { names: 'Own', exemptNamespaces: [] }, () => 0);
    const asked = { id: 1, user: 'a', namespace: 'ns', object: gang, until: 1 };
    expect(answerer.answer(asked)[0]).toMatch(/^forecast: none yet: /);
    await until('it is refused', () => told.length > 8);
    expect(answerer.answer(asked)[0]).toContain('no right to list and watch nodes; no right');
  });
});

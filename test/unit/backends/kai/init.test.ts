import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { kai } from '../../../../src/backends/kai/backend.ts';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { KAI_RELEASES, type KaiRelease } from '../../../cluster/support/crds/kai.ts';
import { clusterWith, gangOf, initContext, made } from '../../../support/made-backend.ts';
import { group, podGang } from '../../../support/pod-gangs.ts';
import { gangPod } from '../../../support/pods.ts';
import { mutatePod, operationsOf, validatePodGang } from '../../../support/reviews.ts';
import { patched } from '../../../support/rfc6902.ts';
import { recordedSync } from '../../../support/sync-context.ts';
import { HOST, kaiCluster, LEVELS, OURS, RACK, readyKai, topology, ZONE } from './kai-cluster.ts';

const noticesOf = async (
  release: KaiRelease,
  config: JsonObject,
  topologies?: readonly JsonObject[],
): Promise<readonly string[]> => {
  const cluster = kaiCluster(release, topologies);
  const facts = await made(kai, config, LEVELS).init(initContext(cluster));
  expect(facts.version).toBe('scheduling.run.ai/v2alpha2');
  return facts.notices ?? [];
};

/** A policy whose KAI has looked at this cluster. */
async function policyOn(release: KaiRelease, config: JsonObject) {
  const backend = await readyKai(kaiCluster(release), config);
  const registry = new BackendRegistry([{ name: 'kai-scheduler' }], 'kai-scheduler', {
    factories: [{ name: 'kai-scheduler', create: () => backend }],
  });
  return {
    registry,
    trustedAccounts: new Set<string>(),
    exemptNamespaces: new Set<string>(),
    topology: { enabled: true, keys: LEVELS },
  };
}

describe('a look at the cluster', () => {
  test.each(KAI_RELEASES)('KAI %s: its PodGroup says whether it can be given PodGroups', async (release) => {
    const backend = await readyKai(kaiCluster(release), { queue: 'q' });
    const { context, applied } = recordedSync();
    await backend.syncPodGang(context, gangOf());
    const old = release === '0.14';
    expect(applied).toHaveLength(old ? 0 : 1);
    expect(backend.owns?.()).toHaveLength(old ? 0 : 1);
    expect(await noticesOf(release, {})).toEqual(
      old
        ? [
            'KAI is older than 0.15 (PodGroup has no minSubGroup) and groups Pods by their owner: Muster writes no PodGroups, and minReplicas, queue, priority and topology of a PodGang do not reach it',
          ]
        : [],
    );
  });

  test.each([
    ['0.15', undefined],
    ['0.17', undefined],
    ['main', 0],
  ] as const)('KAI %s: a gang whose minimums are all 0 has %p as its own', async (release, minMember) => {
    // Only Grove makes such a gang, to let a gang go.
    const backend = await readyKai(kaiCluster(release), { queue: 'q' });
    const { context, applied } = recordedSync();
    await backend.syncPodGang(context, gangOf({ groups: [group('a', { minReplicas: 0 })] }));
    expect(applied[0]?.spec['minMember']).toBe(minMember);
    expect(applied[0]?.spec['subGroups']).toEqual([{ name: 'a', minMember: 0 }]);
  });

  test('without KAI it says what is missing and the way out, and is ready once it is there', async () => {
    const backend = made(kai, { queue: 'q' });
    await expect(backend.init(initContext(clusterWith()))).rejects.toThrow(
      'the cluster does not serve PodGroup scheduling.run.ai/v2alpha2 (CRD podgroups.scheduling.run.ai): install KAI Scheduler 0.15 or later, or take kai-scheduler out of scheduler.profiles',
    );
    expect(await backend.init(initContext(kaiCluster('0.17')))).toMatchObject({ notices: [] });
  });

  test('an old KAI is refused where PodGroups of Muster are required', async () => {
    const backend = made(kai, { requireExternalPodGroups: true });
    await expect(backend.init(initContext(kaiCluster('0.14')))).rejects.toThrow(
      'PodGroup scheduling.run.ai/v2alpha2 has no minSubGroup, so KAI is older than 0.15 and groups Pods by their owner: upgrade KAI, or set config.requireExternalPodGroups to false to do without its gang',
    );
    expect(await backend.init(initContext(kaiCluster('0.15')))).toMatchObject({ notices: [] });
  });

  test('a failed look changes nothing of what the last one found', async () => {
    const backend = await readyKai(kaiCluster('0.14'));
    await expect(backend.init(initContext(clusterWith()))).rejects.toThrow('does not serve');
    expect(backend.owns?.()).toEqual([]);
  });

  test('without a cluster it goes by the KAI of today, and says so', async () => {
    const backend = made(kai);
    expect(await backend.init(initContext())).toEqual({
      version: 'scheduling.run.ai/v2alpha2',
      notices: ['there is no cluster to look at: KAI is taken to be 0.15 or later'],
    });
    expect(backend.owns?.()).toHaveLength(1);
  });

  test.each<[string, JsonObject, readonly JsonObject[] | undefined, string | undefined]>([
    ['none is asked for', {}, undefined, undefined],
    ['it is as it should be', { topologyName: 'dc' }, [topology('dc', LEVELS, OURS)], undefined],
    ["somebody else's is the same", { topologyName: 'dc' }, [topology('dc', LEVELS)], undefined],
    [
      'it is not there yet',
      { topologyName: 'dc' },
      [],
      'there is no Topology dc yet: gangs that ask for a topology wait for it',
    ],
    [
      'it is of an earlier configuration',
      { topologyName: 'dc' },
      [topology('dc', [ZONE], OURS)],
      'Topology dc has the levels of an earlier configuration: Muster makes it anew',
    ],
    [
      "somebody else's is in the way",
      { topologyName: 'dc' },
      [topology('dc', [ZONE])],
      `Topology dc is not Muster's and has the levels ${ZONE}, not those of topologyAwareScheduling.levels (${ZONE}, ${RACK}, ${HOST}): delete it, correct the levels, or set config.topologyName to another name`,
    ],
  ])('Topology: %s', async (_what, config, topologies, notice) => {
    expect(await noticesOf('0.17', config, topologies)).toEqual(notice === undefined ? [] : [notice]);
  });

  test('a KAI that serves no Topology', async () => {
    const cluster = { ...kaiCluster('0.17'), read: () => Promise.resolve(undefined) };
    const { notices } = await made(kai, { topologyName: 'dc' }, LEVELS).init(initContext(cluster));
    expect(notices).toEqual([
      'KAI serves no Topology here: gangs that ask for a topology wait, and Topology dc is not kept',
    ]);
  });
});

describe('with a KAI that groups Pods by their owner', () => {
  test('a Pod gets its scheduler, the annotations for people, and the queue that an old KAI reads', async () => {
    const policy = await policyOn('0.14', { queue: 'q' });
    const object = gangPod();
    const stored = patched(object, operationsOf(mutatePod({ object }, policy)));
    expect(stored['spec']).toMatchObject({ schedulerName: 'kai-scheduler' });
    expect(stored['metadata']).toEqual({
      name: 'worker-0',
      namespace: 'ml',
      labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker', 'kai.scheduler/queue': 'q' },
      annotations: { 'kai.scheduler/podgang': 'train', 'kai.scheduler/podgroup': 'worker' },
    });
    expect(mutatePod({ object: stored }, policy).changes).toEqual([]);
    const own = gangPod({ labels: { 'kai.scheduler/queue': 'mine' } });
    expect(JSON.stringify(mutatePod({ object: own }, policy).changes)).not.toContain('kai.scheduler/queue');
    const without = await policyOn('0.14', {});
    expect(JSON.stringify(mutatePod({ object }, without).changes)).not.toContain('kai.scheduler/queue');
  });

  test('a PodGang is told what is lost', async () => {
    const object = podGang({
      labels: { 'kai.scheduler/queue': 'q' },
      annotations: { 'kai.scheduler/topology': 'dc' },
      groups: [group('a'), group('b', { minReplicas: 0 })],
      spec: { priorityClassName: 'high', topologyConstraint: { packConstraint: { required: ZONE } } },
    });
    const { faults, warnings } = validatePodGang({ object }, await policyOn('0.14', {}));
    expect(faults).toEqual([]);
    expect(warnings).toEqual([
      'kai-scheduler here is older than 0.15 and groups Pods by their owner: the gates hold the gang together until all its Pods are there, then minReplicas does not reach KAI',
      'kai-scheduler before 0.15 reads the queue from the label kai.scheduler/queue of each Pod',
      'kai-scheduler before 0.15 ignores the topology constraints of a PodGang',
      'spec.podgroups[1].minReplicas: kai-scheduler before 0.15 takes 0 for 1 (group b)',
    ]);
    expect(Math.max(...warnings.map((text) => text.length))).toBeLessThanOrEqual(256);
  });
});

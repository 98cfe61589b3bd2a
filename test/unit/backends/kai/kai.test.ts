import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../../src/json/json.ts';
import { kai } from '../../../../src/backends/kai/backend.ts';
import { explainKai } from '../../../../src/backends/kai/explain.ts';
import { parsePodGang } from '../../../../src/gang/parse-pod-gang.ts';
import { gangOf, made } from '../../../support/made-backend.ts';
import { podGang, type PodGangParts } from '../../../support/pod-gangs.ts';
import { policy } from '../../../support/policy.ts';
import { validatePodGang } from '../../../support/reviews.ts';
import { recordedSync } from '../../../support/sync-context.ts';
import { HOST, kaiCluster, LEVELS, OURS, RACK, readyKai, topology, ZONE } from './kai-cluster.ts';
import { webhookFaults } from './webhook-rules.ts';

const pack = (packConstraint: JsonObject): JsonObject => ({ topologyConstraint: { packConstraint } });
const faultsOf = (parts: PodGangParts, config: JsonObject = { queue: 'q' }): string[] =>
  made(kai, config, LEVELS)
    .validatePodGang(gangOf(parts))
    .faults.map(({ field, message }) => `${field}: ${message.slice(0, message.indexOf(');') + 1)}`);

describe('its configuration', () => {
  test.each<[JsonObject, readonly string[] | undefined, string]>([
    [
      { queu: 'a' },
      undefined,
      'config.queu: unknown key (did you mean "queue"?); keys: schedulerName, queue, requireExternalPodGroups, topologyName',
    ],
    [
      { queue: 'a b' },
      undefined,
      'config.queue: must be the name of a Queue, at most 63 characters, not "a b"',
    ],
    [
      { topologyName: 'DC' },
      undefined,
      'config.topologyName: must be a lower-case DNS name of at most 253 characters, not "DC"',
    ],
    [
      { topologyName: 'dc' },
      [HOST, ZONE],
      `topologyAwareScheduling.levels[0].key: KAI allows ${HOST} only as the last level; move it, or leave config.topologyName out and keep the Topology yourself`,
    ],
    [
      { topologyName: 'dc' },
      [],
      'topologyAwareScheduling.levels: a KAI Topology has 1 to 16 levels, not 0; correct them, or leave config.topologyName out and keep the Topology yourself',
    ],
  ])('%j with levels %j is refused', (config, levels, message) => {
    expect(() => made(kai, config, levels)).toThrow(message);
  });

  test('levels that no Topology can have are none of its business where it keeps none', () => {
    expect(made(kai, {}, [HOST, ZONE]).schedulerName).toBe('kai-scheduler');
    expect(made(kai, { topologyName: 'dc' }).schedulerName).toBe('kai-scheduler');
    expect(made(kai, { schedulerName: 'kai-blue' }).schedulerName).toBe('kai-blue');
  });
});

test('that topology is switched off is told, and no constraint is passed on', () => {
  const gang = gangOf({ spec: pack({ required: RACK }) });
  expect(made(kai, { queue: 'q' }).validatePodGang(gang).warnings).toEqual([
    'kai-scheduler is told no topology constraints: topologyAwareScheduling is not enabled',
  ]);
  expect(made(kai, { queue: 'q' }).validatePodGang(gangOf({})).warnings).toEqual([]);
});

describe('what it refuses', () => {
  test.each<[string, PodGangParts, string]>([
    [
      'an annotation that names no queue',
      { annotations: { 'kai.scheduler/queue': 'a b' } },
      'metadata.annotations[kai.scheduler/queue]: Unsupported value: "a b": the scheduler of this gang cannot do this (it is not the name of a KAI Queue)',
    ],
    [
      'preemptibility that KAI does not know',
      { labels: { 'kai.scheduler/preemptibility': 'never' } },
      'metadata.labels[kai.scheduler/preemptibility]: Unsupported value: "never": the scheduler of this gang cannot do this (KAI knows preemptible and non-preemptible)',
    ],
    [
      'a Topology that has no name',
      { spec: pack({ required: ZONE }) },
      `spec.topologyConstraint.packConstraint.required: Unsupported value: the scheduler of this gang cannot do this (no KAI Topology is named: set the annotation grove.io/topology-name, or config.topologyName)`,
    ],
    [
      'a name that no Topology has',
      { annotations: { 'kai.scheduler/topology': 'A' }, spec: pack({ required: ZONE }) },
      'metadata.annotations[kai.scheduler/topology]: Unsupported value: "A": the scheduler of this gang cannot do this (it is not the name of a KAI Topology)',
    ],
  ])('%s', (_what, parts, text) => {
    expect(faultsOf(parts)).toEqual([text]);
  });

  test('nothing of these where all is well', () => {
    const labels = { 'kai.scheduler/preemptibility': 'non-preemptible', 'kai.scheduler/queue': 'q' };
    expect(faultsOf({ labels, spec: pack({ required: ZONE }) }, { topologyName: 'dc' })).toEqual([]);
  });
});

describe('what it warns of', () => {
  const warned = async (parts: PodGangParts, topologies: readonly JsonObject[] | undefined) => {
    const cluster =
      topologies === undefined
        ? { ...kaiCluster('0.17'), read: () => Promise.resolve(undefined) }
        : kaiCluster('0.17', topologies);
    return (await readyKai(cluster, { queue: 'q', topologyName: 'dc' })).validatePodGang(gangOf(parts))
      .warnings;
  };
  const spec = pack({ required: RACK });

  test('a level that the Topology lacks, which KAI would not name', async () => {
    expect(await warned({ spec }, [topology('dc', [ZONE])])).toEqual([
      `spec.topologyConstraint.packConstraint.required: Topology dc has no level ${RACK} (${ZONE}): the gang is never placed`,
    ]);
    expect(await warned({ spec }, [topology('dc', [ZONE, RACK])])).toEqual([]);
    expect(await warned({ spec }, [])).toEqual([
      'KAI had no Topology dc when Muster last looked: the gang waits for it',
    ]);
    expect(await warned({ spec }, undefined)).toEqual([
      'KAI serves no Topology here: the topology constraints keep the gang waiting',
    ]);
    expect(await warned({}, [])).toEqual([]);
  });

  test('a queue that no Queue can be called', () => {
    const warned = (queue: string): readonly string[] =>
      made(kai).validatePodGang(gangOf({ labels: { 'kai.scheduler/queue': queue } })).warnings;
    expect(warned('A_b')).toEqual([
      'no KAI Queue can be called A_b: a Queue has a lower-case DNS name; the gang waits until it is given another',
    ]);
    expect(warned('a-b')).toEqual([]);
  });

  test('another queue, whichever way it is named, also in a change of labels alone', () => {
    const at = (queue: string) =>
      podGang({ labels: { 'grove.io/scheduler-name': 'kai-scheduler', 'kai.scheduler/queue': queue } });
    const change = (from: string, to: string) =>
      validatePodGang({ oldObject: at(from), object: at(to) }, policy({ enabled: ['kai-scheduler'] }));
    expect(change('a', 'b')).toMatchObject({
      faults: [],
      warnings: [
        'kai-scheduler: the queue goes from a to b only if no Pod of the gang is bound; a gang that has started stays in a',
      ],
    });
    expect(change('a', 'a').warnings).toEqual([]);
    // The configured queue, by name.
    expect(change('', 'research').warnings).toEqual([]);
  });
});

describe('its PodGroup', () => {
  const pod = (nodeName: string) => ({ name: 'p', group: 'worker', gates: [], nodeName });
  const live = { metadata: { name: 'ml.train' }, spec: { queue: 'old' } };
  const other = { metadata: { name: 'ml.other' }, spec: { queue: 'x' } };
  const sync = async (
    config: JsonObject,
    parts: PodGangParts,
    nodeNames: readonly string[],
    found: Json = live,
  ) => {
    const recorded = recordedSync({ pods: nodeNames.map(pod), owned: () => [other, found as JsonObject] });
    await made(kai, config).syncPodGang(recorded.context, gangOf(parts));
    return recorded;
  };

  test('has a name that carries its namespace', async () => {
    const { applied } = await sync({ queue: 'new' }, {}, []);
    expect(applied.map(({ name, resource }) => [name, resource.plural])).toEqual([['ml.train', 'podgroups']]);
  });

  test('moves to another queue while nothing is bound, and stays with a word to its owner after', async () => {
    const waiting = await sync({ queue: 'new' }, {}, ['', '']);
    expect(waiting.applied[0]).toMatchObject({ spec: { queue: 'new' }, writtenOnce: [] });
    expect(waiting.warnings).toEqual([]);
    const started = await sync({ queue: 'new' }, {}, ['node-1', '']);
    expect(started.applied[0]).toMatchObject({ spec: { queue: 'new' }, writtenOnce: ['queue'] });
    expect(started.warnings).toEqual([
      'kai-scheduler: the gang stays in queue old, 1 of its Pods are bound; to move it to new delete the gang and create it again',
    ]);
    expect((await sync({ queue: 'old' }, {}, ['node-1'])).warnings).toEqual([]);
  });

  test('its label of the queue moves with the queue, unless somebody has put it out of step', async () => {
    const labelled = (label: string) => ({
      metadata: { name: 'ml.train', labels: { 'kai.scheduler/queue': label } },
      spec: { queue: 'old' },
    });
    const labelsOf = async (label: string, nodeNames: readonly string[]) => {
      const parts = { labels: { 'kai.scheduler/queue': 'new' } };
      const { applied } = await sync({}, parts, nodeNames, labelled(label));
      return applied[0]?.labels;
    };
    expect(await labelsOf('old', [''])).toEqual({ 'kai.scheduler/queue': 'new' });
    expect(await labelsOf('theirs', [''])).toEqual({ 'kai.scheduler/queue': 'theirs' });
    expect(await labelsOf('old', ['node-1'])).toEqual({ 'kai.scheduler/queue': 'old' });
  });

  test('keeps its queue where nobody names one any more', async () => {
    const { applied } = await sync({}, {}, []);
    expect(applied[0]).toMatchObject({ spec: { queue: 'old' } });
  });

  test('carries preemptibility, and constraints only where topology-aware scheduling is on', async () => {
    const parts: PodGangParts = {
      labels: { 'kai.scheduler/preemptibility': 'preemptible', 'kai.scheduler/node-pool': 'gpu' },
      annotations: { 'grove.io/topology-name': 'dc' },
      spec: pack({ required: ZONE }),
    };
    const { applied } = await sync({ queue: 'q' }, parts, [], { metadata: {} });
    expect(applied[0]).toMatchObject({
      labels: { 'kai.scheduler/node-pool': 'gpu' },
      spec: { preemptibility: 'preemptible' },
    });
    expect(applied[0]?.spec).not.toHaveProperty('topologyConstraint');
    const { context, applied: on } = recordedSync();
    await made(kai, { queue: 'q', topologyName: 'mine' }, LEVELS).syncPodGang(
      context,
      gangOf({ spec: pack({ required: ZONE }) }),
    );
    expect(on[0]?.spec['topologyConstraint']).toEqual({ topology: 'mine', requiredTopologyLevel: ZONE });
  });

  test("Grove's gangs keep their constraints whatever the configuration, and say why where they cannot be", async () => {
    const labels = { 'app.kubernetes.io/managed-by': 'grove-operator' };
    const given = { labels, annotations: { 'grove.io/topology-name': 'dc' }, spec: pack({ required: ZONE }) };
    const { applied } = await sync({ queue: 'q' }, given, []);
    expect(applied[0]?.spec['topologyConstraint']).toMatchObject({ topology: 'dc' });
    await expect(sync({ queue: 'q' }, { labels, spec: pack({ required: ZONE }) }, [])).rejects.toThrow(
      /^spec\.topologyConstraint\.packConstraint\.required: .*no KAI Topology is named/,
    );
  });

  test('is let go all at once: KAI counts each sub-group by itself', () => {
    expect(made(kai).releaseOrder?.(gangOf())).toBe('all-at-once');
  });

  test('has nothing that KAI would refuse, whatever gang admission lets in', async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const level = fc.option(fc.constantFrom(...LEVELS), { nil: '' });
    const constraint = fc.record({ required: level, preferred: level }).map(pack);
    const anyGang = fc
      .record({
        groups: fc.uniqueArray(fc.tuple(name, fc.integer({ min: 0, max: 3 }), constraint), {
          selector: ([it]) => it,
          minLength: 1,
        }),
        configs: fc.array(fc.tuple(fc.constantFrom('a', 'x', 'y'), fc.uniqueArray(name), constraint), {
          maxLength: 2,
        }),
      })
      .map(({ groups, configs }) =>
        podGang({
          labels: { 'grove.io/scheduler-name': 'kai-scheduler' },
          annotations: { 'grove.io/topology-name': 'dc' },
          groups: groups.map(([its, minReplicas, rest]) => ({
            name: its,
            minReplicas,
            podReferences: [],
            ...rest,
          })),
          spec: {
            topologyConstraintGroupConfigs: configs.map(([its, podGroupNames, rest]) => ({
              name: its,
              podGroupNames,
              ...rest,
            })),
          },
        }),
      );
    const under = policy({ enabled: ['kai-scheduler'], levels: LEVELS });
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(anyGang, async (object) => {
        if (validatePodGang({ object }, under).faults.length > 0) return;
        accepted += 1;
        const { context, applied } = recordedSync();
        await made(kai, { queue: 'q' }, LEVELS).syncPodGang(context, parsePodGang(object, 'ml').gang);
        const spec = applied[0]?.spec ?? {};
        expect(webhookFaults(spec)).toEqual([]);
        // Every parent waits for all of its children.
        for (const one of spec['subGroups'] as { name: string; minSubGroup?: number }[]) {
          const children = (spec['subGroups'] as { parent?: string }[]).filter(
            ({ parent }) => parent === one.name,
          );
          expect(one.minSubGroup ?? 0).toBe(children.length);
        }
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});

describe('its Topology', () => {
  const keep = async (
    topologies: readonly JsonObject[],
    config: JsonObject = { topologyName: 'dc' },
    levels = LEVELS,
  ) => {
    const recorded = recordedSync();
    const backend = await readyKai(kaiCluster('0.17', topologies), config, levels);
    await backend.syncCluster?.(recorded.context);
    return { applied: recorded.applied.map(({ name, spec }) => ({ name, spec })), removed: recorded.removed };
  };
  const wanted = { name: 'dc', spec: { levels: LEVELS.map((nodeLabel) => ({ nodeLabel })) } };

  test('is made, left alone where it is right, and made anew where its levels were others', async () => {
    expect(await keep([])).toEqual({ applied: [wanted], removed: [] });
    expect(await keep([topology('dc', LEVELS, OURS)])).toEqual({ applied: [wanted], removed: [] });
    expect(await keep([topology('dc', [ZONE], OURS)])).toEqual({
      applied: [wanted],
      removed: [{ plural: 'topologies', name: 'dc' }],
    });
  });

  test("somebody else's is never touched", async () => {
    expect(await keep([topology('dc', LEVELS)])).toEqual({ applied: [], removed: [] });
    await expect(keep([topology('dc', [ZONE])])).rejects.toThrow("Topology dc is not Muster's");
  });

  test('is not kept where nobody asks', async () => {
    expect(await keep([], {})).toEqual({ applied: [], removed: [] });
    const recorded = recordedSync();
    const off = made(kai, { topologyName: 'dc' });
    await off.init({ cluster: kaiCluster('0.17'), signal: recorded.context.signal });
    await off.syncCluster?.(recorded.context);
    expect(recorded.applied).toEqual([]);
  });
});

describe('what KAI says', () => {
  const at = (...schedulingConditions: Json[]): JsonObject => ({
    kind: 'PodGroup',
    status: { schedulingConditions },
  });
  const condition = (parts: JsonObject): JsonObject => ({
    type: 'UnschedulableOnNodePool',
    status: 'True',
    reason: 'Unschedulable',
    nodePool: 'default',
    transitionID: '1',
    ...parts,
  });

  test.each<[string, JsonObject[], string | undefined]>([
    ['nothing while Pods are missing, and once it is bound', [{ kind: 'PodGroup' }, at()], undefined],
    [
      'a reason and its message',
      [
        at(
          condition({
            message: 'm',
            reasons: [{ reason: 'QueueDoesNotExist', message: "Queue 'nope' does not exist" }],
          }),
        ),
      ],
      "QueueDoesNotExist: Queue 'nope' does not exist",
    ],
    [
      'several reasons, once each, on one line',
      [
        at(
          condition({
            reasons: [
              {
                reason: 'PodSchedulingErrors',
                message: 'Resources were found for 2 pods\nwhile 3 are required',
              },
              {
                reason: 'PodSchedulingErrors',
                message: 'Resources were found for 2 pods\nwhile 3 are required',
              },
              { reason: 'OverLimit', message: 'OverLimit: q' },
              { reason: 'Not enough resources for the workload' },
            ],
          }),
        ),
      ],
      'PodSchedulingErrors: Resources were found for 2 pods while 3 are required; OverLimit: q; Not enough resources for the workload',
    ],
    [
      'a message alone, with a hint where it says nothing',
      [at(condition({ message: 'Unable to schedule podgroup' }))],
      'Unable to schedule podgroup (KAI gives no reason; look whether the queue has child queues, and whether its Topology has the levels)',
    ],
    [
      'the newest',
      [
        at(
          condition({ transitionID: '10', message: 'new' }),
          condition({ transitionID: '9', message: 'old' }),
        ),
      ],
      'new',
    ],
    [
      'the clock of its eviction, before its words',
      [
        {
          ...at(condition({ message: 'Not enough\nresources' })),
          metadata: { annotations: { 'kai.scheduler/stale-podgroup-timestamp': '2026-06-01T12:00:00Z' } },
        },
      ],
      'below a minimum since 2026-06-01T12:00:00Z: KAI evicts the whole gang after its staleness grace period (60 s unless it is told otherwise); Not enough resources',
    ],
    [
      'a word on a Pod that says nothing either',
      [at(condition({ message: 'Unable to schedule pod' }))],
      'Unable to schedule pod (KAI gives no reason; look whether the queue has child queues, and whether its Topology has the levels)',
    ],
    ['nothing where it is over', [at(condition({ status: 'False', message: 'old' }))], undefined],
    ['nothing of what is no PodGroup', [{ ...at(condition({ message: 'm' })), kind: 'Topology' }], undefined],
  ])('%s', (_what, objects, line) => {
    expect(explainKai(objects)).toBe(line);
    expect(made(kai).explain?.(objects)).toBe(line);
  });
});

import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../../src/json/json.ts';
import { kai } from '../../../../src/backends/kai/backend.ts';
import { gangOf, made } from '../../../support/made-backend.ts';
import { group, podGang, type PodGangParts } from '../../../support/pod-gangs.ts';
import { gangPod } from '../../../support/pods.ts';
import { policy } from '../../../support/policy.ts';
import { mutatePod, operationsOf, rulesOf, textsOf, validatePodGang } from '../../../support/reviews.ts';
import { patched } from '../../../support/rfc6902.ts';
import { recordedSync } from '../../../support/sync-context.ts';
import { webhookFaults } from './webhook-rules.ts';

const LEVELS = ['zone', 'rack', 'host', 'node'];
const pack = (packConstraint: JsonObject): Json => ({ packConstraint });
const config = (name: string, podGroupNames: string[], constraint?: JsonObject): Json => ({
  name,
  podGroupNames,
  ...(constraint && { topologyConstraint: pack(constraint) }),
});
const groupOf = (name: string, minReplicas: number, constraint?: JsonObject): Json =>
  group(name, { minReplicas, ...(constraint && { topologyConstraint: pack(constraint) }) });

/** The spec of the PodGroup that the backend asks for, or what it throws. */
async function specOf(parts: PodGangParts, settings: JsonObject = { queue: 'main' }): Promise<JsonObject> {
  const { context, applied } = recordedSync();
  await made(kai, settings, LEVELS).syncPodGang(context, gangOf(parts));
  expect(applied).toHaveLength(1);
  return applied[0]?.spec ?? {};
}
const subGroupsOf = async (parts: PodGangParts): Promise<Json | undefined> =>
  (await specOf(parts))['subGroups'];

const admitted = (parts: PodGangParts, settings?: JsonObject) =>
  validatePodGang(
    {
      object: podGang({ ...parts, labels: { 'grove.io/scheduler-name': 'kai-scheduler', ...parts.labels } }),
    },
    policy({ levels: LEVELS, enabled: ['kai-scheduler'], ...(settings && { config: settings }) }),
  );

const preparedPod = (object: JsonObject): JsonObject =>
  patched(object, operationsOf(mutatePod({ object }, policy({ fallback: 'kai-scheduler' }))));

const decoder: PodGangParts = {
  annotations: { 'grove.io/topology-name': 'cluster-topology' },
  labels: { 'kai.scheduler/queue': 'team-a' },
  groups: [groupOf('encoder', 2, { required: 'host' }), groupOf('decoder', 3)],
  spec: {
    priorityClassName: 'high-priority',
    topologyConstraint: pack({ required: 'zone' }),
    topologyConstraintGroupConfigs: [config('decoder-group', ['decoder'], { preferred: 'rack' })],
  },
};
const on = (constraint: JsonObject): Json => ({ topology: 'cluster-topology', ...constraint });

const missingQueue = 'no KAI queue is configured';

/**
 * What KAI's and Grove's own tests assert, and what was seen of a live KAI. Where they speak of a PodCliqueSet, Muster
 * has only the PodGang: it is the place of its label and annotation.
 */
const vectors: Readonly<Record<number, { says: string; check: () => void | Promise<void> }>> = {
  1: {
    says: 'groups, a parent, constraints at three places, queue and class; then a larger group',
    check: async () => {
      const expected = {
        minMember: 5,
        queue: 'team-a',
        priorityClassName: 'high-priority',
        topologyConstraint: on({ requiredTopologyLevel: 'zone' }),
        subGroups: [
          {
            name: 'decoder-group',
            minSubGroup: 1,
            topologyConstraint: on({ preferredTopologyLevel: 'rack' }),
          },
          { name: 'encoder', minMember: 2, topologyConstraint: on({ requiredTopologyLevel: 'host' }) },
          { name: 'decoder', minMember: 3, parent: 'decoder-group' },
        ],
      };
      expect(await specOf(decoder)).toEqual(expected);
      const groups = [groupOf('encoder', 4, { required: 'host' }), groupOf('decoder', 3)];
      const [parent, encoder, leaf] = expected.subGroups;
      expect(await specOf({ ...decoder, groups })).toEqual({
        ...expected,
        minMember: 7,
        subGroups: [parent, { ...encoder, minMember: 4 }, leaf],
      });
    },
  },
  2: {
    says: 'a configuration without groups is no parent',
    check: async () => {
      const parts = {
        annotations: { 'grove.io/topology-name': 't' },
        groups: [groupOf('worker', 1)],
        spec: { topologyConstraintGroupConfigs: [config('empty-group', [], { required: 'host' })] },
      };
      expect(await subGroupsOf(parts)).toEqual([{ name: 'worker', minMember: 1 }]);
    },
  },
  3: {
    says: 'three groups in their order. The queue of a Pod is not looked at: the gang names it',
    check: async () => {
      const spec = await specOf({
        labels: { 'kai.scheduler/queue': 'test_queue' },
        groups: [groupOf('pga', 4), groupOf('pgb', 3), groupOf('pgc', 5)],
        spec: { priorityClassName: 'inference' },
      });
      expect(spec).toEqual({
        minMember: 12,
        queue: 'test_queue',
        priorityClassName: 'inference',
        subGroups: [
          { name: 'pga', minMember: 4 },
          { name: 'pgb', minMember: 3 },
          { name: 'pgc', minMember: 5 },
        ],
      });
    },
  },
  4: {
    says: 'required and preferred at every place; an empty level is none',
    check: async () => {
      const its = (preferred?: string, required?: string): Json => ({
        topology: 'test-topology',
        ...(required && { requiredTopologyLevel: required }),
        ...(preferred && { preferredTopologyLevel: preferred }),
      });
      const spec = await specOf({
        annotations: { 'grove.io/topology-name': 'test-topology' },
        groups: [
          groupOf('pg1', 2, { preferred: 'node', required: '' }),
          groupOf('pg2', 3, { preferred: '', required: 'node' }),
        ],
        spec: {
          topologyConstraint: pack({ preferred: 'rack', required: 'zone' }),
          topologyConstraintGroupConfigs: [
            config('group1', ['pg1', 'pg2'], { preferred: 'node', required: 'rack' }),
          ],
        },
      });
      expect(spec).toEqual({
        minMember: 5,
        queue: 'main',
        topologyConstraint: its('rack', 'zone'),
        subGroups: [
          { name: 'group1', minSubGroup: 2, topologyConstraint: its('node', 'rack') },
          { name: 'pg1', minMember: 2, parent: 'group1', topologyConstraint: its('node') },
          { name: 'pg2', minMember: 3, parent: 'group1', topologyConstraint: its(undefined, 'node') },
        ],
      });
    },
  },
  5: {
    says: 'parents come first, whatever the order of their groups',
    check: async () => {
      const parts = {
        groups: [groupOf('pg1', 1), groupOf('pg2', 2), groupOf('pg3', 3)],
        spec: {
          topologyConstraintGroupConfigs: [config('group1', ['pg1', 'pg2']), config('group2', ['pg3'])],
        },
      };
      expect(await subGroupsOf(parts)).toEqual([
        { name: 'group1', minSubGroup: 2 },
        { name: 'group2', minSubGroup: 1 },
        { name: 'pg1', minMember: 1, parent: 'group1' },
        { name: 'pg2', minMember: 2, parent: 'group1' },
        { name: 'pg3', minMember: 3, parent: 'group2' },
      ]);
    },
  },
  6: {
    says: 'a group that no configuration names has no parent',
    check: async () => {
      const parts = {
        groups: [groupOf('pg1', 2), groupOf('pg2', 3)],
        spec: { topologyConstraintGroupConfigs: [config('group1', ['pg1'])] },
      };
      expect(await subGroupsOf(parts)).toEqual([
        { name: 'group1', minSubGroup: 1 },
        { name: 'pg1', minMember: 2, parent: 'group1' },
        { name: 'pg2', minMember: 3 },
      ]);
    },
  },
  7: {
    says: 'a configuration that names an unknown group would wait for ever: it is refused, and so is a second owner',
    check: () => {
      const faulty = (...configs: Json[]) =>
        rulesOf(
          admitted({
            groups: [groupOf('pg1', 1), groupOf('pg2', 1)],
            spec: { topologyConstraintGroupConfigs: configs },
          }),
        );
      expect(faulty(config('group1', ['pg1', 'pg9']))).toEqual(['GroupConfigUnknownGroup']);
      expect(faulty(config('group1', ['pg9']))).toEqual(['GroupConfigUnknownGroup']);
      expect(faulty(config('a', ['pg1']), config('b', ['pg1']))).toEqual(['GroupConfigOverlap']);
      expect(faulty(config('pg2', ['pg1']))).toEqual(['BackendCannotExpress']);
      expect(faulty(config('a', ['pg1']), config('b', ['pg2']))).toEqual([]);
    },
  },
  8: {
    says: "Grove's annotation goes before KAI's; none with a constraint is refused; none without does nothing",
    check: async () => {
      const spec = { topologyConstraint: pack({ preferred: 'rack', required: 'zone' }) };
      const both = { 'grove.io/topology-name': 'spec-topology', 'kai.scheduler/topology': 'anno-topology' };
      const constraint = { requiredTopologyLevel: 'zone', preferredTopologyLevel: 'rack' };
      expect((await specOf({ annotations: both, spec }))['topologyConstraint']).toEqual({
        topology: 'spec-topology',
        ...constraint,
      });
      const annotations = { 'kai.scheduler/topology': 'anno-topology' };
      expect((await specOf({ annotations, spec }))['topologyConstraint']).toEqual({
        topology: 'anno-topology',
        ...constraint,
      });
      const [text] = textsOf(admitted({ spec }));
      expect(text).toContain('no KAI Topology is named');
      await expect(specOf({ spec })).rejects.toThrow('no KAI Topology is named');
      const bare = await specOf({ annotations: both });
      expect(bare).not.toHaveProperty('topologyConstraint');
      expect(JSON.stringify(bare)).not.toContain('topology');
    },
  },
  9: {
    says: 'Pods of another namespace are not referred to',
    check: () => {
      const groups = [group('worker', { podReferences: [{ namespace: 'other', name: 'victim' }] })];
      expect(rulesOf(admitted({ groups }))).toEqual(['ReferenceForeign']);
    },
  },
  10: {
    says: 'a Pod gets its scheduler, PodGroup and sub-group; what it had of these goes, the rest stays',
    check: () => {
      for (const annotations of [
        { keep: 'me' },
        { keep: 'me', 'kai.scheduler/skip-podgrouper': 'custom', 'pod-group-name': 'other.gang' },
      ]) {
        const labels = { 'grove.io/podgang': 'test-podgang', 'grove.io/podclique': 'test-clique' };
        const stored = preparedPod(
          gangPod({ labels, annotations, spec: { schedulerName: 'default-scheduler' } }),
        );
        expect(stored['spec']).toMatchObject({ schedulerName: 'kai-scheduler' });
        expect(stored['metadata']).toMatchObject({
          labels: { ...labels, 'kai.scheduler/subgroup-name': 'test-clique' },
          annotations: {
            keep: 'me',
            'kai.scheduler/skip-podgrouper': 'true',
            'pod-group-name': 'ml.test-podgang',
            'kai.scheduler/podgang': 'test-podgang',
            'kai.scheduler/podgroup': 'test-clique',
          },
        });
      }
    },
  },
  11: {
    says: 'the queue: label, annotation, configuration; none is refused and makes no PodGroup. There are no templates that could differ',
    check: async () => {
      const key = 'kai.scheduler/queue';
      const cases: [PodGangParts, JsonObject, string][] = [
        [{ labels: { [key]: 'a' }, annotations: { [key]: 'b' } }, { queue: 'c' }, 'a'],
        [{ annotations: { [key]: 'b' } }, { queue: 'c' }, 'b'],
        [{ labels: { [key]: '' }, annotations: { [key]: 'b' } }, {}, 'b'],
        [{}, { queue: 'c' }, 'c'],
      ];
      for (const [parts, settings, queue] of cases) {
        expect(textsOf(admitted(parts, settings))).toEqual([]);
        expect((await specOf(parts, settings))['queue']).toBe(queue);
      }
      expect(textsOf(admitted({}, {}))).toEqual([
        `metadata.labels[kai.scheduler/queue]: Unsupported value: the scheduler of this gang cannot do this (${missingQueue}: set this label, or config.queue of the profile kai-scheduler); change it, or choose another backend with the label grove.io/scheduler-name [BackendCannotExpress]`,
      ]);
      const { context, applied } = recordedSync();
      await expect(made(kai).syncPodGang(context, gangOf())).rejects.toThrow(missingQueue);
      expect(applied).toEqual([]);
    },
  },
  12: {
    says: 'what KAI and others put on a PodGroup is not named, so it stays; what it has of ours is named as it is',
    check: async () => {
      const live = {
        metadata: {
          name: 'ml.train',
          labels: { 'kai.scheduler/node-pool': 'gpu', foreign: 'x', team: 'old' },
          annotations: { 'kai.scheduler/last-start-timestamp': 'then', note: 'x' },
        },
        spec: { queue: 'main', markUnschedulable: true, schedulingBackoff: 1 },
      };
      const { context, applied } = recordedSync({ owned: () => [live] });
      const gang = gangOf({
        labels: { team: 'new', 'kai.scheduler/node-pool': 'cpu', 'app.kubernetes.io/managed-by': 'me' },
        annotations: {
          'kai.scheduler/stale-podgroup-timestamp': 'copied',
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          purpose: 'y',
        },
      });
      await made(kai, { queue: 'main' }).syncPodGang(context, gang);
      expect(applied[0]).toMatchObject({
        labels: { team: 'new', 'kai.scheduler/node-pool': 'gpu' },
        annotations: { purpose: 'y' },
      });
      expect(Object.keys(applied[0]?.labels ?? {})).toEqual(['team', 'kai.scheduler/node-pool']);
      expect(Object.keys(applied[0]?.annotations ?? {})).toEqual(['purpose']);
      expect(Object.keys(applied[0]?.spec ?? {})).toEqual(['queue', 'minMember', 'subGroups']);
    },
  },
  13: {
    says: "KAI's webhook has nothing to say of any PodGroup above (its rules, as its tests state them)",
    check: async () => {
      const a = { name: 'a' };
      const child = { name: 'b', parent: 'a', minMember: 1 };
      const leaves = ['a', 'b', 'c', 'd'].map((name) => ({ name, minMember: 1 }));
      const said: [JsonObject, RegExp | undefined][] = [
        [{ subGroups: [a] }, /^subgroup a: minMember is required$/],
        [{ subGroups: [a, child] }, undefined],
        [{ subGroups: [{ ...a, minMember: 2 }, child] }, /minMember cannot be set on a mid-level/],
        [
          { minMember: 24, minSubGroup: 3, subGroups: leaves },
          /^minMember and minSubGroup are mutually exclusive/,
        ],
        [{ minSubGroup: 5, subGroups: leaves }, /\(5\) exceeds .*\(4\)/],
        [{ minSubGroup: 0, subGroups: leaves }, undefined],
        [{ minSubGroup: 1, subGroups: [] }, /\(1\) exceeds .*\(0\)/],
        [
          {
            subGroups: [
              { ...a, minMember: 1 },
              { ...a, minMember: 1 },
            ],
          },
          /^duplicate subgroup name a$/,
        ],
        [{ subGroups: [child] }, /^parent a of b was not found$/],
        [{ subGroups: [{ name: 'b', parent: 'b', minMember: 1 }] }, /^cycle detected/],
        [{ subGroups: [{ name: 'a', minMember: 1, minSubGroup: 1 }] }, /minSubGroup cannot be set on a leaf/],
      ];
      for (const [spec, expected] of said) {
        const faults = webhookFaults(spec);
        if (expected === undefined) expect(faults).toEqual([]);
        else expect(faults[0]).toMatch(expected);
      }
      expect(webhookFaults(await specOf(decoder))).toEqual([]);
    },
  },
  14: {
    says: 'the podgrouper heeds only the very text "true", so no other stays. Owners are not looked at: the Pod itself has it',
    check: () => {
      for (const value of ['false', 'True', '']) {
        const stored = preparedPod(gangPod({ annotations: { 'kai.scheduler/skip-podgrouper': value } }));
        expect(stored['metadata']).toMatchObject({
          annotations: { 'kai.scheduler/skip-podgrouper': 'true' },
        });
      }
    },
  },
};

describe("the vectors of KAI and of Grove's KAI backend", () => {
  test('are all here', () => {
    expect(Object.keys(vectors).map(Number)).toEqual(Array.from({ length: 14 }, (_, index) => index + 1));
  });

  test.each(Object.entries(vectors).map(([number, { says, check }]) => [number, says, check] as const))(
    '%s: %s',
    (_number, _says, check) => check(),
  );
});

/** Those of Grove's own table that are of KAI, by what they are here. 4–7 and 15–24 are of other backends, or of none. */
const groveVectors: Readonly<Record<number, number | (() => void)>> = {
  1: 10,
  2: 10,
  3: () => {
    const labels = { 'grove.io/podclique': '' };
    const bare = mutatePod({ object: gangPod({ labels }) }, policy({ fallback: 'kai-scheduler' }));
    expect(rulesOf(bare)).toEqual(['GroupLabelRequired']);
    expect(bare.changes).toEqual([]);
  },
  8: 1,
  9: 1,
  10: 2,
  11: 11,
  12: 12,
  13: 11,
  // A template that names another queue than its set: there is only the PodGang, and its label goes first.
  14: 11,
};

describe("Grove's vectors of KAI", () => {
  test.each(Object.entries(groveVectors))('%s', async (_number, which) => {
    if (typeof which === 'function') which();
    else await vectors[which]?.check();
  });
});

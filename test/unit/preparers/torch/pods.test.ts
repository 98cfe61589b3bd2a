/** Pods of a PyTorch program that runs on its whole gang: what each is told, and that no Pod is told something else. */
import fc from 'fast-check';
import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../../src/json/json.ts';
import type { Policy } from '../../../../src/admission/policy.ts';
import { expectSettled, hpcGang, hpcPod, specOf, underHpc } from '../../../support/hpc-gangs.ts';
import { searchLength } from '../../../support/length.ts';
import { group, podGang } from '../../../support/pod-gangs.ts';
import { gangPod } from '../../../support/pods.ts';
import { mutatePod, rulesOf, validatePod, validatePodGang } from '../../../support/reviews.ts';
import { preparedBy } from '../../api/rule-examples-hpc-pods.ts';

const underTorch = (torch: Json = {}, gang: JsonObject = hpcGang()): Policy =>
  underHpc({}, { gang, spec: { torch } });
const envOf = (object: JsonObject, index = 0): Record<string, Json | undefined> =>
  Object.fromEntries(
    ((specOf(object).containers[index]?.['env'] ?? []) as { name: string; value?: Json }[]).map((one) => [
      one.name,
      one.value,
    ]),
  );

describe('a Pod of PyTorch', () => {
  test('is told who it is and where the first one is, in this order, and else is what it was', () => {
    const given = hpcPod({ spec: { hostname: 'worker-2' } }, { env: [{ name: 'DATA', value: '/data' }] });
    const stored = preparedBy(given, underTorch({ procPerNode: 8 }));
    expect(stored).toMatchObject({
      metadata: { annotations: { 'muster.dev/prepared': expect.stringMatching(/^flux@[0-9a-f]{8}$/) } },
    });
    const { hostname, subdomain, containers, ...rest } = specOf(stored);
    expect([hostname, subdomain]).toEqual(['worker-2', 'train']);
    expect(containers).toEqual([
      {
        ...specOf(given).containers[0],
        env: [
          { name: 'DATA', value: '/data' },
          { name: 'MASTER_ADDR', value: 'worker-0.train' },
          { name: 'MASTER_PORT', value: '29500' },
          { name: 'WORLD_SIZE', value: '32' },
          { name: 'RANK', value: '2' },
          { name: 'PET_NNODES', value: '4' },
          { name: 'PET_NPROC_PER_NODE', value: '8' },
          { name: 'PET_NODE_RANK', value: '2' },
          { name: 'PET_MASTER_ADDR', value: 'worker-0.train' },
          { name: 'PET_MASTER_PORT', value: '29500' },
        ],
      },
    ]);
    expect(rest).toMatchObject({ restartPolicy: 'Never' });
    expect(rest).not.toHaveProperty('volumes');
    expect(rest).not.toHaveProperty('affinity');
  });

  test.each<[string, string, string]>([
    ['master', 'master-0', '0'],
    ['worker', 'worker-0', '1'],
    ['worker', 'worker-2', '3'],
    ['late', 'late-1', '5'],
  ])('of group %s called %s has the rank %s', (podclique, hostname, rank) => {
    const gang = podGang({
      annotations: { 'muster.dev/hpc-policy': 'flux', 'muster.dev/expected-pods': 'late=2' },
      groups: [
        group('master', { minReplicas: 1 }),
        group('none', { minReplicas: 0 }),
        group('worker', { minReplicas: 3 }),
        group('late', { minReplicas: 0 }),
      ],
    });
    const object = hpcPod({ labels: { 'grove.io/podclique': podclique }, spec: { hostname } });
    expect(envOf(preparedBy(object, underTorch({}, gang)))).toMatchObject({
      MASTER_ADDR: 'master-0.train',
      WORLD_SIZE: '6',
      RANK: rank,
      PET_NNODES: '6',
      PET_NODE_RANK: rank,
    });
  });

  test.each<[string, Json, JsonObject, string]>([
    ['a number', 3, { limits: { 'nvidia.com/gpu': '8' } }, '3'],
    ['gpu', 'gpu', { limits: { 'amd.com/gpu': 2 } }, '2'],
    ['gpu, asked for by requests', 'gpu', { requests: { 'nvidia.com/gpu': '4' } }, '4'],
    ['auto, with GPUs', 'auto', { limits: { cpu: '16', 'nvidia.com/gpu': '8' } }, '8'],
    ['auto, without', 'auto', { limits: { cpu: '2500m', memory: '1Gi' }, requests: { cpu: 1 } }, '2'],
    ['auto, of nothing', 'auto', {}, '1'],
    ['cpu, whatever GPUs', 'cpu', { requests: { cpu: 4 }, limits: { 'nvidia.com/gpu': '8' } }, '4'],
    ['cpu, less than one', 'cpu', { limits: { cpu: '200m' } }, '1'],
    ['cpu, no amount', 'cpu', { limits: { cpu: 'many' } }, '1'],
  ])('runs as many processes as it says: %s', (_what, procPerNode, resources, count) => {
    const env = envOf(preparedBy(hpcPod({}, { resources }), underTorch({ procPerNode })));
    expect(env).toMatchObject({ PET_NPROC_PER_NODE: count, WORLD_SIZE: String(4 * Number(count)) });
  });

  test('is called by its group and number, where no DNS knows it by another name', () => {
    const named = gangPod({ metadata: { name: 'job-3' }, spec: specOf(hpcPod({ spec: { hostname: '' } })) });
    const stored = preparedBy(named, underTorch());
    expect(specOf(stored)).toMatchObject({ hostname: 'worker-3', subdomain: 'train' });
    expect(envOf(stored)).toMatchObject({ RANK: '3' });
    const own = preparedBy(hpcPod({ spec: { subdomain: 'job' } }), underTorch());
    expect(specOf(own)).toMatchObject({ hostname: 'worker-0', subdomain: 'job' });
    expect(envOf(own)).toMatchObject({ MASTER_ADDR: 'worker-0.job' });
  });

  test('with several containers has them in the one that is named, and in no other', () => {
    const containers = [{ name: 'mesh' }, { name: 'main', env: [] }];
    const stored = preparedBy(hpcPod({ spec: { containers } }), underTorch({ container: 'main' }));
    expect(envOf(stored, 0)).toEqual({});
    expect(Object.keys(envOf(stored, 1))).toHaveLength(9);
    const unnamed = mutatePod({ object: hpcPod({ spec: { containers } }) }, underTorch());
    expect(unnamed.faults[0]?.message).toContain('(the Pod has mesh, main)');
    const other = mutatePod({ object: hpcPod() }, underTorch({ container: 'trainer' }));
    expect(other.faults[0]?.message).toContain('(trainer is named, the Pod has main)');
  });

  test('to which another webhook added a container stays what it is', () => {
    const stored = preparedBy(hpcPod(), underTorch());
    const object = {
      ...stored,
      spec: { ...specOf(stored), containers: [{ name: 'mesh', image: 'm' }, ...specOf(stored).containers] },
    };
    expect(mutatePod({ object }, underTorch())).toMatchObject({ changes: [], faults: [] });
    expect(validatePod({ object }, underTorch()).faults).toEqual([]);
  });

  test('may run on the network of its node, where it knows the names of the cluster', () => {
    const spec = { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' };
    expect(envOf(preparedBy(hpcPod({ spec }), underTorch()))).toMatchObject({ RANK: '0' });
    expect(envOf(preparedBy(hpcPod({ spec: { dnsPolicy: 'None' } }), underTorch()))).toMatchObject({
      RANK: '0',
    });
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'a variable from elsewhere',
      hpcPod({}, { env: [{ name: 'RANK', valueFrom: {} }] }),
      ['TorchVariableTaken'],
    ],
    [
      'the variables of another operator',
      hpcPod(
        {},
        {
          env: [
            { name: 'RANK', value: '1' },
            { name: 'WORLD_SIZE', value: '4' },
            { name: 'PET_NNODES', value: '2' },
          ],
        },
      ),
      ['TorchVariableTaken', 'TorchVariableTaken'],
    ],
    ['the names of the node', hpcPod({ spec: { dnsPolicy: 'Default' } }), ['TorchDnsMissing']],
    ['another host name', hpcPod({ spec: { hostnameOverride: 'x' } }), ['HpcNetworkForbidden']],
    ['a number that nobody expects', hpcPod({ spec: { hostname: 'worker-4' } }), ['HpcHostUnlisted']],
    [
      'no number at all',
      hpcPod({ metadata: { name: undefined, generateName: 'x-' }, spec: { hostname: undefined } }),
      ['HpcHostRequired'],
    ],
    [
      'all at once',
      hpcPod({ spec: { dnsPolicy: 'Default', subdomain: '9a' } }, { env: [{ name: 'RANK', value: '7' }] }),
      ['HpcHostInvalid', 'TorchDnsMissing', 'TorchVariableTaken'],
    ],
  ])('is refused with %s', (_what, object, rules) => {
    expect(rulesOf(mutatePod({ object }, underTorch()))).toEqual(rules);
  });

  test('whose variable another webhook changes after Muster is refused', () => {
    const stored = preparedBy(hpcPod(), underTorch());
    const text = JSON.stringify(stored).replace('"WORLD_SIZE","value":"4"', '"WORLD_SIZE","value":"5"');
    const object = JSON.parse(text) as JsonObject;
    expect(rulesOf(validatePod({ object }, underTorch()))).toEqual(['TorchVariableTaken']);
    const env = (specOf(stored).containers[0]?.['env'] as Json[]).slice(1);
    const without = { ...stored, spec: { ...specOf(stored), containers: [{ name: 'main', env }] } };
    expect(rulesOf(validatePod({ object: without }, underTorch()))).toEqual(['HpcPodNotPrepared']);
  });
});

describe('a gang of PyTorch', () => {
  const gang = (expected: string, minReplicas = 4): JsonObject =>
    podGang({
      annotations: { 'muster.dev/hpc-policy': 'flux', 'muster.dev/expected-pods': expected },
      groups: [group('worker', { minReplicas })],
    });

  test('that opens for fewer Pods than PyTorch waits for is let in with a warning', () => {
    const { faults, warnings } = validatePodGang(
      { object: gang('worker=6') },
      underTorch({}, gang('worker=6')),
    );
    expect(faults).toEqual([]);
    expect(warnings).toContain(
      'the gang starts with 4 Pods, and PyTorch waits for all 6 that are expected: raise minReplicas to that',
    );
    expect(validatePodGang({ object: gang('worker=4') }, underTorch()).warnings.join()).not.toContain(
      'PyTorch',
    );
  });

  test.each<[string, JsonObject, string[]]>([
    ['expects Pods of no group', gang('wroker=5'), ['HpcExpectedInvalid']],
    [
      'has a group whose name is too long',
      podGang({
        annotations: { 'muster.dev/hpc-policy': 'flux' },
        groups: [group('w'.repeat(63), { minReplicas: 1 })],
      }),
      ['HpcHostNameInvalid'],
    ],
  ])('that %s is refused', (_what, object, rules) => {
    expect(rulesOf(validatePodGang({ object }, underTorch({}, object)))).toEqual(rules);
  });
});

const PODS = searchLength({ short: 300, long: 100_000 });

test(`of ${PODS} Pods each patch applies, a second one is empty, what is stored is let in, and argv is as it was`, () => {
  const word = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('--', '$(RANK)', 'a b', '*'));
  const absent = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
  const container = fc.record({
    command: absent(fc.array(word, { maxLength: 4 })),
    args: absent(fc.array(word, { maxLength: 4 })),
    env: absent(
      fc.array(
        fc.oneof(
          fc.record({
            name: fc.stringMatching(/^[A-Z]{1,5}_?$/).filter((name) => name !== 'RANK'),
            value: word,
          }),
          fc.constant({ name: 'MASTER_PORT', value: '29500' }),
        ),
        { maxLength: 3 },
      ),
    ),
    resources: absent(
      fc.record({ limits: fc.record({ 'amd.com/gpu': fc.constantFrom('2', '8'), cpu: fc.nat(64) }) }),
    ),
  });
  const given = fc.record({
    minimums: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 }),
    pick: fc.nat(),
    subdomain: fc.constantFrom(undefined, '', 'job'),
    named: fc.boolean(),
    side: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { maxLength: 2 }),
    procPerNode: fc.oneof(fc.integer({ min: 1, max: 1024 }), fc.constantFrom('auto', 'cpu')),
  });
  fc.assert(
    fc.property(given, container, ({ minimums, pick, subdomain, named, side, procPerNode }, main) => {
      const places = minimums.flatMap((count, at) =>
        Array.from({ length: count }, (_, index) => ({ at, index })),
      );
      const place = places[pick % Math.max(1, places.length)];
      fc.pre(place !== undefined);
      const gang = podGang({
        annotations: { 'muster.dev/hpc-policy': 'flux' },
        groups: minimums.map((minReplicas, at) => group(`g${at}`, { minReplicas })),
      });
      const hostname = `g${place.at}-${place.index}`;
      const containers = [
        ...side.map((name) => ({ name: `s-${name}`, image: 'i' })),
        { name: 'main', ...main },
      ];
      const object = hpcPod({
        labels: { 'grove.io/podclique': `g${place.at}` },
        ...(named && { metadata: { name: hostname } }),
        spec: { hostname: named ? undefined : hostname, subdomain, containers } as never,
      });
      const under = underTorch({ procPerNode, container: 'main' }, gang);
      const stored = preparedBy(object, under);
      expectSettled(stored, under);
      const [before, after] = [object, stored].map((one) => specOf(one).containers.at(-1));
      for (const key of ['command', 'args', 'resources']) expect(after?.[key]).toEqual(before?.[key]);
      expect(specOf(stored).containers.slice(0, -1)).toEqual(specOf(object).containers.slice(0, -1));
      expect((after?.['env'] as Json[]).slice(0, main.env?.length ?? 0)).toEqual(main.env ?? []);
      const env = envOf(stored, containers.length - 1);
      expect(env['RANK']).toBe(String(places.indexOf(place)));
      expect(env['PET_NNODES']).toBe(String(places.length));
    }),
    { numRuns: PODS },
  );
});

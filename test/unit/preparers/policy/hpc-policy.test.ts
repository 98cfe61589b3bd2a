import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { own, ownObject, type Json } from '../../../../src/json/json.ts';
import { fluxDefaults, fluxSettingRows, type FluxSettings } from '../../../../src/preparers/flux/settings.ts';
import { parseHpcPolicy, withEnvironment } from '../../../../src/preparers/policy/hpc-policy.ts';
import { hpcPolicy } from '../../../support/hpc.ts';

const read = (spec: Json) => parseHpcPolicy(hpcPolicy(spec), 'ml');
const set = (settings: Json) => read({ hpc: { manager: 'flux', settings } });
const texts = (spec: Json): string[] => read(spec).faults.map(({ field, message }) => `${field}: ${message}`);

describe('an HPCPolicy', () => {
  test('pitfall 2: has the defaults of the table', () => {
    expect(read({ hpc: {} })).toEqual({
      policy: { namespace: 'ml', name: 'flux', flux: fluxDefaults, torch: undefined },
      faults: [],
    });
    const byDefault = Object.values(fluxSettingRows).flatMap((row) =>
      row.byDefault === undefined ? [] : [[row.field, row.read(row.byDefault)]],
    );
    expect({ ...fluxDefaults, ...Object.fromEntries(byDefault) }).toEqual(fluxDefaults);
    expect(new Set(Object.values(fluxSettingRows).map(({ field }) => field))).toEqual(
      new Set(Object.keys(fluxDefaults)),
    );
  });

  const good: [string, string, Partial<FluxSettings>][] = [
    ['flux-view-image', 'reg.example:5000/a/b@sha256:00', { viewImage: 'reg.example:5000/a/b@sha256:00' }],
    ['flux-network-device', 'net1', { networkDevice: 'net1' }],
    ['flux-queue-policy', 'easy', { queuePolicy: 'easy' }],
    ['tasks-per-node', '1024', { tasksPerNode: 1024 }],
    ['interactive', 'true', { interactive: true }],
    ['shm-size', '8Gi', { shmSize: '8Gi' }],
    ['network', 'rdma', { network: 'rdma' }],
    ['quorum', '3', { quorum: 3 }],
    ['cluster-domain', 'corp.local', { clusterDomain: 'corp.local' }],
    ['lead-group', 'leader', { leadGroup: 'leader' }],
    ['runner-container', 'main', { runnerContainer: 'main' }],
    [
      'node-affinity',
      'pool=hpc|big, example.com/fast',
      {
        nodeAffinity: [
          { key: 'pool', values: ['hpc', 'big'] },
          { key: 'example.com/fast', values: [] },
        ],
      },
    ],
    ['one-pod-per-node', 'required', { onePodPerNode: 'required' }],
    ['one-pod-per-node', 'true', { onePodPerNode: 'preferred' }],
    ['one-pod-per-node', 'false', { onePodPerNode: 'none' }],
  ];
  test.each(good)('takes %s: %s', (name, value, meant) => {
    const { policy, faults } = set({ [name]: value });
    expect(faults).toEqual([]);
    expect(policy.flux).toEqual({ ...fluxDefaults, ...meant });
  });

  test.each([
    ['flux-view-image', ['', 'a b', 'a\nb', '$(x)', '-x', 'x'.repeat(513)]],
    ['flux-network-device', ['', 'eth0 ', 'abcdefghijklmnop', 'e"h']],
    ['flux-queue-policy', ['FCFS', 'hybrid', '']],
    ['tasks-per-node', ['0', '-1', '1.5', '1025', '04', '1e2', '', 'two']],
    ['interactive', ['yes', 'True', '', 'constructor']],
    ['shm-size', ['0', '-1Gi', 'lots', '', '1e400', '1e99', '8Pi']],
    ['network', ['ib', '']],
    ['quorum', ['0', '65537', 'all']],
    ['cluster-domain', ['Corp.local', '.local', '']],
    ['lead-group', ['', 'a b', 'x'.repeat(64)]],
    ['runner-container', ['A', '', 'x'.repeat(64)]],
    ['node-affinity', ['', 'a=', 'a=b=c', 'a,a=b', 'a b', 'a,,b']],
    ['one-pod-per-node', ['yes', 'constructor', '']],
  ])('refuses what %s cannot be', (name, values) => {
    const row = fluxSettingRows[name];
    for (const value of values) {
      const { policy, faults } = set({ [name]: value });
      expect(faults.map(({ rule, field }) => [rule, field])).toEqual([
        ['HpcSettingInvalid', `spec.hpc.settings[${name}]`],
      ]);
      // The form is cut last: it is what helps.
      expect(faults[0]?.message).toContain(`must be ${row?.form ?? ''}`.slice(0, 40));
      expect(policy.flux).toEqual(fluxDefaults);
    }
  });

  test('every form stands whole in its message', () => {
    for (const [name, row] of Object.entries(fluxSettingRows)) {
      expect(texts({ hpc: { settings: { [name]: '' } } })[0]).toContain(`(must be ${row.form})`);
    }
  });

  test('names every fault at once, with the key that was probably meant', () => {
    const spec = {
      hpc: { settings: { 'flux-image': 'x', 'task-per-node': '2', quorum: 4, zzz: '' } },
      mpi: {},
    };
    expect(texts(spec)).toEqual([
      'spec.mpi: Unsupported value: is no field of an HPCPolicy; correct it or remove it [HpcFieldUnknown]',
      'spec.hpc.settings[flux-image]: Unsupported value: is no setting of flux; correct it or remove it; docs/hpc.md lists the settings [HpcSettingUnknown]',
      'spec.hpc.settings[task-per-node]: Unsupported value: is no setting of flux (did you mean "tasks-per-node"?); correct it or remove it; docs/hpc.md lists the settings [HpcSettingUnknown]',
      'spec.hpc.settings[quorum]: Invalid value: 4: has the wrong type (a string is needed: quote it); correct it [FieldType]',
      'spec.hpc.settings[zzz]: Unsupported value: is no setting of flux; correct it or remove it; docs/hpc.md lists the settings [HpcSettingUnknown]',
    ]);
  });

  test.each([
    ['queue-policy', 'flux-queue-policy'],
    ['view-image', 'flux-view-image'],
    ['viewImage', 'flux-view-image'],
    ['numProcPerNode', 'tasks-per-node'],
    ['ntasks-per-node', 'tasks-per-node'],
    ['np', 'tasks-per-node'],
    ['onePodPerNode', 'one-pod-per-node'],
  ])('takes %s for %s, by what it means', (key, meant) => {
    expect(texts({ hpc: { settings: { [key]: '1' } } })[0]).toContain(`(did you mean "${meant}"?)`);
  });

  test.each([
    [null, 'spec'],
    [{ hpc: null, torch: null }, 'spec'],
    [[], 'spec'],
    [{ hpc: 'flux' }, 'spec.hpc'],
    [{ hpc: { settings: ['a'] } }, 'spec.hpc.settings'],
    [{ torch: { procPerNode: '2' } }, 'spec.torch.procPerNode'],
  ])('says where %j is wrong', (spec, field) => {
    expect(read(spec).faults.map((one) => one.field)).toEqual([field]);
  });

  test.each<[Json, object]>([
    [{}, { procPerNode: 1, container: undefined }],
    [
      { procPerNode: null, container: null },
      { procPerNode: 1, container: undefined },
    ],
    [
      { procPerNode: 8, container: 'main' },
      { procPerNode: 8, container: 'main' },
    ],
    ...['auto', 'cpu', 'gpu'].map((word): [Json, object] => [{ procPerNode: word }, { procPerNode: word }]),
  ])('takes torch: %j', (torch, meant) => {
    const { policy, faults } = read({ torch });
    expect(faults).toEqual([]);
    expect(policy).toMatchObject({ flux: undefined, torch: meant });
  });

  test.each<[Json]>([['2'], [0], [1025], [1.5], ['xpu'], ['AUTO'], [''], [true], [[1]]])(
    'refuses %j processes of a Pod',
    (procPerNode) => {
      const { policy, faults } = read({ torch: { procPerNode } });
      expect(faults.map(({ rule }) => rule)).toEqual(['TorchProcPerNodeInvalid']);
      expect(policy.torch).toEqual({ procPerNode: 1, container: undefined });
    },
  );

  test('a slip in a field of torch is told, and so is torch under Flux', () => {
    expect(texts({ torch: { procPerNod: 2, container: 'A' }, hpc: {} })).toEqual([
      'spec.torch.procPerNod: Unsupported value: is no field of an HPCPolicy (did you mean "procPerNode"?); correct it or remove it [HpcFieldUnknown]',
      'spec.torch: Forbidden: an HPCPolicy has spec.hpc or spec.torch, not both: Flux gives every task the environment of the first Pod; remove one of the two [HpcPolicyTwofold]',
      'spec.torch.container: Invalid value: "A": is no name of a container; name the container that PyTorch runs in, or leave it out for the only one [TorchContainerInvalid]',
    ]);
  });

  test('whatever is written is answered, and the settings are whole', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'eth0', '4', 'true'));
    const key = fc.oneof(text, fc.constantFrom(...Object.keys(fluxSettingRows)));
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(text, fc.jsonValue())), (settings) => {
        const { policy, faults } = set(settings as Json);
        expect(Object.keys(policy.flux ?? {}).sort()).toEqual(Object.keys(fluxDefaults).sort());
        for (const { message } of faults) expect(message.length).toBeLessThanOrEqual(256);
      }),
    );
  });
});

describe('the FLUX_ variables of the runner', () => {
  const from = (...environment: Json[]) => withEnvironment(fluxDefaults, environment, 'env');

  test('go before the settings, the later one before the earlier', () => {
    expect(
      from(
        { name: 'FLUX_QUEUE_POLICY', value: 'easy' },
        { name: 'FLUX_NETWORK_DEVICE', value: 'net1' },
        { name: 'FLUX_VIEW_IMAGE', value: 'other:tag' },
        { name: 'FLUX_OTHER', value: 'x' },
        { name: 'FLUX_QUEUE_POLICY', value: 'fcfs' },
      ),
    ).toEqual({
      settings: { ...fluxDefaults, networkDevice: 'net1', viewImage: 'other:tag', queuePolicy: 'fcfs' },
      faults: [],
    });
  });

  test('count only where their value is literal', () => {
    expect(
      from({ name: 'FLUX_NETWORK_DEVICE', valueFrom: {} }, { name: 'FLUX_VIEW_IMAGE', value: '' }),
    ).toEqual({
      settings: fluxDefaults,
      faults: [],
    });
  });

  test('are held to the same form', () => {
    const { settings, faults } = from({ name: 'X' }, { name: 'FLUX_QUEUE_POLICY', value: 'best' });
    expect(settings).toEqual(fluxDefaults);
    expect(faults.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'env[1].value: Invalid value: "best": this setting cannot be so (must be fcfs or easy); correct it, or leave it out for its default [HpcSettingInvalid]',
    ]);
  });
});

test('the definition leaves the settings to the webhook, and has the same bounds otherwise', () => {
  const file = join(import.meta.dirname, '../../../../manifests/crds/hpcpolicy.yaml');
  const definition = parse(readFileSync(file, 'utf8')) as { spec: { versions: [{ schema: Json }] } };
  const schema = own(definition.spec.versions[0].schema, 'openAPIV3Schema');
  const of = (value: Json | undefined, ...names: string[]): Json | undefined =>
    names.reduce((found, name) => ownObject(own(found, 'properties'), name), value);
  expect(of(schema, 'spec', 'hpc', 'manager')).toMatchObject({
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    maxLength: 63,
    default: 'flux',
  });
  expect(of(schema, 'spec', 'torch', 'procPerNode')).toMatchObject({
    'x-kubernetes-int-or-string': true,
    minimum: 1,
    maximum: 1024,
    pattern: '^(auto|cpu|gpu)$',
    default: 1,
  });
  const longest = own(own(of(schema, 'spec', 'hpc', 'settings'), 'additionalProperties'), 'maxLength');
  expect(longest).toBeGreaterThanOrEqual(512);
});

/** Pods of a gang that runs under Flux: what they get, what they keep, and that no Pod is prepared by halves. */
import fc from 'fast-check';
import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../../src/json/json.ts';
import { ALL_READ } from '../../../../src/api/webhook-endpoint.ts';
import { admissionEndpoints } from '../../../../src/admission/endpoints.ts';
import type { Policy } from '../../../../src/admission/policy.ts';
import type { Decision } from '../../../../src/admission/review.ts';
import { TryLater } from '../../../../src/errors.ts';
import { parseHpcPolicy } from '../../../../src/preparers/policy/hpc-policy.ts';
import type { HpcPolicies } from '../../../../src/preparers/preparer-factory.ts';
import { preparedMarkOf } from '../../../../src/preparers/registry.ts';
import { expectSettled, hpcGang, hpcPod, specOf, underHpc } from '../../../support/hpc-gangs.ts';
import { searchLength } from '../../../support/length.ts';
import { gangPod, pod } from '../../../support/pods.ts';
import { policy } from '../../../support/policy.ts';
import { mutatePod, rulesOf, textsOf, validatePod, validatePodGang } from '../../../support/reviews.ts';
import { preparedBy, validateHpcPolicy } from '../../api/rule-examples-hpc-pods.ts';
import { hpcPolicy } from '../../../support/hpc.ts';

const START = ['/bin/bash', '/etc/flux-config/entrypoint.sh', '--'];
const argvOf = (container: JsonObject | undefined): Json[] => [
  ...((container?.['command'] ?? []) as Json[]),
  ...((container?.['args'] ?? []) as Json[]),
];

describe('a Pod under Flux', () => {
  test('vectors 3 and 4, pitfalls 5, 17 and 19: has what Flux needs, in this order, and else what it had', () => {
    const under = underHpc({ 'node-affinity': 'pool=hpc,fast', 'shm-size': '8Gi' });
    const gpus = { resources: { limits: { 'nvidia.com/gpu': '4' } }, args: ['-in', 'x y', '*.toml'] };
    const mine = { volumes: [{ name: 'data' }], initContainers: [{ name: 'first', image: 'a' }] };
    const stored = preparedBy(hpcPod({ spec: mine }, gpus), under);
    expect(stored).toMatchObject({ metadata: { annotations: { 'muster.dev/prepared': 'flux@bd6ad2a6' } } });
    const spec = specOf(stored);
    expect(spec).toMatchObject({ hostname: 'worker-0', subdomain: 'train', restartPolicy: 'Never' });
    expect(spec['volumes']).toEqual([
      { name: 'data' },
      { name: 'flux-install', emptyDir: {} },
      { name: 'spack-install', emptyDir: {} },
      { name: 'flux-config', configMap: { name: 'train-flux-entrypoint', defaultMode: 0o755 } },
      { name: 'shared-memory', emptyDir: { medium: 'Memory', sizeLimit: '8Gi' } },
      { name: 'flux-curve', secret: { secretName: 'train-flux-curve', defaultMode: 0o444 } },
    ]);
    expect(spec['initContainers']).toEqual([
      { name: 'first', image: 'a' },
      {
        name: 'flux-installer',
        image: 'ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy',
        command: ['/bin/bash', '/etc/flux-config/init.sh'],
        volumeMounts: [
          { name: 'flux-install', mountPath: '/mnt/flux' },
          { name: 'flux-config', mountPath: '/etc/flux-config', readOnly: true },
        ],
      },
    ]);
    expect(spec.containers).toEqual([
      {
        name: 'main',
        image: 'lammps',
        command: [...START, 'lmp', '-in', 'x y', '*.toml'],
        args: [],
        resources: { limits: { 'nvidia.com/gpu': '4' } },
        volumeMounts: [
          { name: 'flux-install', mountPath: '/mnt/flux' },
          { name: 'spack-install', mountPath: '/opt/software' },
          { name: 'flux-config', mountPath: '/etc/flux-config', readOnly: true },
          { name: 'flux-curve', mountPath: '/curve', readOnly: true },
          { name: 'shared-memory', mountPath: '/dev/shm' },
        ],
        env: [{ name: 'MUSTER_FLUX_GPUS', value: '4' }],
      },
    ]);
    expect(spec['affinity']).toEqual({
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: {
              labelSelector: { matchLabels: { 'grove.io/podgang': 'train' } },
              topologyKey: 'kubernetes.io/hostname',
            },
          },
        ],
      },
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'pool', operator: 'In', values: ['hpc'] },
                { key: 'fast', operator: 'Exists' },
              ],
            },
          ],
        },
      },
    });
  });

  test.each<[string, Json, Json]>([
    ['without a number of Pods a node', { 'one-pod-per-node': 'none' }, undefined as unknown as Json],
    [
      'with one Pod a node at most',
      { 'one-pod-per-node': 'required' },
      {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              labelSelector: { matchLabels: { 'grove.io/podgang': 'train' } },
              topologyKey: 'kubernetes.io/hostname',
            },
          ],
        },
      },
    ],
  ])('%s', (_what, settings, affinity) => {
    expect(specOf(preparedBy(hpcPod(), underHpc(settings)))['affinity']).toEqual(affinity);
  });

  test('pitfall 10: is called by its group and number, where no DNS knows it by another name', () => {
    const named = gangPod({ metadata: { name: 'job-3' }, spec: specOf(hpcPod({ spec: { hostname: '' } })) });
    expect(specOf(preparedBy(named, underHpc()))).toMatchObject({ hostname: 'worker-3', subdomain: 'train' });
    const known = hpcPod({ spec: { hostname: 'job-3', subdomain: 'job' } });
    expect(rulesOf(mutatePod({ object: known }, underHpc()))).toEqual(['HpcHostUnlisted']);
    const own = hpcPod({ spec: { subdomain: 'job' } });
    expect(specOf(preparedBy(own, underHpc()))).toMatchObject({ hostname: 'worker-0', subdomain: 'job' });
  });

  test('has its host name in its spec also where its name is that already: DNS knows no other', () => {
    const named = gangPod({
      metadata: { name: 'worker-3' },
      spec: specOf(hpcPod({ spec: { hostname: '' } })),
    });
    expect(specOf(preparedBy(named, underHpc()))).toMatchObject({ hostname: 'worker-3', subdomain: 'train' });
  });

  const installerOf = (container: Json): Json | undefined =>
    (specOf(preparedBy(hpcPod({}, container), underHpc()))['initContainers'] as Json[])[0];

  test('that is Guaranteed and restricted stays so: its init container is as its program is, without its devices', () => {
    const amounts = { cpu: '4', memory: '8Gi' };
    const restricted = {
      allowPrivilegeEscalation: false,
      runAsNonRoot: true,
      runAsUser: 1000,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    };
    const resources = { requests: amounts, limits: { ...amounts, 'nvidia.com/gpu': '4' } };
    expect(installerOf({ resources, securityContext: restricted })).toMatchObject({
      resources: { requests: amounts, limits: amounts },
      securityContext: restricted,
    });
  });

  test('whose program may more than others has an init container that may not', () => {
    const securityContext = { privileged: true, capabilities: { add: ['IPC_LOCK'] } };
    expect(installerOf({ securityContext })).not.toHaveProperty('securityContext');
    expect(installerOf({ resources: { limits: { 'nvidia.com/gpu': '4' } } })).not.toHaveProperty('resources');
  });

  test('takes the image of its own environment, and refuses one that is none', () => {
    const env = (value: string): Json => ({ env: [{ name: 'FLUX_VIEW_IMAGE', value }] });
    const [installer] = specOf(preparedBy(hpcPod({}, env('my/view:1')), underHpc()))[
      'initContainers'
    ] as Json[];
    expect(installer).toMatchObject({ image: 'my/view:1' });
    expect(rulesOf(mutatePod({ object: hpcPod({}, env('a b')) }, underHpc()))).toEqual(['HpcSettingInvalid']);
  });

  test('that is interactive starts a broker and nothing else', () => {
    const stored = preparedBy(hpcPod({}, { command: [] }), underHpc({ interactive: 'true' }));
    expect(specOf(stored).containers[0]?.['command']).toEqual(START);
  });

  test('pitfall 20: which another webhook gave a container and a wrapper stays what it is', () => {
    const stored = preparedBy(hpcPod(), underHpc());
    const [main] = specOf(stored).containers;
    const wrapped = { ...main, command: ['/bin/trace', ...argvOf(main)] };
    const object = {
      ...stored,
      spec: { ...specOf(stored), containers: [wrapped, { name: 'mesh', image: 'm' }] },
    };
    expect(mutatePod({ object }, underHpc())).toMatchObject({ changes: [], faults: [] });
    expect(validatePod({ object }, underHpc()).faults).toEqual([]);
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'a container',
      hpcPod({ spec: { containers: [{ name: 'flux-installer', command: ['x'] }] } }),
      ['HpcNameReserved'],
    ],
    [
      'an init container',
      hpcPod({ spec: { initContainers: [{ name: 'flux-installer' }] } }),
      ['HpcNameReserved'],
    ],
    [
      'another mount',
      hpcPod({}, { volumeMounts: [{ name: 'x', mountPath: '/dev/shm/' }] }),
      ['HpcNameReserved'],
    ],
    ['a host name of the node', hpcPod({ spec: { setHostnameAsFQDN: true } }), ['HpcNetworkForbidden']],
    ['another host name', hpcPod({ spec: { hostnameOverride: 'x' } }), ['HpcNetworkForbidden']],
    [
      'all at once',
      hpcPod({ spec: { hostNetwork: true } }, { command: null }),
      ['HpcNetworkForbidden', 'HpcCommandRequired'],
    ],
  ])('vector 5, pitfall 7: is refused with %s in the way', (_what, object, rules) => {
    expect(rulesOf(mutatePod({ object }, underHpc()))).toEqual(rules);
  });
});

describe('who is prepared', () => {
  test('vector 1: no Pod of a gang without the annotation, of another gang, or of none', () => {
    const under = underHpc({}, { gang: { ...hpcGang(), metadata: { name: 'train', namespace: 'ml' } } });
    expect(specOf(preparedBy(hpcPod(), under)).containers[0]?.['command']).toEqual(['lmp']);
    const other = hpcPod({ labels: { 'grove.io/podgang': 'other' } });
    expect(specOf(preparedBy(other, underHpc())).containers[0]?.['command']).toEqual(['lmp']);
    expect(mutatePod({ object: pod() }, underHpc()).changes).toEqual([]);
  });

  test('nobody while the policies are not known: it is tried again', () => {
    expect(() => mutatePod({ object: hpcPod() }, underHpc({}, { known: false }))).toThrow(TryLater);
  });

  test('nobody by a policy that is not there; where it is instead is said to who may know', () => {
    const none = underHpc({}, { get: () => undefined, elsewhere: () => ['hpc'] });
    const decision = mutatePod({ object: hpcPod() }, none);
    expect(decision.faults[0]?.message).toContain('(there is one in hpc)');
    const gang = validatePodGang({ object: hpcGang() }, none);
    expect(gang.faults).toEqual([]);
    expect(gang.warnings.join()).toContain('[HpcPolicyMissing]');
  });

  test('nobody where that is switched off, and the gang’s author is told', () => {
    const off = { ...underHpc(), hpc: undefined };
    expect(specOf(preparedBy(hpcPod(), off)).containers[0]?.['command']).toEqual(['lmp']);
    expect(validatePodGang({ object: hpcGang() }, off).warnings).toContain(
      'metadata.annotations[muster.dev/hpc-policy]: nothing is prepared: hpc.enabled is false, tell whoever runs Muster',
    );
  });

  test('a gang that no watch knows is read first, in a namespace that has a policy', () => {
    const unknown = (anyIn: boolean) => {
      const under = underHpc({}, { anyIn: () => anyIn });
      const read = () => Promise.reject(new Error('not asked here'));
      return {
        ...under,
        placement: { ofGang: () => null, ofNamespace: () => null, gang: () => undefined, read },
      };
    };
    expect(mutatePod({ object: hpcPod() }, unknown(true)).needs).toEqual({ namespace: 'ml', gang: 'train' });
    expect(mutatePod({ object: hpcPod() }, unknown(false)).needs).toBeUndefined();
  });

  test('a Pod that came unprepared is refused once its gang is known', () => {
    const object = preparedBy(hpcPod(), underHpc({}, { gang: { ...hpcGang(), metadata: { name: 'x' } } }));
    expect(new Set(rulesOf(validatePod({ object }, underHpc())))).toEqual(new Set(['HpcPodNotPrepared']));
  });
});

test('an HPCPolicy may be edited while no Pod was prepared by it, and its metadata always', () => {
  const [before, after] = [hpcPolicy({ hpc: {} }), hpcPolicy({ torch: {} })];
  const idle = underHpc({}, { userOf: () => undefined });
  const used = underHpc({}, { userOf: () => 'train' });
  expect(validateHpcPolicy(after, before, idle).faults).toEqual([]);
  expect(validateHpcPolicy({ ...before, metadata: {} }, before, used).faults).toEqual([]);
  expect(rulesOf(validateHpcPolicy(after, before, used))).toEqual(['HpcPolicyInUse']);
  // Whoever reaches the port may say that he is of any namespace.
  expect(textsOf(validateHpcPolicy(after, before, used)).join()).not.toContain('train');
  const known = { ...used, knowsCallers: true };
  expect(textsOf(validateHpcPolicy(after, before, known)).join()).toContain('(PodGang train has Pods)');
  expect(rulesOf(validateHpcPolicy(hpcPolicy({}), null, used))).toEqual(['HpcPolicyEmpty']);
  expect(rulesOf(validatePodGang({ object: hpcGang() }, underHpc({ quorum: '5' })))).toEqual([
    'HpcQuorumTooLarge',
  ]);
});

describe('an HPCPolicy that is deleted under a gang that runs', () => {
  const runsBy = (mark: string): Partial<HpcPolicies> => {
    const otherMark = (_namespace: string, _gang: string, asked: string): string | undefined =>
      asked === mark ? undefined : mark;
    return {
      otherMark,
      userOf: (_namespace, _name, asked) =>
        asked !== undefined && otherMark('', '', asked) === undefined ? undefined : 'train',
    };
  };
  const object = preparedBy(hpcPod(), underHpc());
  const mark = (object['metadata'] as { annotations: Record<string, string> }).annotations;
  const running = runsBy(mark['muster.dev/prepared'] ?? '');

  test('comes back as it was, and not otherwise', () => {
    const made = (settings: Json): Decision =>
      validateHpcPolicy(hpcPolicy({ hpc: { settings } }), null, underHpc({}, running));
    expect(textsOf(made({}))).toEqual([]);
    expect(textsOf(made({ interactive: 'false', 'tasks-per-node': '1' }))).toEqual([]);
    expect(textsOf(made({ 'tasks-per-node': '2' }))).toEqual([
      'spec: Forbidden: an HPCPolicy stays as it is while a gang has Pods that were prepared by it (Pods of a PodGang run by one of this name with other settings); create another HPCPolicy and name it in the next PodGang, or delete the gang first [HpcPolicyInUse]',
    ]);
  });

  test('and came back otherwise past the webhook prepares no Pod beside those that run, and lets none be stored', () => {
    const now = underHpc({ 'tasks-per-node': '2' }, running);
    expect(rulesOf(mutatePod({ object: hpcPod() }, now))).toEqual(['HpcPolicyReplaced']);
    expect(rulesOf(validatePod({ object }, now))).toEqual(['HpcPolicyReplaced']);
    expect(rulesOf(mutatePod({ object: hpcPod() }, underHpc({}, running)))).toEqual([]);
  });

  test('is known by what was set, and not by how settings are read', () => {
    const of = (settings: Json): string =>
      preparedMarkOf(parseHpcPolicy(hpcPolicy({ hpc: { settings } }), 'ml').policy);
    expect(of({})).toBe(mark['muster.dev/prepared']);
    expect(of({ 'one-pod-per-node': 'preferred', 'flux-queue-policy': 'fcfs' })).toBe(of({}));
    const both = { interactive: 'true', quorum: '2' };
    expect(of(both)).toBe(of({ quorum: '2', interactive: 'true' }));
    const different = [
      of({}),
      of(both),
      of({ quorum: '2' }),
      of({ quorum: '3' }),
      of({ interactive: 'true' }),
    ];
    expect(new Set(different).size).toBe(different.length);
    const torch = (procPerNode: Json): string =>
      preparedMarkOf(parseHpcPolicy(hpcPolicy({ torch: { procPerNode } }), 'ml').policy);
    expect(new Set([of({}), torch(1), torch(2), torch('gpu')]).size).toBe(4);
  });
});

const PODS = searchLength({ short: 500, long: 100_000 });

test(`of ${PODS} Pods each patch applies, a second one is empty, what is stored is let in, and argv is as it was`, () => {
  const word = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('--', '', '$(HOME)', '*.toml', 'a b', "it's"),
  );
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { maxLength: 3 });
  const volume = fc.record({ name: fc.stringMatching(/^v[a-z]{1,6}$/), emptyDir: fc.constant({}) });
  const mount = fc.record({ name: fc.constant('v'), mountPath: fc.stringMatching(/^\/x[a-z/]{0,6}$/) });
  const absent = <T extends object>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
  const container = fc.record({
    command: fc.array(word, { minLength: 1, maxLength: 5 }),
    args: absent(fc.array(word, { maxLength: 5 })),
    env: absent(
      fc.array(fc.record({ name: fc.stringMatching(/^[A-Z]{1,5}$/), value: word }), { maxLength: 3 }),
    ),
    volumeMounts: absent(fc.uniqueArray(mount, { maxLength: 3, selector: ({ mountPath }) => mountPath })),
    resources: absent(fc.record({ limits: fc.record({ 'amd.com/gpu': fc.constantFrom('2', '8') }) })),
  });
  const spec = fc.record({
    index: fc.integer({ min: 0, max: 3 }),
    subdomain: fc.constantFrom(undefined, '', 'job'),
    volumes: absent(fc.uniqueArray(volume, { maxLength: 3, selector: ({ name }) => name })),
    side: names,
    settings: fc.record({
      'runner-container': fc.constant('main'),
      'one-pod-per-node': fc.constantFrom('none', 'preferred', 'required'),
      'tasks-per-node': fc.constantFrom('1', '2'),
      'node-affinity': fc.constantFrom('a', 'a=b,c=d|e'),
    }),
    affinity: fc.constantFrom(undefined, {}, { podAntiAffinity: {} }, { podAffinity: {}, nodeAffinity: {} }),
  });
  fc.assert(
    fc.property(spec, container, ({ index, side, settings, subdomain, volumes, affinity }, main) => {
      const containers = [
        ...side.map((name) => ({ name: `s-${name}`, image: 'i' })),
        { name: 'main', ...main },
      ];
      const object = hpcPod({
        spec: { hostname: `worker-${index}`, subdomain, volumes, affinity, containers } as never,
      });
      const under = underHpc(settings);
      const stored = preparedBy(object, under);
      expectSettled(stored, under);
      const before = argvOf(specOf(object).containers.at(-1));
      expect(argvOf(specOf(stored).containers.at(-1))).toEqual([...START, ...before]);
      expect(specOf(stored).containers.slice(0, -1)).toEqual(specOf(object).containers.slice(0, -1));
    }),
    { numRuns: PODS },
  );
});

test('a namespace with policies is told of to the server, which then parses a body once', () => {
  const readsAll = (under: Policy): unknown =>
    admissionEndpoints(under, { prepared: () => undefined, decided: () => undefined }).map(
      ({ path, unread }) =>
        typeof unread === 'function'
          ? [path, unread({ namespace: 'ml', operation: 'CREATE' }) === ALL_READ]
          : undefined,
    );
  const those = (answer: boolean): unknown => [
    ['/mutate-v1-pod', answer],
    ['/validate-v1-pod', answer],
    ...[undefined, undefined, undefined],
  ];
  expect(readsAll(underHpc())).toEqual(those(true));
  expect(readsAll(underHpc({}, { anyIn: () => false }))).toEqual(those(false));
  expect(readsAll(policy())).toEqual([undefined, undefined, undefined, undefined, undefined]);
});

/** Answers by what earlier Pods of a template got are those that each Pod gets by itself. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PATH_MUTATE_POD } from '../../../src/api/names.ts';
import type { WebhookEndpoint } from '../../../src/api/webhook-endpoint.ts';
import { admissionEndpoints } from '../../../src/admission/endpoints.ts';
import type { Policy } from '../../../src/admission/policy.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { parseJson } from '../../../src/server/request-body.ts';
import { searchLength } from '../../support/length.ts';
import { CLUSTER_NAMESPACES, HpcCluster } from '../../support/hpc-cluster.ts';
import { gangPod } from '../../support/pods.ts';
import { review } from '../../support/reviews.ts';

const endpointUnder = (under: Policy): WebhookEndpoint => {
  const all = admissionEndpoints(under, { prepared: () => undefined, decided: () => undefined });
  const found = all.find(({ path }) => path === PATH_MUTATE_POD);
  if (found === undefined) throw new Error('nothing mutates Pods');
  return found;
};

let uses = 0;

/** The answer as a server gives it, by what it knows or by the Pod alone. */
function answerOf(endpoint: WebhookEndpoint, bytes: Buffer, remembers: boolean): unknown {
  const found = remembers ? endpoint.specs?.find(bytes) : undefined;
  const body = parseJson(bytes, undefined, found);
  let whole = false;
  const entire = (): unknown => {
    whole = true;
    return parseJson(bytes);
  };
  const given = remembers ? { bytes, found } : {};
  const answer = endpoint.handle({ body, remainingMs: 1000, entire, ...given });
  if (found?.fits === true && !whole) uses += 1;
  return 'body' in answer ? answer.body : answer;
}

const oneOf = fc.constantFrom;
const NAMES = [
  'flux-install',
  'flux-config',
  'shared-memory',
  'data',
  'kube-api-access-x7k2p',
  'kube-api-access-flux',
];

/** Mostly as a template has them; a few differ, also in what collides with Muster's own names. */
const mostly = <T>(usual: T, ...rare: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: oneOf(usual, ...rare) });

const podReview = fc
  .record({
    namespace: oneOf(...CLUSTER_NAMESPACES),
    gang: mostly('train', 'other', 'missing'),
    member: mostly('worker', 'lead', 'nobody'),
    index: fc.nat({ max: 5 }),
    hostname: mostly<'own' | 'none' | 'lead-1' | 'x-1' | 'Worker-1'>(
      'own',
      'none',
      'lead-1',
      'x-1',
      'Worker-1',
    ),
    subdomain: mostly<string | undefined>(undefined, 'train', 'mine', 'a'.repeat(63)),
    command: mostly<string[] | undefined>(['lmp'], ['lmp', '-x'], undefined, [
      '/bin/bash',
      '/etc/flux-config/entrypoint.sh',
      '--',
      'x',
    ]),
    args: mostly<string[] | undefined>(undefined, ['-v'], []),
    env: mostly<JsonObject[] | undefined>(
      [{ name: 'A', value: 'b' }],
      ...[
        undefined,
        [],
        [{ name: 'MUSTER_FLUX_GPUS', value: '1' }],
        [{ name: 'FLUX_VIEW_IMAGE', value: 'x' }],
      ],
    ),
    volume: mostly('kube-api-access-x7k2p', ...NAMES, 'kube-api-access-bbbbb', 'kube-api-access-c'),
    mount: mostly('/data', '/mnt/flux', '/dev/shm/', '/etc/flux-config'),
    configMap: mostly(
      'c',
      'train-flux-entrypoint',
      'kube-api-access-train',
      'kube-api-access-train-flux-entrypoint',
    ),
    gpus: mostly<string | undefined>('8', undefined, '3'),
    spec: mostly<JsonObject>(
      {},
      { hostNetwork: true },
      { affinity: {} },
      { initContainers: [{ name: 'flux-installer' }] },
      { hostnameOverride: 'h' },
    ),
    labels: mostly<JsonObject>(
      {},
      { 'kai.scheduler/subgroup-name': 'worker' },
      { 'grove.io/scheduler-name': 'kai-scheduler' },
    ),
    annotations: mostly<JsonObject>(
      {},
      { 'muster.dev/prepared': 'flux@0' },
      { note: '"spec":{"hostname":"a"}' },
    ),
  })
  .map(({ namespace, gang, member, index, hostname, subdomain, spec, labels, annotations, ...given }) => {
    const own = `${member}-${index}`;
    const host = hostname === 'none' ? {} : { hostname: hostname === 'own' ? own : hostname };
    const { command, args, env, volume, mount, configMap, gpus } = given;
    const object = gangPod({
      metadata: { name: own, namespace },
      labels: {
        'grove.io/podgang': gang,
        'grove.io/podclique': member,
        'batch/index': `${index}`,
        ...labels,
      },
      annotations,
      spec: {
        ...host,
        subdomain,
        containers: [
          {
            ...{ name: 'main', image: 'lammps' },
            ...(command && { command }),
            ...(args && { args }),
            ...(env && { env }),
            volumeMounts: [{ name: volume, mountPath: mount }],
            resources: { limits: gpus === undefined ? {} : { 'nvidia.com/gpu': gpus } },
          },
        ],
        volumes: [{ name: volume, configMap: { name: configMap } }],
        ...spec,
      },
    });
    return Buffer.from(JSON.stringify(review('Pod', { object, namespace })));
  });

type Step = (cluster: HpcCluster) => Buffer | undefined;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 20,
    arbitrary: podReview.map(
      (bytes): Step =>
        () =>
          bytes,
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        oneOf(...CLUSTER_NAMESPACES),
        oneOf<JsonObject>({}, { 'tasks-per-node': '8' }, { 'shm-size': '1Gi' }),
      )
      .map(
        ([namespace, settings]): Step =>
          (cluster) =>
            void cluster.edit(namespace, settings),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(oneOf(...CLUSTER_NAMESPACES), fc.integer({ min: 1, max: 5 })).map(
      ([namespace, replicas]): Step =>
        (cluster) =>
          void cluster.scale(namespace, replicas),
    ),
  },
);

test('an answer by what is known of earlier Pods is the one that the Pod gets by itself', () => {
  uses = 0;
  let answers = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      const cluster = new HpcCluster();
      const endpoint = endpointUnder(cluster.policy);
      expect(endpoint.specs).toBeDefined();
      for (const one of steps) {
        const bytes = one(cluster);
        if (bytes === undefined) continue;
        answers += 1;
        expect(answerOf(endpoint, bytes, true)).toEqual(answerOf(endpoint, bytes, false));
      }
    }),
    { numRuns: searchLength({ short: 60, long: 2000 }) },
  );
  // Enough of them were answered by what is known.
  expect(uses).toBeGreaterThan(answers / 50);
});

test('a host name of the same template whose domain is too long is refused', () => {
  const cluster = new HpcCluster();
  cluster.scale('ml', 12);
  const labels = Array.from({ length: 4 }, () => 'a'.repeat(57)).join('.');
  cluster.edit('ml', { 'cluster-domain': labels });
  const endpoint = endpointUnder(cluster.policy);
  const answers = ['worker-1', 'worker-2', 'worker-11'].map((hostname) => {
    const spec = { hostname, containers: [{ name: 'main', image: 'lammps', command: ['lmp'] }] };
    const object = gangPod({ metadata: { name: hostname }, spec });
    return answerOf(endpoint, Buffer.from(JSON.stringify(review('Pod', { object }))), true);
  });
  expect(answers.map((answer) => String(answer).includes('"allowed":true'))).toEqual([true, true, false]);
});

/** Estimators of clusters over gRPC, with TLS, on loopback: each cluster has an address of its own, 127.0.0.<cluster>. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerCredentials } from '@grpc/grpc-js';
import { afterEach, expect, test } from '@jest/globals';
import { Estimators } from '../../../src/estimators/estimators.ts';
import type { EstimateRequest } from '../../../src/estimators/questions.ts';
import { issueAuthority, issueServingCertificate } from '../../../src/tls/issue.ts';
import { issueClientCertificate } from '../../support/client-certificate.ts';
import { estimatorAt, type Answering, type Asked, type Estimator } from '../../support/estimator.ts';
import { plainDirectory } from '../../unit/tls/mounted-secret.ts';

const running: Estimator[] = [];
const asking: Estimators[] = [];
afterEach(() => {
  for (const one of asking.splice(0)) one.end();
  for (const one of running.splice(0)) one.close();
});

const serve = async (
  cluster: string,
  answer: Answering,
  more: { port?: number; credentials?: ServerCredentials; methods?: Asked['method'][] } = {},
): Promise<Estimator> => {
  const one = await estimatorAt(`127.0.0.${cluster}`, { answer, ...more });
  running.push(one);
  return one;
};

function scene(
  port: number,
  more: {
    address?: string;
    timeoutMs?: number;
    tls?: { caFile: string; certFile?: string; keyFile?: string };
  } = {},
) {
  const said: string[] = [];
  const clock = { now: 0 };
  const estimators = new Estimators(
    { address: `127.0.0.{cluster}:${port}`, timeoutMs: 20_000, ...more },
    {
      asked: (result) => said.push(result),
      failed: (cluster, why) => said.push(`${cluster}: ${why}`),
    },
    () => clock.now,
  );
  asking.push(estimators);
  const ask = (questions: readonly EstimateRequest[], signal = new AbortController().signal) =>
    estimators.ask(questions, 'ml', signal);
  return { estimators, ask, said, clock };
}

const replicas = (cluster: string): EstimateRequest => ({
  cluster,
  unit: 'replicas',
  templates: [{ name: '', replicas: 4, requests: new Map([['cpu', 1500]]) }],
});
const sets = (cluster: string): EstimateRequest => ({ ...replicas(cluster), unit: 'sets' });

test('it is asked over TLS, shows a certificate, and all goes over one connection', async () => {
  const validity = { days: 1, now: new Date() };
  const authority = await issueAuthority({ commonName: 'estimators', ...validity });
  const serving = await issueServingCertificate({ authority, dnsNames: ['localhost'], ...validity });
  const own = await issueClientCertificate({ authority, commonName: 'muster', ...validity });
  const ca = authority.certificate;
  const directory = await plainDirectory({ ca, cert: own.certificate, key: own.key });
  const at = (name: string): string => join(directory, name);
  const pair = { private_key: Buffer.from(serving.key), cert_chain: Buffer.from(serving.certificate) };
  const credentials = ServerCredentials.createSsl(Buffer.from(ca), [pair], true);
  const server = await serve('1', () => 7, { credentials });
  // A name: no certificate is checked for an address.
  const address = `local{cluster}:${server.port}`;
  const tls = { caFile: at('ca'), certFile: at('cert'), keyFile: at('key') };
  const { ask, said } = scene(server.port, { tls, address });
  expect(await ask([replicas('host'), sets('host')])).toEqual([7, 7]);
  expect(await ask([replicas('host')])).toEqual([7]);
  expect(new Set(server.asked.map(({ peer }) => peer)).size).toBe(1);
  expect(said).toEqual(['answered', 'answered', 'answered']);

  const stranger = scene(server.port, { address, tls: { caFile: at('ca') } });
  expect(await stranger.ask([replicas('host')])).toEqual([undefined]);
  const unread = scene(server.port, { address, tls: { caFile: at('none') } });
  expect(await unread.ask([replicas('host')])).toEqual([undefined]);
  expect(unread.said).toEqual(['failed', expect.stringMatching(/^host: ENOENT.*none/)]);
  // Once it is there, the next connection takes it.
  await writeFile(at('none'), ca);
  unread.clock.now += 30_000;
  await unread.ask([replicas('host')]);
  expect(unread.said.at(-1)).not.toMatch(/ENOENT/);
});

test('what it is asked, read by another library', async () => {
  const server = await serve('2', () => 1);
  const { ask } = scene(server.port);
  const nodeClaim = {
    nodeSelector: { disk: 'ssd' },
    hardNodeAffinity: {
      nodeSelectorTerms: [
        {
          matchExpressions: [{ key: 'gpu', operator: 'In', values: ['a', 'b'] }],
          matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n'] }],
        },
      ],
    },
    tolerations: [
      { key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 300 },
      {},
    ],
  };
  const needs = { nodeClaim, priorityClassName: 'high' };
  const master = {
    name: 'master',
    replicas: 1,
    requests: new Map([
      ['cpu', 1500],
      ['memory', 3 * 1024 ** 3],
    ]),
    needs,
  };
  const worker = { name: 'w'.repeat(200), replicas: 300, requests: new Map([['nvidia.com/gpu', 4]]) };
  await ask([
    { cluster: '2', unit: 'replicas', templates: [master] },
    { cluster: '2', unit: 'sets', templates: [master, worker] },
    { cluster: '2', unit: 'replicas', templates: [] },
  ]);
  const claim = {
    nodeSelector: { disk: 'ssd' },
    nodeAffinityBytes: nodeClaim.hardNodeAffinity,
    tolerationsBytes: [nodeClaim.tolerations[0], {}],
    // As it was until Karmada 1.17.
    nodeAffinity: nodeClaim.hardNodeAffinity,
    tolerations: [nodeClaim.tolerations[0], {}],
  };
  const amounts = { cpu: { string: '1500m' }, memory: { string: '3Gi' } };
  expect(server.asked.filter(({ method }) => method === 'MaxAvailableComponentSets')).toMatchObject([
    {
      request: {
        cluster: '2',
        namespace: 'ml',
        components: [
          {
            name: 'master',
            replicas: 1,
            replicaRequirements: {
              nodeClaim: claim,
              priorityClassName: 'high',
              resourceRequestBytes: amounts,
            },
          },
          {
            name: worker.name,
            replicas: 300,
            replicaRequirements: {
              resourceRequestBytes: { 'nvidia.com/gpu': { string: '4' } },
              resourceRequest: { 'nvidia.com/gpu': { string: '4' } },
            },
          },
        ],
      },
    },
  ]);
  const [with_, without] = server.asked
    .filter(({ method }) => method === 'MaxAvailableReplicas')
    .map(({ request }) => request as { replicaRequirements?: object })
    .sort((a) => (a.replicaRequirements === undefined ? 1 : -1));
  expect(with_).toMatchObject({
    replicaRequirements: {
      namespace: 'ml',
      priorityClassName: 'high',
      nodeClaim: claim,
      resourceRequestBytes: amounts,
      resourceRequest: amounts,
    },
  });
  expect(without).toEqual({ cluster: '2' });
});

test('one that does not know says -1, and is no failure', async () => {
  const server = await serve('2', () => -1);
  const { ask, said } = scene(server.port);
  expect(await ask([replicas('2'), sets('2')])).toEqual([undefined, undefined]);
  expect(said).toEqual(['answered', 'answered']);
});

test('a slow one and one that is not there keep nobody waiting twice, and the others are heard', async () => {
  let release = (): void => undefined;
  const slow = await serve('2', () => new Promise((resolve) => (release = () => resolve(9))));
  await serve('3', () => 3, { port: slow.port });
  // Long enough for the others to be heard on a busy machine.
  const { ask, said, clock } = scene(slow.port, { timeoutMs: 4_000 });
  expect(await ask([replicas('2'), replicas('3'), replicas('4')])).toEqual([undefined, 3, undefined]);
  expect(said.sort()).toEqual([
    expect.stringMatching(/^2: .*DEADLINE_EXCEEDED/),
    expect.stringMatching(/^4: .*UNAVAILABLE.*127\.0\.0\.4/s),
    'answered',
    'failed',
    'failed',
  ]);
  release();
  said.length = 0;
  expect(await ask([replicas('2'), replicas('3'), replicas('4')])).toEqual([undefined, 3, undefined]);
  expect(said.sort()).toEqual(['answered', 'resting', 'resting']);
  expect(slow.asked).toHaveLength(1);
  // After its rest it is asked again.
  clock.now += 30_000;
  await serve('4', () => 4, { port: slow.port });
  expect(await ask([replicas('4')])).toEqual([4]);
});

test('one that fails is asked anew after its rest, over a new connection; a cluster that is gone has no rest', async () => {
  let broken = true;
  const server = await serve('2', () => {
    if (broken) throw Object.assign(new Error('no informer'), { details: 'no informer' });
    return 5;
  });
  const { ask, said, clock, estimators } = scene(server.port);
  expect(await ask([replicas('2')])).toEqual([undefined]);
  expect(said).toEqual(['failed', expect.stringMatching(/^2: .*no informer/)]);
  broken = false;
  expect(await ask([replicas('2')])).toEqual([undefined]);
  clock.now += 30_000;
  expect(await ask([replicas('2')])).toEqual([5]);
  const [first, second] = server.asked.map(({ peer }) => peer);
  expect(second).not.toBe(first);

  broken = true;
  await ask([replicas('2')]);
  broken = false;
  estimators.forget('2');
  expect(await ask([replicas('2')])).toEqual([5]);
});

test('an old one that knows no sets still says how many replicas fit', async () => {
  const server = await serve('2', () => 6, { methods: ['MaxAvailableReplicas'] });
  const { ask, said } = scene(server.port);
  expect(await ask([sets('2')])).toEqual([undefined]);
  expect(await ask([sets('2'), replicas('2')])).toEqual([undefined, 6]);
  expect(said).toEqual(['failed', expect.stringMatching(/^2: .*UNIMPLEMENTED/), 'resting', 'answered']);
});

test('of many questions a few are asked at a time, each is answered, and the rest ends with the time', async () => {
  let [now, most] = [0, 0];
  const server = await serve('2', async () => {
    most = Math.max(most, (now += 1));
    await new Promise(setImmediate);
    now -= 1;
    return 2;
  });
  const { ask } = scene(server.port);
  const many = Array.from({ length: 200 }, () => replicas('2'));
  expect(await ask(many)).toEqual(many.map(() => 2));
  expect(most).toBeLessThanOrEqual(32);

  const stuck = await serve('3', () => new Promise(() => undefined), { port: server.port });
  const hurried = scene(server.port, { timeoutMs: 500 });
  const stuckFor = Array.from({ length: 100 }, () => replicas('3'));
  expect(await hurried.ask(stuckFor)).toEqual(stuckFor.map(() => undefined));
  expect(stuck.asked.length).toBeLessThanOrEqual(32);
  expect(hurried.said.filter((one) => one.startsWith('3: '))).toHaveLength(1);
});

test('who stops waiting is no failure, and nothing is asked after the end', async () => {
  const server = await serve('2', () => new Promise(() => undefined));
  const { ask, said, estimators } = scene(server.port);
  const controller = new AbortController();
  const answers = ask([replicas('2')], controller.signal);
  while (server.asked.length === 0) await new Promise(setImmediate);
  controller.abort();
  expect(await answers).toEqual([undefined]);
  estimators.end();
  expect(await ask([replicas('2')])).toEqual([undefined]);
  expect(said).toEqual([]);
  expect(server.asked).toHaveLength(1);
});

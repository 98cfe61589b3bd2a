/**
 * Muster beside Karmada's API server, set up as docs/fleet.md says. A second API server plays Karmada's: it has Karmada's
 * definitions and no Pods, and finds webhooks as Karmada's does, by Services that it looks up in itself.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { stringify } from 'yaml';
import { MUSTER_USER } from '../../src/api/names.ts';
import type { DoctorReport } from '../../src/cli/doctor/render.ts';
import { issueDevelopmentCertificates } from '../../src/tls/issue.ts';
import { manifestsIn } from '../support/manifests.ts';
import { metricsAt } from '../support/observed.ts';
import { startServing, type Serving } from '../support/serving.ts';
import type { Client, KubeObject } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import {
  clusterResourceBindings,
  fleetClusters,
  interpreterWebhookConfigurations,
  resourceBindings,
} from './support/crds/karmada.ts';
import { propagationPolicies } from './support/crds/karmada-policies.ts';
import { KARMADA_WRITES } from './support/karmada-writes.ts';
import { loopbackService, type LoopbackService } from './support/loopback-service.ts';
import { grantRights, STEADY_LEASE } from './support/looping-muster.ts';
import { verb } from './support/muster-cli.ts';
import { register } from './support/registered-muster.ts';
import { untilReady } from './support/with-muster.ts';

jest.setTimeout(120_000);

const SERVICE = '/api/v1/namespaces/muster-system/services/muster';
const QUEUE = 'muster.dev/fleet-queue';
const bindingsOf = (namespace: string): string =>
  `/apis/work.karmada.io/v1alpha2/namespaces/${namespace}/resourcebindings`;
const namespaceOf = (name: string, labels = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
});

interface Binding extends KubeObject {
  readonly spec: { readonly suspension?: { readonly scheduling?: boolean } };
}

clusterSuite('Muster beside Karmada, set up as the documentation says', () => {
  let [own, karmada]: ControlPlane[] = [];
  let client: Client;
  let muster: Serving;
  let directory: string;
  /** Between Muster and Karmada's API server. */
  let toKarmada: LoopbackService;
  /** Takes connections and says nothing; how often somebody has said something there. */
  let silent: Server;
  let heard = 0;
  const open = new Set<Socket>();

  const portOf = (url: string): number => Number(new URL(url).port);
  const tried = (namespace: string, query: Record<string, string> = { dryRun: 'All' }) =>
    client.request<Binding>(
      'POST',
      bindingsOf(namespace),
      {
        ...{ apiVersion: 'work.karmada.io/v1alpha2', kind: 'ResourceBinding', metadata: { name: 'tried' } },
        spec: {
          resource: { apiVersion: 'batch/v1', kind: 'Job', namespace, name: 'tried' },
          replicas: 1,
          placement: {},
        },
      },
      { query },
    );
  const doctor = async (): Promise<{ code: number | undefined; wrong: string[] }> => {
    const file = await karmada!.kubeconfigFor('system:admin', ['system:masters']);
    const config = join(muster.directory, 'config.yaml');
    const { out, code } = await verb([
      'doctor',
      '--fleet',
      '--kubeconfig',
      file,
      '--config',
      config,
      '-o',
      'json',
    ]);
    const { findings } = JSON.parse(out) as DoctorReport;
    const wrong = findings.filter(({ severity }) => severity !== 'ok');
    return { code, wrong: wrong.map(({ found, fix }) => `${found} → ${fix}`) };
  };
  /** Has the API server open new connections, to another port: one that is open already is used again. */
  const calls = async (port: number): Promise<void> => {
    const hook = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/muster-fleet-queues';
    const patch = [{ op: 'replace', path: '/webhooks/0/clientConfig/service/port', value: port }];
    await client.ok('PATCH', hook, patch, { contentType: 'application/json-patch+json' });
  };
  const fleetReady = async (): Promise<string | undefined> =>
    /^muster_fleet_ready (\d)$/m.exec(await metricsAt(muster.metricsPort))?.[1];
  const ready = async (): Promise<number> =>
    (await fetch(`http://127.0.0.1:${muster.healthPort}/readyz`)).status;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'muster-fleet-'));
    const issued = await issueDevelopmentCertificates({
      // By this name an API server knows what it calls by a Service, whatever address that leads to.
      dnsNames: ['muster.muster-system.svc', 'localhost', '127.0.0.1'],
      ...{ days: 1, now: new Date() },
    });
    await writeFile(join(directory, 'ca.crt'), issued.caCertificate);
    await writeFile(join(directory, 'tls.crt'), issued.certificate);
    await writeFile(join(directory, 'tls.key'), issued.key, { mode: 0o600 });
    [own, karmada] = await Promise.all([startControlPlane(), startControlPlane()]);
    ({ client } = karmada);
    toKarmada = await loopbackService();
    silent = createServer((socket) => {
      open.add(socket.on('error', () => undefined));
      socket.on('data', () => (heard += 1));
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const definitions = [
      ...[resourceBindings, clusterResourceBindings, propagationPolicies, fleetClusters],
      interpreterWebhookConfigurations,
    ] as never[];
    await applyAll(client, definitions);
    await untilEstablished(client, definitions);
    for (const name of ['muster-system', 'ml', 'free']) await applyAll(client, [namespaceOf(name)]);
    await grantRights(own, []);
    // As docs/fleet.md has it.
    const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
    await applyAll(client, [{ ...account, metadata: { name: 'muster', namespace: 'muster-system' } }]);
    const { status: issuedTo } = await client.ok<{ status: { token: string } }>(
      'POST',
      '/api/v1/namespaces/muster-system/serviceaccounts/muster/token',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 7_200 } },
    );
    await writeFile(join(directory, 'token'), issuedTo.token, { mode: 0o600 });
    const authority = (await readFile(karmada.caFile)).toString('base64');
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(
      kubeconfig,
      stringify({
        ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'karmada' },
        contexts: [{ name: 'karmada', context: { cluster: 'karmada', user: 'muster' } }],
        users: [{ name: 'muster', user: { tokenFile: 'token' } }],
        clusters: [
          {
            name: 'karmada',
            cluster: {
              server: `https://127.0.0.1:${toKarmada.port}`,
              'certificate-authority-data': authority,
            },
          },
        ],
      }),
    );
    muster = await startServing({
      certificates: directory,
      kubeconfig: await own.kubeconfigFor(MUSTER_USER),
      settings: {
        scheduler: { profiles: [{ name: 'default-scheduler' }] },
        leaderElection: STEADY_LEASE,
        fleet: { kubeconfig, queues: { enabled: true }, assigner: { enabled: true } },
      },
    });
  }, 180_000);
  afterAll(async () => {
    await muster?.close();
    await Promise.all([own?.stop(), karmada?.stop(), toKarmada?.close()]);
    for (const socket of open) socket.destroy();
    silent?.close();
    await rm(directory, { recursive: true, force: true });
  }, 60_000);

  test('Karmada is away: Muster is ready, admits Pods, and says what its fleet waits for', async () => {
    await untilReady(muster);
    // Pods and PodGangs, both until they are answered for.
    await register(own!, muster.port, await readFile(join(directory, 'ca.crt'), 'utf8'));
    expect(await fleetReady()).toBe('0');
    await until('the log tells it', () =>
      muster.log().some(({ msg }) => /the fleet's loop cannot begin, and is tried again/.test(String(msg))),
    );
  });

  test('Karmada is back, and gives Muster no rights: it is ready all the same', async () => {
    toKarmada.setEndpoints([portOf(karmada!.url)]);
    await until('it was refused', () =>
      muster
        .log()
        .some((line) =>
          /resourcebindings.*forbidden|forbidden.*resourcebindings/s.test(JSON.stringify(line)),
        ),
    );
    expect([await ready(), await fleetReady()]).toEqual([200, '0']);
  });

  test('set up as it ships, it begins by itself', async () => {
    const ca = await readFile(join(directory, 'ca.crt'));
    const shipped = (
      await Promise.all(['karmada/queues', 'karmada/assigner'].map((folder) => manifestsIn(folder)))
    ).flat();
    for (const { kind, webhooks = [], ...rest } of shipped) {
      // Loopback has one address, so the port is another one; what a user puts in is the certificate alone.
      for (const { clientConfig } of webhooks) {
        clientConfig['caBundle'] = ca.toString('base64');
        Object.assign(clientConfig.service ?? {}, { port: muster.port });
      }
      if (kind === 'Service')
        Object.assign((rest as unknown as { spec: object }).spec, { externalName: 'localhost' });
    }
    await applyAll(client, shipped);
    await until('the fleet is ready', async () => (await fleetReady()) === '1', { withinMs: 60_000 });
    expect((await doctor()).wrong).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /no namespace has the label muster.dev\/fleet-queue.* → kubectl label namespace NAME/,
        ),
      ]),
    );
  });

  test('a namespace names a queue: its bindings wait there, and doctor sees that Muster answers', async () => {
    await applyAll(client, [namespaceOf('ml', { [QUEUE]: 'research' })]);
    await until('a new binding is held', async () => {
      const { status, body } = await tried('ml');
      return status === 201 && body.spec.suspension?.scheduling === true;
    });
    await until('the doctor misses nothing but clusters', async () => {
      expect((await doctor()).wrong).toEqual([
        expect.stringMatching(/Muster has nothing to place/),
        expect.stringMatching(/there are no clusters/),
      ]);
      return true;
    });
    await applyAll(client, [
      {
        ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'tried', namespace: 'ml' } },
        spec: {
          suspend: true,
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'm', image: 'example/m:1' }] } },
        },
      } as never,
    ]);
    expect((await tried('ml', {})).status).toBe(201);
    const find = () => client.ok<Binding>('GET', `${bindingsOf('ml')}/tried`);
    await until(
      'its queue is known',
      async () => (await find()).metadata.annotations?.[QUEUE] === 'research',
    );
    await client.ok('POST', '/apis/muster.dev/v1alpha1/fleetqueues', {
      ...{ apiVersion: 'muster.dev/v1alpha1', kind: 'FleetQueue', metadata: { name: 'research' } },
    });
    await until('it is through', async () => (await find()).spec.suspension?.scheduling === false);
    await client.ok('DELETE', `${bindingsOf('ml')}/tried`);
  });

  const states: [string, () => Promise<void> | void, RegExp | undefined][] = [
    ['is up', () => calls(muster.port), undefined],
    ['hangs', () => calls((silent.address() as AddressInfo).port), /context deadline|timeout/i],
    ['is down', () => calls(1), /refused/],
    [
      'is gone, with its Service',
      async () => void (await client.ok('DELETE', SERVICE)),
      /service "muster" not found/,
    ],
  ];
  test.each(states)(
    'Muster %s: no binding without a queue is refused, delayed or changed',
    async (state, enter, why) => {
      await enter();
      await until('the state is there', async () => {
        const { status, body } = await tried('ml');
        return why === undefined
          ? status === 201
          : status >= 500 &&
              /failed calling webhook "bindings.muster.dev"/.test(body.message ?? '') &&
              why.test(body.message ?? '');
      });
      const namespace = 'free';
      for (const { by, run } of KARMADA_WRITES) {
        const before = heard;
        let stored: unknown;
        try {
          stored = await run(client, namespace);
        } catch (error) {
          throw new Error(`Muster ${state}: ${by}`, { cause: error });
        }
        expect({ by, marked: JSON.stringify(stored ?? {}).includes('muster.dev') }).toEqual({
          by,
          marked: false,
        });
        const held = (stored as Binding | undefined)?.spec.suspension?.scheduling === true;
        expect({ by, held }).toEqual({ by, held: false });
        // Whoever were asked would be waited for.
        expect({ by, asked: heard - before }).toEqual({ by, asked: 0 });
      }
      // Nor is what runs no Pods, in a namespace with a queue.
      const settings = KARMADA_WRITES.find(({ by }) => by.endsWith('of what is no workload'));
      await settings?.run(client, 'ml');
      await client.ok('PATCH', `${bindingsOf('ml')}/settings`, { metadata: { finalizers: null } });
      await client.ok('DELETE', `${bindingsOf('ml')}/settings`);
    },
  );

  test('muster doctor --fleet names the Service that is not there', async () => {
    const { code, wrong } = await doctor();
    expect(code).toBe(1);
    expect(wrong).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /calls Service muster-system\/muster, which Karmada's API server looks up in itself/,
        ),
        expect.stringMatching(/Karmada's API server gets no answer from Muster.*service "muster" not found/s),
      ]),
    );
  });
});

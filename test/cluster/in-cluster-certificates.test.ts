/** Certificates that Muster makes itself, on the real API server: with its rights alone, crashes, damage, rotations under load. */
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_NAMESPACE, MUSTER_USER } from '../../src/api/names.ts';
import { kustomized } from '../../src/cli/doctor/installed/kustomize.ts';
import type { DoctorReport } from '../../src/cli/doctor/render.ts';
import { run } from '../../src/cli/run.ts';
import { packageRoot } from '../../src/cli/version.ts';
import { CertificateRotator } from '../../src/controller/certificates/certificate-rotator.ts';
import { systemClock, type Clock } from '../../src/kube/client/clock.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { issueRsaAuthority, issueRsaServing } from '../support/client-certificate.ts';
import { inLength } from '../support/length.ts';
import { calledOnLoopback, manifestsIn, type KubernetesObject } from '../support/manifests.ts';
import { startServing, type Serving } from '../support/serving.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import { untilEachIsUsed } from './support/granted.ts';
import { httpGet } from './support/http-get.ts';
import { createLoad } from './support/load.ts';
import { loopbackService, type LoopbackService } from './support/loopback-service.ts';
import { DRY_RUN, gangPod, NAMESPACE, PODS } from './support/registered-muster.ts';

const LEAVES = inLength({ short: 4, long: 100 });
const CAS = inLength({ short: 1, long: 10 });
const SECRETS = `/api/v1/namespaces/${MUSTER_NAMESPACE}/secrets`;
const SECRET = `${SECRETS}/muster-certificates`;
const CONFIGURATIONS = ['mutating', 'validating'].map(
  (kind) => `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/muster`,
);
const HOUR = 3_600_000;
/** Certificates live for hours, and are renewed seconds after they were made: nothing expires on a slow machine. */
const QUICK = {
  leaf: { duration: '1h', renewBefore: inLength({ short: '59m58s', long: '59m59s' }) },
  ca: { duration: '2h', renewBefore: inLength({ short: '1h59m54s', long: '1h59m50s' }), settle: '1s' },
};

interface Secret {
  readonly metadata: { readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
}
interface Configuration {
  readonly metadata: { readonly resourceVersion: string };
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

clusterSuite('certificates in the cluster', () => {
  let plane: ControlPlane;
  let service: LoopbackService;
  let own: KubernetesObject[];
  const replicas: Serving[] = [];
  const rotators: CertificateRotator[] = [];

  const secret = () => plane.client.ok<Secret>('GET', SECRET);
  const configurations = () =>
    Promise.all(CONFIGURATIONS.map((path) => plane.client.ok<Configuration>('GET', path)));
  const bundles = async (): Promise<X509Certificate[][]> =>
    (await configurations()).flatMap(({ webhooks }) =>
      webhooks.map(({ clientConfig }) =>
        (text(clientConfig.caBundle).match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map(
          (pem) => new X509Certificate(pem),
        ),
      ),
    );
  const text = (encoded = ''): string => Buffer.from(encoded, 'base64').toString();
  const certificate = async (key: string): Promise<X509Certificate | undefined> => {
    const { data } = await secret();
    return data?.[key] === undefined ? undefined : new X509Certificate(text(data[key]));
  };

  const empty = async (): Promise<void> => {
    await plane.client.ok('PATCH', SECRET, { data: null });
    for (const [index, { webhooks }] of (await configurations()).entries()) {
      const wiped = webhooks.map((_, at) => ({
        op: 'add',
        path: `/webhooks/${at}/clientConfig/caBundle`,
        value: '',
      }));
      await plane.client.ok('PATCH', CONFIGURATIONS[index] ?? '', wiped);
    }
  };

  const clientOf = async (user = MUSTER_USER): Promise<KubeClient> =>
    createKubeClient(await findConnection({ kubeconfig: await plane.kubeconfigFor(user) }));
  const keep = (client: KubeClient, given: { settleMs?: number; clock?: Clock; name?: string } = {}) => {
    const rotator = new CertificateRotator({
      client,
      secret: { namespace: MUSTER_NAMESPACE, name: given.name ?? 'muster-certificates' },
      serverName: '127.0.0.1',
      times: {
        leaf: { durationMs: 24 * HOUR, renewBeforeMs: 8 * HOUR },
        ca: { durationMs: 72 * HOUR, renewBeforeMs: 24 * HOUR },
        settleMs: given.settleMs ?? 1_000,
      },
      log: createLogger({ level: 'error', format: 'json', sink: { write: () => undefined } }),
      covers: () => undefined,
      ...(given.clock && { clock: given.clock }),
    });
    rotators.push(rotator);
    return rotator.run();
  };
  /** Stops it then: it would go on trying, and write what the next one is to miss. */
  const untilTold = async (rotator: CertificateRotator, problem: string): Promise<void> => {
    await until('it says what is wrong', () => {
      const told = rotator.notReady() ?? '';
      if (!told.includes(problem)) throw new Error(`it says: ${told}`);
      return true;
    });
    await rotator.stop();
  };

  const startOne = async (certificates: object = {}): Promise<Serving> => {
    const replica = await startServing({
      drain: { seconds: 1, maxSeconds: 20 },
      settings: {
        server: {
          webhooks: { drain: { seconds: 1, maxSeconds: 20 } },
          certificates: { mode: 'inCluster', ca: { settle: '1s' }, ...certificates },
        },
      },
      flags: ['--kubeconfig', await plane.kubeconfigFor(MUSTER_USER), '--server-name', '127.0.0.1'],
    });
    replicas.push(replica);
    return replica;
  };
  const route = (): void => service.setEndpoints(replicas.map(({ port }) => port));
  const metric = async ({ metricsPort }: Serving, name: string): Promise<number> => {
    const { text: all } = await httpGet(metricsPort, '/metrics');
    return Number(
      all
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? NaN,
    );
  };
  /** Each replica judges what it serves some time after it began to. */
  const untilCovered = (): Promise<boolean> =>
    until('every caBundle covers what each replica serves', async () => {
      const all = await Promise.all(replicas.map((one) => metric(one, 'muster_tls_ca_bundle_covers_leaf')));
      return all.every((covered) => covered === 1);
    });
  const doctorOfCertificates = async () => {
    const { io, written } = fakeIo();
    const config = join(replicas[0]?.directory ?? '', 'config.yaml');
    const flags = ['--kubeconfig', plane.kubeconfig, '--config', config, '--try-in', NAMESPACE, '-o', 'json'];
    await run(['doctor', ...flags], { ...io, now: () => new Date() });
    if (written.out === '') throw new Error(written.err);
    const { findings } = JSON.parse(written.out) as DoctorReport;
    return findings.filter(({ group }) => group === 'certificate');
  };
  const admitted = () =>
    until('a gang Pod is prepared', async () => {
      const { status, body } = await plane.client.request('POST', PODS, gangPod(), DRY_RUN);
      return status === 201 && body.metadata.annotations?.['pod-group-name'] !== undefined;
    });

  beforeAll(async () => {
    service = await loopbackService();
    plane = await startControlPlane({ auditPolicy: 'Metadata' });
    const overlay = join(packageRoot() ?? '', 'manifests/overlays/in-cluster');
    const all = kustomized(overlay) as unknown as KubernetesObject[];
    own = all.filter(({ metadata: { name } }) =>
      /^muster-(certificates|account-(gang-objects|webhooks))$/.test(name),
    );
    const webhooks = all.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
    const definitions = await manifestsIn('crds');
    await applyAll(plane.client, [
      ...[NAMESPACE, MUSTER_NAMESPACE].map((name) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      })),
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: NAMESPACE } },
      ...definitions,
      ...own,
      ...calledOnLoopback(webhooks, service.port, ''),
    ]);
    await untilEstablished(plane.client, definitions);
  }, 600_000);

  afterEach(async () => {
    await Promise.all(rotators.splice(0).map((rotator) => rotator.stop()));
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await service?.close();
    await plane?.stop();
  });

  test.each([0, 1, 2, 3])(
    'a first start that ends after %i writes is ended by the next process',
    async (writes) => {
      await empty();
      const client = await clientOf();
      let left = writes;
      const { promise: never, reject } = Promise.withResolvers<never>();
      const dying: Pick<KubeClient, 'mergePatch' | 'jsonPatch'> = {
        mergePatch: (...given) => (left-- > 0 ? client.mergePatch(...given) : never),
        jsonPatch: (...given) => (left-- > 0 ? client.jsonPatch(...given) : never),
      };
      // It cannot be stopped: it waits for an answer that does not come, as a process that is gone.
      const gone = new CertificateRotator({
        ...{
          client: { ...client, ...dying },
          secret: { namespace: MUSTER_NAMESPACE, name: 'muster-certificates' },
        },
        ...{ serverName: '127.0.0.1', covers: () => undefined },
        times: {
          leaf: { durationMs: 24 * HOUR, renewBeforeMs: 8 * HOUR },
          ca: { durationMs: 72 * HOUR, renewBeforeMs: 24 * HOUR },
          settleMs: 1_000,
        },
        log: createLogger({ level: 'error', format: 'json', sink: { write: () => undefined } }),
      }).run();
      await until('it has written what it could', () => left < 0);
      const pair = await keep(await clientOf(), { settleMs: 0 }).start();
      reject(new Error('it is gone'));
      await gone.stop();
      const [leaf, ca] = [new X509Certificate(pair.certificate), await certificate('ca.crt')];
      expect(ca && leaf.checkIssued(ca)).toBe(true);
      const stored = await bundles();
      expect(stored.length).toBeGreaterThan(5);
      expect(stored.map((cas) => cas.map(({ serialNumber }) => serialNumber))).toEqual(
        stored.map(() => [ca?.serialNumber]),
      );
    },
    60_000,
  );

  test.each([-2, 2])(
    'a machine whose clock is off by %i years makes a leaf that the API server takes',
    async (years) => {
      await empty();
      const date = (): Date => new Date(Date.now() + years * 365 * 24 * HOUR);
      const { notBefore, notAfter } = await keep(await clientOf(), {
        clock: { ...systemClock, date },
      }).start();
      const [from, to] = [notBefore, notAfter].map((one) => Math.round((one.getTime() - Date.now()) / HOUR));
      expect([from, to]).toEqual([-1, 24]);
      expect((await bundles()).map((cas) => cas.length)).not.toContain(0);
    },
    60_000,
  );

  test('what keeps it from serving is said, with the way out', async () => {
    await untilTold(
      keep(await clientOf(), { name: 'another' }),
      'there is none to serve yet: get secrets muster-system/another: 403 Forbidden',
    );
    await plane.client.ok('DELETE', SECRET);
    await untilTold(
      keep(await clientOf()),
      'there is no Secret muster-system/muster-certificates: apply manifests/components/in-cluster-certificates, in which it is empty',
    );
    await applyAll(plane.client, own);
    const annotations = { 'cert-manager.io/inject-ca-from': 'muster-system/muster-serving' };
    await empty();
    await plane.client.ok('PATCH', CONFIGURATIONS[0] ?? '', { metadata: { annotations } });
    await untilTold(
      keep(await clientOf()),
      'MutatingWebhookConfiguration muster has the annotation cert-manager.io/inject-ca-from, by which cert-manager writes its caBundles: take it off, or set server.certificates.mode to files',
    );
    await plane.client.ok('PATCH', CONFIGURATIONS[0] ?? '', { metadata: { annotations: null } });
    const unreachable = createKubeClient({
      ...{ server: 'https://127.0.0.1:1', tls: {}, namespace: undefined, source: 'a test' },
      headers: () => Promise.resolve({}),
      refresh: () => false,
    });
    await untilTold(keep(unreachable), 'no answer from https://127.0.0.1:1');
  }, 300_000);

  test('two replicas start with nothing, serve one leaf, and a second start writes nothing', async () => {
    await empty();
    await Promise.all([startOne(), startOne()]);
    route();
    await admitted();
    const [first, second] = replicas;
    const ends = await Promise.all(
      replicas.map((replica) => metric(replica, 'muster_tls_not_after_seconds')),
    );
    const leaf = await certificate('tls.crt');
    expect(ends).toEqual([1, 1].map(() => (leaf?.validToDate.getTime() ?? 0) / 1000));
    expect(leaf?.subjectAltName).toBe('IP Address:127.0.0.1');
    await untilCovered();
    const versions = async () =>
      [await secret(), ...(await configurations())].map(({ metadata }) => metadata.resourceVersion);
    const before = await versions();
    await second?.kill();
    replicas.pop();
    await startOne();
    await until(
      'it is ready',
      async () => (await httpGet(replicas.at(-1)?.healthPort ?? 0, '/readyz')).status === 200,
    );
    expect(await versions()).toEqual(before);
    expect(first?.log().filter(({ msg }) => msg === 'serving a new TLS certificate')).toHaveLength(1);
    await second?.close();
  }, 120_000);

  test('whoever empties caBundles, or deletes the Secret, costs nothing that lasts', async () => {
    route();
    const leaf = await certificate('tls.crt');
    const [path = ''] = CONFIGURATIONS;
    await plane.client.ok('PATCH', path, [
      { op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: '' },
    ]);
    await until('the caBundle is whole again', async () =>
      (await bundles()).every((cas) => cas.length === 1),
    );
    await admitted();
    await plane.client.ok('DELETE', SECRET);
    await until('it is told', () =>
      replicas.every((one) =>
        one.log().some(({ reason }) => String(reason).startsWith('there is no Secret')),
      ),
    );
    await admitted();
    await applyAll(plane.client, own);
    await until(
      'there is a new leaf',
      async () => (await certificate('tls.crt').catch(() => undefined)) !== undefined,
    );
    const cas = (await bundles()).map((one) => one.length);
    // The old CA stays beside the new one, for the leaf that is served until API servers have had time.
    expect(cas).toEqual(cas.map(() => 2));
    expect((await certificate('tls.crt'))?.serialNumber).not.toBe(leaf?.serialNumber);
    await admitted();
    expect((await doctorOfCertificates()).map(({ severity }) => severity)).toEqual(['ok', 'ok', 'ok', 'ok']);
  }, 120_000);

  test('an earlier install with RSA keys is served, and goes over to ECDSA under load', async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.close()));
    await empty();
    const now = new Date();
    const authority = await issueRsaAuthority({ commonName: 'Muster CA 1', now, days: 300 });
    const leaf = await issueRsaServing({ authority, commonName: '127.0.0.1', now, days: 60 });
    const data = {
      ...{ 'ca.crt': authority.certificate, 'ca.key': authority.key },
      ...{ 'tls.crt': leaf.certificate, 'tls.key': leaf.key },
    };
    const encoded = Object.entries(data).map(([key, pem]) => [key, Buffer.from(pem).toString('base64')]);
    await plane.client.ok('PATCH', SECRET, { data: Object.fromEntries(encoded) });
    await startOne();
    route();
    await admitted();
    const kindsOf = async () =>
      [await certificate('ca.crt'), await certificate('tls.crt')].map(
        (one) => one?.publicKey.asymmetricKeyType,
      );
    expect(await kindsOf()).toEqual(['rsa', 'rsa']);

    const load = createLoad(plane.client, 4);
    const untilServed = (...kinds: readonly string[]) =>
      until(`keys are of ${kinds.join(' and ')}`, async () => {
        const found = (await kindsOf()).join(' and ');
        if (found !== kinds.join(' and ')) throw new Error(`they are of ${found}`);
        const end = (await certificate('tls.crt'))?.validToDate.getTime() ?? 0;
        const ends = await Promise.all(replicas.map((one) => metric(one, 'muster_tls_not_after_seconds')));
        return ends.every((served) => served === end / 1000);
      });
    await startOne({ leaf: { renewBefore: '1500h' } });
    route();
    await untilServed('rsa', 'ec');
    await startOne({ ca: { renewBefore: '7500h', settle: '1s' } });
    route();
    await untilServed('ec', 'ec');
    const before = load.admitted();
    await until('Pods are admitted by the new certificate', () => load.admitted() > before + 20);
    await load.stop();
    expect(load.failures()).toEqual([]);
    await untilCovered();
    const cas = (await bundles()).map((one) => one.map(({ publicKey }) => publicKey.asymmetricKeyType));
    expect(cas).toEqual(cas.map(() => ['rsa', 'ec']));
  }, 180_000);

  test(`${LEAVES} leaf and ${CAS} CA rotations under load: no Pod is refused`, async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.close()));
    await empty();
    await Promise.all([startOne(QUICK), startOne(QUICK)]);
    route();
    await admitted();
    const load = createLoad(plane.client, 8);
    const [leaves, cas] = [new Set<string>(), new Set<string>()];
    await until(
      'enough rotations',
      async () => {
        const { data = {} } = await secret();
        leaves.add(data['tls.crt'] ?? '');
        cas.add(data['ca.crt'] ?? '');
        return leaves.size > LEAVES && cas.size > CAS && load.admitted() > 100;
      },
      { withinMs: inLength({ short: 60_000, long: 400_000 }), everyMs: 100 },
    );
    await load.stop();
    process.stderr.write(`${leaves.size - 1} leaves, ${cas.size - 1} CAs, ${load.admitted()} Pods\n`);
    expect(load.failures()).toEqual([]);
    const swaps = replicas.map(
      (one) => one.log().filter(({ msg }) => msg === 'serving a new TLS certificate').length,
    );
    expect(Math.min(...swaps)).toBeGreaterThan(LEAVES / 2);
    await untilCovered();
  }, 420_000);

  test('of a webhook configuration the account changes caBundle alone', async () => {
    const as = { as: MUSTER_USER, ...DRY_RUN };
    const refused = {
      status: 403,
      message: expect.stringContaining(
        "webhooks: Forbidden: of a webhook configuration Muster's account changes caBundle alone; change the rest as somebody else [AccountBounds]",
      ),
    };
    for (const path of CONFIGURATIONS) {
      const patch = (change: object) => plane.client.request('PATCH', path, change, as);
      const replace = (field: string, value: unknown) => [
        { op: 'replace', path: `/webhooks/0/${field}`, value },
      ];
      await until(
        'the policy is in force',
        async () => (await patch(replace('failurePolicy', 'Ignore'))).status === 403,
      );
      expect((await patch(replace('clientConfig/caBundle', ''))).status).toBe(200);
      for (const change of [
        replace('rules/0/resources', ['*/*']),
        replace('failurePolicy', 'Ignore'),
        replace('clientConfig/url', 'https://127.0.0.1:1/'),
        [{ op: 'remove', path: '/webhooks/0' }],
        [{ op: 'add', path: '/webhooks/0/namespaceSelector/matchLabels', value: { x: 'y' } }],
        { metadata: { labels: { x: 'y' } } },
      ]) {
        const { status, body } = await patch(change);
        expect({ status, message: body.message }).toEqual(refused);
      }
    }
  }, 60_000);

  test('each right of the component was used', async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.close()));
    await untilEachIsUsed(plane, 'components/in-cluster-certificates');
  }, 60_000);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inLength } from '../support/length.ts';
import type { Serving } from '../support/serving.ts';
import { issueAuthority, issueServingCertificate } from '../../src/tls/issue.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { httpGet } from './support/http-get.ts';
import { createLoad } from './support/load.ts';
import { loopbackService, type LoopbackService } from './support/loopback-service.ts';
import { MountedSecret } from './support/mounted-secret.ts';
import { gangPod, PODS, register, startReplica } from './support/registered-muster.ts';

const ROLLOUTS = inLength({ short: 2, long: 5 });
const ROTATIONS = inLength({ short: 3, long: 10 });
const ADMITTED = inLength({ short: 200, long: 500 });

/** Long enough for this test to change the endpoints meanwhile, on a busy machine, too. */
const LONG_DRAIN = { seconds: 4, maxSeconds: 30 };

clusterSuite('no Pod is lost', () => {
  let plane: ControlPlane;
  let service: LoopbackService;
  let secret: MountedSecret;
  let replicas: Serving[] = [];
  let authority: Awaited<ReturnType<typeof issueAuthority>>;

  const leaf = async (): Promise<Record<string, string>> => {
    const now = new Date();
    const issued = await issueServingCertificate({
      authority,
      dnsNames: ['localhost', '127.0.0.1'],
      now,
      days: 1,
    });
    return { 'tls.crt': issued.certificate, 'tls.key': issued.key, 'ca.crt': authority.certificate };
  };
  const route = (): void => service.setEndpoints(replicas.map(({ port }) => port));
  const metric = async (replica: Serving, name: string): Promise<number> => {
    const { text } = await httpGet(replica.metricsPort, '/metrics');
    return text
      .split('\n')
      .filter((line) => line.startsWith(name))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };

  beforeAll(async () => {
    authority = await issueAuthority({ commonName: 'test', now: new Date(), days: 1 });
    secret = new MountedSecret(await mkdtemp(join(tmpdir(), 'muster-secret-')));
    await secret.put(await leaf());
    service = await loopbackService();
    [plane, ...replicas] = await Promise.all([
      startControlPlane(),
      startReplica(secret.path, LONG_DRAIN),
      startReplica(secret.path, LONG_DRAIN),
    ]);
    route();
    await register(plane, service.port, authority.certificate);
  }, 600_000);

  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await service?.close();
    await plane?.stop();
    if (secret !== undefined) await rm(secret.path, { recursive: true, force: true });
  });

  test(`${ROTATIONS} certificate rotations under load`, async () => {
    const load = createLoad(plane.client, 8);
    for (let round = 1; round <= ROTATIONS; round += 1) {
      await secret.put(await leaf());
      for (const replica of replicas) {
        await until(
          `replica serves certificate ${round}`,
          async () => (await metric(replica, 'muster_tls_reload_total{result="swapped"}')) >= round,
        );
      }
    }
    await until('a good number of Pods came through', () => load.admitted() > ADMITTED);
    await load.stop();
    expect(load.failures()).toEqual([]);
  }, 120_000);

  test('a broken rotation changes nothing: the last good pair is served', async () => {
    const load = createLoad(plane.client, 4);
    const good = await leaf();
    await secret.put({ ...good, 'tls.key': (await leaf())['tls.key'] ?? '' });
    for (const replica of replicas) {
      await until(
        'the pair is rejected',
        async () => (await metric(replica, 'muster_tls_reload_total{result="rejected"}')) > 0,
      );
    }
    await secret.put(good);
    await load.stop();
    expect(load.failures()).toEqual([]);
    expect(load.admitted()).toBeGreaterThan(0);
  }, 60_000);

  test(`${ROLLOUTS} rollouts under load: SIGTERM, and not one Pod refused`, async () => {
    const load = createLoad(plane.client, 8);
    for (let round = 0; round < ROLLOUTS; round += 1) {
      const fresh = await startReplica(secret.path, LONG_DRAIN);
      const old = replicas.shift();
      replicas.push(fresh);
      // The old replica leaves the endpoints a moment after it was told to end, as in a cluster.
      const ended = old?.terminate();
      await until('the old replica is unready', async () => {
        const { status, text } = await httpGet(old?.healthPort ?? 0, '/readyz');
        return status === 503 && text.includes('[-]not-draining');
      });
      route();
      expect(await ended).toBe(0);
      await old?.close();
    }
    await load.stop();
    expect(load.failures()).toEqual([]);
    expect(load.admitted()).toBeGreaterThan(ADMITTED);
  }, 180_000);

  test('a replica killed under load costs at most what it held, and everything after it goes well', async () => {
    const workers = 8;
    const load = createLoad(plane.client, workers);
    await until('load runs', () => load.admitted() > 50);
    const [dead, ...others] = replicas;
    replicas = [await startReplica(secret.path), ...others];
    const died = dead?.kill();
    // At once: what fails between the two is counted, however long the machine takes from one to the other.
    route();
    await died;
    const failures = load.failures().length;
    const before = load.admitted();
    await until('Pods come through again', () => load.admitted() > before + 200);
    await load.stop();
    await dead?.close();
    expect(failures).toBeLessThanOrEqual(workers * 2);
    // Nothing more fails once the endpoints are right, but for what was on its way to the dead replica.
    expect(load.failures().length).toBeLessThanOrEqual(workers * 2);
  }, 60_000);

  test('the API server restarts, and admission goes on', async () => {
    await plane.restartApiServer();
    const { status, body } = await plane.client.request('POST', PODS, gangPod(), {
      query: { dryRun: 'All' },
    });
    expect(status).toBe(201);
    expect(body.metadata.annotations).toHaveProperty('pod-group-name');
  }, 60_000);
});

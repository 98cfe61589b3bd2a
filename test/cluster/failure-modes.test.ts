import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_USER } from '../../src/api/names.ts';
import type { BackendFactory } from '../../src/backends/backend.ts';
import { native } from '../../src/backends/native/backend.ts';
import { kai } from '../../src/backends/kai/backend.ts';
import { metricsAt } from '../support/observed.ts';
import type { Serving } from '../support/serving.ts';
import { webhookConfigurations } from '../support/manifests.ts';
import type { ServerProgram } from '../../src/server/program.ts';
import { issueAuthority } from '../../src/tls/issue.ts';
import { issueClientCertificate } from '../support/client-certificate.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { readKubeconfig } from './control-plane/kubeconfig.ts';
import { applyAll } from './support/apply.ts';
import { startFaultProxy, type Fate, type ProxiedRequest } from './support/fault-proxy.ts';
import { inProcess } from './support/in-process.ts';
import { grantRights, startLoopingReplica } from './support/looping-muster.ts';
import { loopbackService, type LoopbackService } from './support/loopback-service.ts';
import {
  certificateDirectory,
  DRY_RUN,
  GANGS,
  GATE,
  gangPod,
  gatesOf,
  podGang,
  PODS,
  register,
  type StoredPod,
} from './support/registered-muster.ts';
import { secondWebhook } from './support/second-webhook.ts';

/** A backend that reaches for what it has not declared. */
const greedy: BackendFactory = {
  name: 'greedy',
  create: (settings) => ({
    ...kai.create(settings),
    name: 'greedy',
    schedulerName: 'greedy',
    preparePod: (_pod, _gang, patch) => patch.label('grove.io/podgang', 'mine', 'greed'),
  }),
};

clusterSuite('what users see when something is wrong', () => {
  let plane: ControlPlane;
  let service: LoopbackService;
  let certificates: Awaited<ReturnType<typeof certificateDirectory>>;
  let muster: ServerProgram;
  let held: Promise<void> | undefined;

  beforeAll(async () => {
    certificates = await certificateDirectory();
    service = await loopbackService();
    muster = await inProcess(certificates.path, {
      factories: [native, kai, greedy],
      settings: {
        schedulerName: undefined,
        scheduler: {
          profiles: [{ name: 'kai-scheduler' }, { name: 'greedy' }],
          defaultProfileName: 'kai-scheduler',
        },
        server: { webhooks: { limits: { maxInFlight: 2 } } },
      },
      overrides: {
        beforeDecision: async () => void (await held),
      },
    });
    service.setEndpoints([muster.ports.webhooks]);
    plane = await startControlPlane();
    await register(plane, service.port, certificates.ca);
  }, 600_000);

  afterAll(async () => {
    await muster?.close();
    await service?.close();
    await plane?.stop();
    await certificates?.remove();
  });

  const create = (object: object = gangPod(), options = {}) =>
    plane.client.request('POST', PODS, object, options);
  const shed = async (reason: string): Promise<number> => {
    const line = (await muster.metrics.expose()).body
      .split('\n')
      .find((text) => text.startsWith(`muster_admission_shed_total{reason="${reason}"}`));
    return Number(line?.split(' ').at(-1));
  };

  test('V54: overload costs no Pod: the API server is told to come back, and does so within the same call', async () => {
    const enough = Promise.withResolvers<void>();
    held = enough.promise;
    const creating = Array.from({ length: 8 }, () => create(gangPod(), DRY_RUN));
    await until('some are refused', async () => (await shed('requests')) > 0);
    enough.resolve();
    const answers = await Promise.all(creating);
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
  });

  test('a backend that breaks its contract is named, and no Pod is harmed', async () => {
    const { status, body } = await create(
      gangPod({ name: 'harmed' }, {}, { 'grove.io/scheduler-name': 'greedy' }),
    );
    expect(status).toBe(500);
    expect(body.message).toMatch(
      /failed calling webhook "pods.muster.dev": failed to call webhook: muster \(.+\): backend greedy called label grove.io\/podgang, which is outside its patchSurface/,
    );
    expect((await plane.client.request('GET', `${PODS}/harmed`)).status).toBe(404);
    expect((await create(gangPod(), DRY_RUN)).status).toBe(201);
  });

  test('V11: an object that escaping blows up is refused with the limit that it breaks, and Muster lives on', async () => {
    const annotations = { big: '<'.repeat(2_900_000) };
    const { status, body } = await create(gangPod({ name: 'big', annotations }));
    expect(status).toBe(500);
    expect(body.message).toContain('the review is larger than 8388608 bytes');
    expect((await create(gangPod(), DRY_RUN)).status).toBe(201);
  });

  test('R11: a patch that does not apply refuses the Pod even under failurePolicy Ignore', async () => {
    const broken = await secondWebhook(plane.client, 'zz-broken', certificates.path, {
      failurePolicy: 'Ignore',
      answer: () => ({ patch: [{ op: 'add', path: '/metadata/nope/x', value: 'y' }] }),
    });
    const pod = gangPod({ generateName: 'w-' }, {}, { 'zz-broken': 'yes' });
    const refused = await until('the broken webhook is called', async () => {
      const answer = await create(pod, DRY_RUN);
      return answer.status !== 201 && answer;
    });
    expect(refused.status).toBe(500);
    expect(refused.body.message).toContain(
      'add operation does not apply: doc is missing path: "/metadata/nope/x"',
    );
    await broken.close();
  });

  test('R23: a 503 with an integer Retry-After is asked again within the same call, one with a date is not', async () => {
    const answers: Record<string, (count: number) => { status?: number; headers?: Record<string, string> }> =
      {
        'zz-integer': (count) =>
          count <= 2 ? { status: 503, headers: { 'retry-after': '0', connection: 'close' } } : {},
        'zz-date': () => ({ status: 503, headers: { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' } }),
      };
    for (const [name, answer] of Object.entries(answers)) {
      const other = await secondWebhook(plane.client, name, certificates.path, {
        answer: ({ count }) => answer(count),
      });
      const pod = gangPod({ generateName: 'w-' }, {}, { [name]: 'yes' });
      const first = await until(`${name} is called`, async () => {
        const { status } = await create(pod, DRY_RUN);
        return other.calls() > 0 && { status, calls: other.calls() };
      });
      expect(first).toEqual(name === 'zz-integer' ? { status: 201, calls: 3 } : { status: 500, calls: 1 });
      await other.close();
    }
  });

  test('a gang that stands is released while no webhook answers', async () => {
    await grantRights(plane, ['kai-scheduler']);
    const podgroups = [{ name: 'worker', minReplicas: 2 }];
    const backend = { 'grove.io/scheduler-name': 'default-scheduler' };
    const labels = { 'grove.io/podgang': 'stands', ...backend };
    const metadata = { name: 'stands', labels: backend };
    await plane.client.ok('POST', GANGS, { ...podGang(), metadata, spec: { podgroups } });
    for (const name of ['stands-0', 'stands-1'])
      expect((await create(gangPod({ name }, {}, labels))).status).toBe(201);
    const nobody = await loopbackService();
    let begun: Serving | undefined;
    try {
      await applyAll(plane.client, await webhookConfigurations(nobody.port, certificates.ca));
      await until('nobody is asked', async () => (await create(gangPod(), DRY_RUN)).status === 500);
      expect((await plane.client.request('POST', GANGS, podGang('new'), DRY_RUN)).status).toBe(500);
      const gates = async (): Promise<string[][]> =>
        (await plane.client.ok<{ items: StoredPod[] }>('GET', PODS)).items.map(gatesOf);
      expect(await gates()).toEqual([[GATE], [GATE]]);
      begun = await startLoopingReplica(plane, certificates.path);
      await until('its gates are off', async () => (await gates()).flat().length === 0);
      expect(await gates()).toEqual([[], []]);
    } finally {
      await begun?.close();
      await nobody.close();
    }
  }, 120_000);

  /** A Muster whose requests go through a proxy, and which the API server calls. */
  async function beginning(
    fates: (request: ProxiedRequest) => Fate,
    test: (begun: Serving) => Promise<void>,
  ) {
    await grantRights(plane, ['kai-scheduler']);
    const access = await readKubeconfig(await plane.kubeconfigFor(MUSTER_USER));
    const proxy = await startFaultProxy(access, certificates.path, 'begins');
    const another = await loopbackService();
    let begun: Serving | undefined;
    try {
      // The API server calls an address at which nobody is yet.
      const configurations = await webhookConfigurations(another.port, certificates.ca);
      for (const { webhooks = [] } of configurations) {
        for (const webhook of webhooks) Object.assign(webhook, { timeoutSeconds: 30 });
      }
      await applyAll(plane.client, configurations);
      await until('it is asked there', async () => (await create(gangPod(), DRY_RUN)).status === 500);
      proxy.setFates(fates);
      begun = await startLoopingReplica(plane, certificates.path, {}, proxy.kubeconfig);
      another.setEndpoints([begun.port]);
      await test(begun);
    } finally {
      await begun?.close();
      await proxy.close();
      await another.close();
    }
  }

  const named = (backend: string): object => gangPod(undefined, {}, { 'grove.io/scheduler-name': backend });
  const untilShed = ({ metricsPort }: Serving, reasons: readonly string[]): Promise<unknown> =>
    until('they are told to come back', async () => {
      const text = await metricsAt(metricsPort);
      return reasons.every((reason) =>
        new RegExp(`^muster_admission_shed_total\\{reason="${reason}"\\} [1-9]`, 'm').test(text),
      );
    });

  test('a Muster that has only just begun costs no Pod: it is asked again within the same call', async () => {
    let look = (): void => undefined;
    const looks = new Promise<void>((resolve) => (look = resolve));
    // Its caches are not filled and its backends have not looked: but for the version nothing that it asks is answered.
    const nothing = ({ path }: ProxiedRequest): Fate => (path.startsWith('/version') ? {} : { after: looks });
    await beginning(nothing, async (begun) => {
      expect((await fetch(`http://127.0.0.1:${begun.healthPort}/readyz`)).status).toBe(503);
      // The one names its backend; for the other its gang has to be read.
      const pending = Promise.all([named('kai-scheduler'), gangPod()].map((pod) => create(pod, DRY_RUN)));
      await untilShed(begun, ['not-ready', 'gang-unread']);
      look();
      for (const { status, body } of await pending) {
        expect([status, body.message]).toEqual([201, undefined]);
        expect(JSON.stringify(body)).toContain('pod-group-name');
      }
    }).finally(look);
  }, 120_000);

  test('a look at the cluster that fails costs no Pod of that backend, and nobody else anything', async () => {
    let fails = true;
    const discovery = ({ path }: ProxiedRequest): Fate =>
      fails && /^\/apis\/scheduling\.k8s\.io(\?|$)/.test(path) ? { fault: 'error' } : {};
    await beginning(discovery, async (begun) => {
      const readyz = async (): Promise<string> =>
        (await fetch(`http://127.0.0.1:${begun.healthPort}/readyz`)).text();
      await until('only that look is missing', async () =>
        (await readyz()).includes('[-]loop-caches failed: backend default-scheduler could not look'),
      );
      const pending = create(named('default-scheduler'), DRY_RUN);
      await untilShed(begun, ['not-ready']);
      // KAI was looked for and is missing, which is known; a Pod without a gang comes to no backend.
      const alone = { ...gangPod(), metadata: { generateName: 'alone-' } };
      for (const pod of [named('kai-scheduler'), alone])
        expect((await create(pod, DRY_RUN)).status).toBe(201);
      fails = false;
      const { status, body } = await pending;
      expect([status, body.message]).toEqual([201, undefined]);
      expect(JSON.stringify(body)).toContain('schedulingGroup');
      await until('it is ready', async () => (await readyz()) === 'ok');
    });
  }, 120_000);
});

clusterSuite('an API server that shows a client certificate', () => {
  test('V21: is let in under its own name and told when its name is not allowed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'muster-client-'));
    const certificates = await certificateDirectory();
    const now = new Date();
    const authority = await issueAuthority({ commonName: 'callers', now, days: 1 });
    const caller = await issueClientCertificate({ authority, commonName: 'kube-apiserver', now, days: 1 });
    const caFile = join(directory, 'callers.crt');
    await writeFile(caFile, authority.certificate);
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    await writeFile(
      join(directory, 'kubeconfig'),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        users: [
          {
            name: '*',
            user: {
              'client-certificate-data': base64(caller.certificate),
              'client-key-data': base64(caller.key),
            },
          },
        ],
      }),
    );
    const webhooks = { name: 'MutatingAdmissionWebhook' };
    const configuration = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'WebhookAdmissionConfiguration',
      kubeConfigFile: join(directory, 'kubeconfig'),
    };
    await writeFile(
      join(directory, 'admission.json'),
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AdmissionConfiguration',
        plugins: [
          { ...webhooks, configuration },
          { name: 'ValidatingAdmissionWebhook', configuration },
        ],
      }),
    );
    const started = (allowedNames: string[]): Promise<ServerProgram> =>
      inProcess(certificates.path, {
        settings: { server: { webhooks: { clientCertificate: { caFile, allowedNames } } } },
      });
    const [welcome, stranger] = await Promise.all([started(['kube-apiserver']), started(['somebody-else'])]);
    const plane = await startControlPlane({ admissionControlConfigFile: join(directory, 'admission.json') });
    try {
      await register(plane, welcome.ports.webhooks, certificates.ca);
      for (const configured of await webhookConfigurations(stranger.ports.webhooks, certificates.ca)) {
        await plane.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(configured) });
      }
      const refused = await until('the other replica is called', async () => {
        const answer = await plane.client.request('POST', PODS, gangPod(), DRY_RUN);
        return answer.status !== 201 && answer;
      });
      expect(refused.body.message).toContain(
        'the client certificate is for "kube-apiserver"; allowed: "somebody-else"',
      );
    } finally {
      await plane.stop();
      await Promise.all([welcome.close(), stranger.close()]);
      await certificates.remove();
      await rm(directory, { recursive: true });
    }
  }, 120_000);
});

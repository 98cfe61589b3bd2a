import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DoctorReport } from '../../../src/cli/doctor/render.ts';
import { run } from '../../../src/cli/run.ts';
import { issueDevelopmentCertificates } from '../../../src/tls/issue.ts';
import { fakeIo } from '../../unit/cli/fake-io.ts';
import { json, status, type Answer } from '../kube/fault-server.ts';
import { WatchedApi } from './watched-api.ts';

let api: WatchedApi;
beforeEach(async () => {
  api = await WatchedApi.start();
});
afterEach(() => api.close());

const doctor = async (...args: readonly string[]) => {
  const { io, written } = fakeIo();
  const code = await run(['doctor', '--kubeconfig', api.kubeconfig, ...args], io);
  return { code, ...written };
};
const found = async (check: string): Promise<string[]> => {
  const { out } = await doctor('-o', 'json');
  const { findings } = JSON.parse(out) as DoctorReport;
  return findings.filter((one) => one.check === check).map((one) => `${one.severity} ${one.found}`);
};
/** Nothing is there, but for what was answered before. */
const otherwiseEmpty = (): void => {
  const nothing: Answer[] = Array.from({ length: 100 }, () => status(404, 'the server could not find it'));
  api.server.answer('GET /version', ...Array.from({ length: 2 }, () => json({ gitVersion: 'v1.36.3' })));
  api.server.answer('GET /api', ...nothing).answer('POST /api', ...nothing);
};

describe('muster doctor', () => {
  test('with nobody at the address of the kubeconfig', async () => {
    await api.server.close();
    const { code, out, err } = await doctor();
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(
      /^error\[CLUSTER_UNREACHABLE\]: get \/version: no answer from https:\S+ .*\nfix: Check that the API server runs .*\n$/,
    );
  });

  test('with a cluster that goes away meanwhile', async () => {
    api.server.answer('GET /version', json({ gitVersion: 'v1.36.3' }));
    api.server.answer('GET /apis/apps', (response) => void response.destroy());
    api.server.answer(
      'GET /apis/apps',
      ...Array.from({ length: 4 }, (): Answer => (response) => void response.destroy()),
    );
    const { code, out, err } = await doctor();
    expect([code, out]).toEqual([3, '']);
    expect(err).toContain(
      'error[CLUSTER_UNREACHABLE]: get deployments muster-system/muster: no answer from https:',
    );
  });

  test('with a configuration that is not there', async () => {
    otherwiseEmpty();
    const { code, err } = await doctor('--config', 'nowhere.yaml');
    expect(code).toBe(2);
    expect(err).toMatch(
      /^error\[CONFIG_UNREADABLE\]: cannot read the configuration file nowhere\.yaml: .*\nfix: Name an existing /,
    );
  });

  test('in a cluster without Muster', async () => {
    otherwiseEmpty();
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toContain(
      '\ndefinitions\n  ✗ podgangs.scheduler.grove.io  the cluster does not know podgangs.scheduler.grove.io\n' +
        '                                 fix: kubectl apply -k manifests/crds\n',
    );
    expect(out).toMatch(/\n\d+ problems, \d+ warnings, \d+ not checked\n$/);
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });
});

describe('muster doctor --fleet', () => {
  test('in an API server that is not Karmada’s', async () => {
    otherwiseEmpty();
    const { code, out } = await doctor('--fleet');
    expect(code).toBe(1);
    expect(out).toMatch(
      /\ndefinitions\n {2}✗ resourcebindings +the API server does not know resourcebindings.work.karmada.io\n +fix: name Karmada’s API server with --kubeconfig\n/,
    );
    expect(out).toContain('Muster is not registered: Karmada asks others about workloads');
    expect(out).toContain('no queues here: bindings are placed as they come');
    expect(out).toMatch(/\n2 problems, 0 warnings, 2 not checked\n$/);
  });

  test('with a configuration whose parts are not there', async () => {
    otherwiseEmpty();
    const file = join(await mkdtemp(join(tmpdir(), 'muster-doctor-')), 'config.yaml');
    await writeFile(
      file,
      'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nfleet: { interpreter: true, assigner: { enabled: true }, queues: { enabled: true } }\n',
    );
    const { code, out } = await doctor('--fleet', '--config', file, '-o', 'json');
    expect(code).toBe(1);
    const { findings } = JSON.parse(out) as DoctorReport;
    const problems = findings.filter(({ severity }) => severity === 'problem').map(({ check }) => check);
    expect(problems.slice(2)).toEqual(['fleetqueues', 'bindings', 'webhooks', 'leader', 'clusters']);
  });

  test('with nobody at the address of the kubeconfig', async () => {
    await api.server.close();
    expect((await doctor('--fleet')).code).toBe(3);
  });
});

describe('what the Deployment mounts is what Muster is judged by', () => {
  const deployment = {
    metadata: { namespace: 'muster-system', name: 'muster' },
    spec: {
      template: {
        spec: {
          containers: [{ name: 'muster', image: 'muster:dev' }],
          volumes: [
            { name: 'config', configMap: { name: 'muster-config-abc' } },
            { name: 'certs', secret: { secretName: 'its-cert' } },
          ],
        },
      },
    },
  };
  const CONFIG_MAP = 'GET /api/v1/namespaces/muster-system/configmaps/muster-config-abc';
  const SECRET = 'GET /api/v1/namespaces/muster-system/secrets/its-cert';
  const head = 'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n';
  const mounted = (text: string | undefined): void => {
    api.server.answer('GET /apis/apps/v1/namespaces/muster-system/deployments/muster', json(deployment));
    api.server.answer(CONFIG_MAP, json({ data: text === undefined ? {} : { 'config.yaml': text } }));
  };

  test.each([
    [
      `${head}scheduler:\n  profiles:\n    - name: volcano\n`,
      'ok by ConfigMap muster-system/muster-config-abc',
      'problem not ready, its gangs wait: failed to get CRD podgroups.scheduling.volcano.sh',
    ],
    [
      `${head}schedulerNam: volcano\n`,
      'problem ConfigMap muster-system/muster-config-abc is wrong: ',
      undefined,
    ],
    [
      `${head}scheduler:\n  profiles:\n    - name: line\n      module: ./line.js\n`,
      'not-checked ConfigMap muster-system/muster-config-abc: scheduler.profiles[0].module: cannot read ./line.js',
      undefined,
    ],
    [
      undefined,
      'problem ConfigMap muster-system/muster-config-abc, which the Deployment mounts, has no config.yaml',
      undefined,
    ],
  ])('%j', async (text, configuration, volcano) => {
    mounted(text);
    otherwiseEmpty();
    const { out } = await doctor('-o', 'json');
    const { findings } = JSON.parse(out) as DoctorReport;
    const of = (check: string): string[] =>
      findings.filter((one) => one.check === check).map((one) => `${one.severity} ${one.found}`);
    expect(of('configuration')).toEqual([expect.stringContaining(configuration)]);
    expect(of('volcano')).toEqual(volcano === undefined ? [] : [expect.stringContaining(volcano)]);
  });

  test('the certificate comes from its Secret where no replica can be reached', async () => {
    mounted(head);
    const { certificate } = await issueDevelopmentCertificates({
      dnsNames: ['muster.muster-system.svc'],
      days: 90,
      now: new Date('2026-01-01T00:00:00Z'),
    });
    api.server.answer(SECRET, json({ data: { 'tls.crt': Buffer.from(certificate).toString('base64') } }));
    otherwiseEmpty();
    expect(await found('dates')).toEqual([
      expect.stringMatching(
        /^ok tls\.crt of the Secret muster-system\/its-cert is valid until 2026-0[34]-\d\d$/,
      ),
    ]);
  });

  /** Webhooks that call the Service, and its endpoints. */
  const behindService = (endpoints: readonly object[]): void => {
    mounted(head);
    const clientConfig = { service: { name: 'muster', namespace: 'muster-system', path: '/mutate-v1-pod' } };
    const configuration = {
      metadata: { name: 'muster' },
      webhooks: [{ name: 'pods.muster.dev', clientConfig }],
    };
    const slice = { ports: [{ name: 'webhooks', port: api.server.port }], endpoints };
    api.server.answer(
      'GET /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
      json({ items: [configuration] }),
    );
    api.server.answer(
      'GET /apis/discovery.k8s.io/v1/namespaces/muster-system/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dmuster',
      json({ items: [slice] }),
    );
    otherwiseEmpty();
  };

  test('or from a replica behind the Service, where one can be reached', async () => {
    behindService([{ addresses: ['127.0.0.1'], conditions: { ready: true } }]);
    const { port } = api.server;
    expect(await found('names')).toEqual([
      `problem the API server calls muster.muster-system.svc, and the certificate of 127.0.0.1:${port} is for DNS:localhost, IP Address:127.0.0.1`,
    ]);
    // That the Secret is there is looked at all the same, a replica that runs does not notice; and whether the usual one is,
    // and that of the component for certificates in the cluster.
    expect(api.server.requests.filter((line) => line.includes('/secrets/'))).toEqual(
      ['muster-certificates', 'its-cert', 'muster-serving-cert'].map(
        (name) => `GET /api/v1/namespaces/muster-system/secrets/${name}`,
      ),
    );
  });

  test('and not from a replica that is going', async () => {
    behindService([{ addresses: ['127.0.0.1'], conditions: { ready: false } }]);
    expect(await found('serving')).toEqual([
      'problem the Secret with the serving certificate is not there in muster-system, and no replica shows one',
    ]);
  });
});

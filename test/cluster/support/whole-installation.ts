import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createServer } from 'node:tls';
import { kustomized } from '../../../src/cli/doctor/installed/kustomize.ts';
import type { DoctorReport } from '../../../src/cli/doctor/render.ts';
import { packageRoot } from '../../../src/cli/version.ts';
import { run } from '../../../src/cli/run.ts';
import { issueDevelopmentCertificates } from '../../../src/tls/issue.ts';
import { calledOnLoopback, type KubernetesObject } from '../../support/manifests.ts';
import { fakeIo } from '../../unit/cli/fake-io.ts';
import { locateBinaries } from '../control-plane/binaries.ts';
import { FRUGAL_GO } from '../control-plane/managed-process.ts';
import { RELEASE } from '../control-plane/releases.ts';
import { until } from '../control-plane/until.ts';
import { applyAll, pathOf } from './apply.ts';
import { certManager } from './cert-manager.ts';
import { NAMESPACE } from './registered-muster.ts';
import { withMuster, type OnMuster } from './with-muster.ts';

const SYSTEM = 'muster-system';
const DEPLOYMENT = `/apis/apps/v1/namespaces/${SYSTEM}/deployments/muster`;
const SCHEDULER = {
  profiles: [{ name: 'default-scheduler' }],
  defaultProfileName: 'default-scheduler',
};

const folder = (name: string): string => join(packageRoot() ?? '', 'manifests', name);

export const COMPONENTS: readonly string[] = readdirSync(folder('components')).sort();

/** What `kubectl apply -k` of an overlay with these components applies. */
export const shipped = (overlay: string, components: readonly string[] = []): KubernetesObject[] =>
  kustomized(
    folder(overlay),
    components.map((name) => folder(`components/${name}`)),
  ) as unknown as KubernetesObject[];

/** Everything that an overlay or the chart brings, and Muster itself, which runs outside of the cluster. */
export interface WholeInstallation {
  readonly on: OnMuster;
  readonly doctor: (options?: Asked, ...args: string[]) => Promise<DoctorReport & { readonly code: number }>;
  /** What `--fix` prints. */
  readonly fix: () => Promise<string>;
  /** Applies objects as they ship, but for where the webhooks lead. */
  readonly install: (objects: KubernetesObject[]) => Promise<void>;
  readonly objects: KubernetesObject[];
  /** Deletes those of them that are not in the whole installation. */
  readonly takeAway: (objects: KubernetesObject[]) => Promise<void>;
  /** Has the webhooks lead to somebody who shows this certificate, and never answers. */
  readonly showing: (certificate: {
    readonly now: Date;
    readonly days: number;
    readonly dnsNames?: readonly string[];
  }) => Promise<void>;
  /** As the Deployment controller would, had it rolled it out. */
  readonly rolledOut: (status?: object) => Promise<void>;
  /** The certificate’s Secret, with what is there instead. */
  readonly putSecret: (data?: object) => Promise<void>;
  /** Runs what the doctor printed, as a person pastes it. */
  readonly shell: (script: string) => Promise<string>;
}

interface Asked {
  readonly kubeconfig?: string;
  readonly now?: Date;
}

/** @param objects everything that is installed: that of `manifests/overlays/cert-manager`, or as much */
export async function wholeInstallation(
  objects = shipped('overlays/cert-manager'),
): Promise<WholeInstallation> {
  const on = await withMuster({ muster: 'none' });
  const { plane, certificates } = on;
  const doctor = async ({ kubeconfig = plane.kubeconfig, now }: Asked = {}, ...args: string[]) => {
    const { io, written } = fakeIo();
    const code = await run(['doctor', '--kubeconfig', kubeconfig, '--try-in', NAMESPACE, ...args], {
      ...io,
      now: () => now ?? new Date(),
    });
    if (written.out === '') throw new Error(written.err);
    return { code, out: written.out };
  };
  const { kubectl } = await locateBinaries({ need: ['kubectl'], build: false });
  await applyAll(plane.client, certManager);
  const muster = await on.start({ scheduler: SCHEDULER });

  const install = (objects: KubernetesObject[]): Promise<void> =>
    applyAll(plane.client, calledOnLoopback(structuredClone(objects), muster.port, certificates.ca));
  const rolledOut = async (status: object = {}): Promise<void> => {
    const { metadata } = await plane.client.ok<{ metadata: { generation: number } }>('GET', DEPLOYMENT);
    await plane.client.ok('PATCH', `${DEPLOYMENT}/status`, {
      status: {
        ...{ replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 },
        ...{ observedGeneration: metadata.generation, unavailableReplicas: null },
        conditions: [],
        ...status,
      },
    });
  };
  const secret = `/api/v1/namespaces/${SYSTEM}/secrets`;
  const files = Object.fromEntries(
    await Promise.all(
      ['tls.crt', 'tls.key', 'ca.crt'].map(
        async (name) => [name, (await readFile(join(certificates.path, name))).toString('base64')] as const,
      ),
    ),
  );
  const putSecret = async (data: object = files): Promise<void> => {
    await plane.client.request('DELETE', `${secret}/muster-serving-cert`);
    await plane.client.ok('POST', secret, { metadata: { name: 'muster-serving-cert' }, data });
  };

  const takeAway = async (given: KubernetesObject[]): Promise<void> => {
    const keyOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`;
    const kept = new Set(objects.map(keyOf));
    for (const object of given) if (!kept.has(keyOf(object))) await plane.client.ok('DELETE', pathOf(object));
  };
  const showing: WholeInstallation['showing'] = async ({ dnsNames = ['127.0.0.1'], ...validity }) => {
    const issued = await issueDevelopmentCertificates({ dnsNames: [...dnsNames], ...validity });
    const server = createServer({ cert: issued.certificate, key: issued.key }, (socket) => socket.destroy());
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    on.before(() => new Promise((resolve) => server.close(resolve)));
    const webhooks = objects.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
    const { port } = server.address() as AddressInfo;
    await applyAll(plane.client, calledOnLoopback(structuredClone(webhooks), port, issued.caCertificate));
  };

  await until('cert-manager is served', () =>
    plane.client.ok('GET', `/apis/cert-manager.io/v1/namespaces/${SYSTEM}/certificates`),
  );
  await install(objects);
  await rolledOut();
  await putSecret();
  for (const component of ['kube-scheduler', 'kube-controller-manager']) {
    await plane.client.ok('POST', '/api/v1/namespaces/kube-system/pods', controlPlanePod(component));
  }
  const report = async (asked?: Asked, ...args: string[]) => {
    const { code, out } = await doctor(asked, '-o', 'json', ...args);
    return { code, ...(JSON.parse(out) as DoctorReport) };
  };
  return {
    ...{ on, objects, install, takeAway, rolledOut, putSecret, showing },
    doctor: report,
    fix: async () => (await doctor({}, '--fix')).out,
    shell: (script) =>
      new Promise((resolve, reject) => {
        const env = {
          ...FRUGAL_GO,
          PATH: `${dirname(kubectl)}:${process.env['PATH'] ?? ''}`,
          KUBECACHEDIR: join(certificates.path, 'kubectl'),
        };
        const child = execFile('sh', ['-e'], { env }, (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(new Error(`${script}\n${stderr}`));
        });
        child.stdin?.end(script);
      }),
  };
}

const GATES = `--feature-gates=${Object.keys(RELEASE.featureGates)
  .map((gate) => `${gate}=true`)
  .join(',')}`;

/** As kubeadm runs it: all that is read are its label and its flags. */
export const controlPlanePod = (component: string, flags = GATES): object => ({
  metadata: { name: `${component}-node-1`, labels: { component, tier: 'control-plane' } },
  spec: {
    nodeName: 'node-1',
    containers: [{ name: component, image: `registry.example/${component}`, command: [component, flags] }],
  },
});

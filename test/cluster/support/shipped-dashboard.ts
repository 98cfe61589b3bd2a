import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { run } from '../../../src/cli/run.ts';
import { ownList, ownObject, ownString, type JsonObject } from '../../../src/json/json.ts';
import { processAt } from '../../component/cli/fake-tty.ts';
import type { KubernetesObject } from '../../support/manifests.ts';
import { until } from '../control-plane/until.ts';
import type { WholeInstallation } from './whole-installation.ts';

const NAME = 'muster-dashboard';
const ACCOUNT = `/api/v1/namespaces/muster-system/serviceaccounts/${NAME}`;

/** Runs the program with the arguments of the Deployment, its files and the rights of its account, and asks as a browser does. */
export async function dashboardRuns(
  { on: { plane, certificates } }: WholeInstallation,
  objects: readonly KubernetesObject[],
  hosts: readonly string[],
): Promise<void> {
  const shipped = (kind: string, name: string): JsonObject | undefined =>
    objects.find((one) => one.kind === kind && one.metadata.name === name) as JsonObject | undefined;
  const pod = ownObject(ownObject(ownObject(shipped('Deployment', NAME), 'spec'), 'template'), 'spec');
  const args = (ownList(ownList(pod, 'containers')?.[0], 'args') ?? []).map(String);

  const mounted = join(plane.dir, 'mounted');
  await mkdir(join(mounted, 'config'), { recursive: true });
  await cp(certificates.path, join(mounted, 'certs'), { recursive: true });
  const text = ownString(ownObject(shipped('ConfigMap', 'muster-config'), 'data'), 'config.yaml') ?? '';
  await writeFile(join(mounted, 'config/config.yaml'), text);
  const issued = await plane.client.ok('POST', `${ACCOUNT}/token`, { spec: {} });
  const token = ownString(ownObject(issued, 'status'), 'token') ?? '';
  const authority = (await readFile(plane.caFile)).toString('base64');
  const kubeconfig = join(mounted, 'kubeconfig');
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'x', cluster: { server: plane.url, 'certificate-authority-data': authority } }],
      users: [{ name: 'x', user: { token } }],
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      'current-context': 'x',
    }),
  );

  const program = processAt();
  const given = args.map((arg) => arg.replace('/etc/muster', mounted));
  const running = run([...given, '--port', '0', '--kubeconfig', kubeconfig], program.io);
  let over: number | undefined;
  void running.then((code) => (over = code));
  try {
    const told = (): string => program.written.err;
    await until('it listens', () => told().includes('listens on port') || over !== undefined);
    const port = /listens on port (\d+)/.exec(told())?.[1] ?? '';
    expect(told()).toContain(`the dashboard listens on port ${port}, for ${hosts.join(', ')}\n`);
    expect(told()).not.toContain('error');
    const ask = (host: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const headers = { host, authorization: `Bearer ${token}` };
        // The certificate is that of Muster's own Service.
        const trust = { ca: certificates.ca, checkServerIdentity: () => undefined };
        const to = { host: '127.0.0.1', port, path: '/api/v1/gangs', headers, ...trust };
        request(to, (response) => {
          let body = '';
          response.on('data', (chunk: Buffer) => (body += chunk.toString()));
          response.on('end', () => resolve(`${response.statusCode} ${body}`));
        })
          .on('error', reject)
          .end();
      });
    for (const host of hosts) expect(await ask(host)).toBe('200 {"gangs":[],"stale":null}');
    expect(await ask('other.example')).toContain(`the dashboard answers to ${hosts.join(', ')} alone`);
  } finally {
    program.interrupt();
  }
  expect(await running).toBe(0);
}

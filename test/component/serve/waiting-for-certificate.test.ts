/** Certificates in the cluster without the rights for them: a replica that cannot serve yet tells why, wherever one looks. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { run } from '../../../src/cli/run.ts';
import { CertificateRotator } from '../../../src/controller/certificates/certificate-rotator.ts';
import { freePorts } from '../../cluster/control-plane/ports.ts';
import { httpGet } from '../../cluster/support/http-get.ts';
import { observeExposition, observeLines } from '../../support/observed.ts';
import { fakeIo } from '../../unit/cli/fake-io.ts';
import { until } from '../../unit/tls/until.ts';
import { WatchedApi } from '../cli/watched-api.ts';
import { status } from '../kube/fault-server.ts';
import { valueOf } from '../server/running.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const FORBIDDEN = status(403, 'secrets "muster-certificates" is forbidden');
const REJECTED = 'muster_tls_reload_total{result="rejected"}';

let api: WatchedApi;
let child: ChildProcess | undefined;
let output = '';

beforeAll(async () => {
  api = await WatchedApi.start();
  api.server.answer('', ...Array.from({ length: 1_000 }, () => FORBIDDEN));
});
afterEach(async () => {
  if (child?.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  observeLines(output.split('\n'));
});
afterAll(() => api.close());

function serve(health: number, metrics: number): ChildProcess {
  output = '';
  const ports = { '--port': 0, '--health-port': health, '--metrics-port': metrics };
  const flags = Object.entries(ports).flatMap(([flag, port]) => [flag, String(port)]);
  const cluster = ['--kubeconfig', api.kubeconfig, '--server-name', '127.0.0.1'];
  child = spawn(process.execPath, [MAIN, 'serve', '--no-controller', ...cluster, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      MUSTER_SERVER_CERTIFICATES_MODE: 'inCluster',
      MUSTER_SERVER_WEBHOOKS_BIND_ADDRESS: '127.0.0.1',
      MUSTER_SERVER_HEALTH_PROBES_BIND_ADDRESS: '127.0.0.1',
      MUSTER_SERVER_METRICS_BIND_ADDRESS: '127.0.0.1',
    },
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += String(chunk)));
  return child;
}

test('/metrics is there before the first certificate, and counts what is in its way', async () => {
  const [health = 0, metrics = 0] = await freePorts(2);
  serve(health, metrics);
  let text = '';
  await until('it counts a failure', async () => {
    const answer = await httpGet(metrics, '/metrics').catch(() => undefined);
    if (child?.exitCode !== null) throw new Error(output);
    if (answer !== undefined) expect(answer.status).toBe(200);
    text = answer?.text ?? '';
    return valueOf(text, REJECTED) > 0;
  });
  observeExposition(text);
  expect(text).toContain('muster_build_info{');
  // 0 would be a certificate that ended in 1970, and one that no webhook trusts: an alert of what is not so.
  expect(text).not.toMatch(/^muster_tls_(not_after_seconds|ca_bundle_covers_leaf) /m);
  const ready = await httpGet(health, '/readyz');
  expect(ready.status).toBe(503);
  // The Secret and both webhook configurations are asked for at once, and the first that is refused is told.
  expect(ready.text).toMatch(
    /^\[-\]certificate failed: there is none to serve yet: get (secrets muster-system\/muster-certificates|(validating|mutating)webhookconfigurations muster): 403 /m,
  );
  expect(ready.text).toContain(
    ': apply manifests/components/in-cluster-certificates, which has the rights\n',
  );
  expect(output).not.toContain('"msg":"serving"');
});

test('a port of metrics that is taken is told while it would wait for a certificate', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = holder.address() as AddressInfo;
    expect(await once(serve(0, port), 'exit')).toEqual([1, null]);
    expect(output).toContain(`cannot listen on 127.0.0.1:${port}: listen EADDRINUSE`);
    expect(output).toContain('choose another with --metrics-port');
  } finally {
    await new Promise((resolve) => holder.close(resolve));
  }
});

test('where the program cannot start afterwards, nobody goes on keeping certificates', async () => {
  const stop = jest.spyOn(CertificateRotator.prototype, 'stop');
  const { io, written } = fakeIo({
    env: {
      MUSTER_LOG_FORMAT: 'text',
      MUSTER_LOG_LEVEL: 'error',
      MUSTER_SERVER_CERTIFICATES_MODE: 'inCluster',
      MUSTER_SERVER_WEBHOOKS_CLIENT_CERTIFICATE_CA_FILE: '/not-there.crt',
    },
  });
  const flags = ['--no-controller', '--kubeconfig', api.kubeconfig, '--server-name', '127.0.0.1'];
  expect(await run(['serve', ...flags], io)).toBe(2);
  expect(written.err).toContain('cannot read server.webhooks.clientCertificate.caFile');
  expect(stop).toHaveBeenCalled();
});

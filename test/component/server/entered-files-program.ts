/**
 * A server and a client of it in one process, without jest: its own profiler counts, whatever else is measured outside. It
 * sends reviews one after the other over one TLS connection, and writes the files of src that each of them has entered.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { supportedSchedulers } from '../../../src/backends/registry.ts';
import { policyFrom } from '../../../src/cli/input/policy.ts';
import { loadConfiguration } from '../../../src/config/load.ts';
import { startProgram } from '../../../src/server/program.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { issueDevelopmentCertificates } from '../../../src/tls/issue.ts';
import { MUTATE_POD, goldenText } from './bodies.ts';

/** What a review is the first time to do is done by then. */
const WARM_UP = 5;
const REVIEWS = 3;
const SOURCES = fileURLToPath(new URL('../../../src/', import.meta.url));

const directory = await mkdtemp(join(tmpdir(), 'entered-files-'));
const { certificate, key, caCertificate } = await issueDevelopmentCertificates({
  dnsNames: ['localhost', '127.0.0.1'],
  days: 1,
  now: new Date(),
});
const files = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': caCertificate };
for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
const { configuration } = loadConfiguration({
  env: {},
  flags: {
    'server.webhooks.serverCertDir': directory,
    ...Object.fromEntries(
      ['webhooks', 'healthProbes', 'metrics'].flatMap((part) => [
        [`server.${part}.port`, 0],
        [`server.${part}.bindAddress`, '127.0.0.1'],
      ]),
    ),
  },
  supportedSchedulers: supportedSchedulers().names,
});
const program = await startProgram({
  configuration,
  policy: policyFrom(configuration),
  log: createLogger({ level: 'info', format: 'json', sink: { write: () => undefined } }),
  build: { version: '0.0.0-test', commit: '0123abc' },
  now: () => new Date(),
});
const socket = connect({ host: '127.0.0.1', port: program.ports.webhooks, rejectUnauthorized: false });
await once(socket, 'secureConnect');
const profiler = new Session();
profiler.connect();
await profiler.post('Profiler.enable');
await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** The files of src in which a function was called since the last time. */
async function entered(): Promise<string[]> {
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url, functions }) => {
      const isCalled = functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
      return isCalled && url.startsWith('file:') && fileURLToPath(url).startsWith(SOURCES);
    })
    .map(({ url }) => fileURLToPath(url).slice(SOURCES.length))
    .sort();
}

async function review(): Promise<{ files: string[]; status: string; patched: boolean }> {
  // Whatever a connection or the review before has left to be done is no part of this one.
  await wait(50);
  await entered();
  let text = '';
  const hear = (chunk: Buffer): void => void (text += chunk.toString());
  socket.on('data', hear);
  const head = `POST ${MUTATE_POD}?timeout=10s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}Content-Length: ${Buffer.byteLength(goldenText)}\r\n\r\n${goldenText}`);
  while (!text.includes('"auditAnnotations"')) await once(socket, 'data');
  await wait(50);
  const found = await entered();
  socket.off('data', hear);
  return { files: found, status: text.slice(0, text.indexOf('\r\n')), patched: text.includes('"patch":"') };
}

for (let count = 0; count < WARM_UP; count += 1) await review();
const reviews = [];
for (let count = 0; count < REVIEWS; count += 1) reviews.push(await review());
process.stdout.write(JSON.stringify(reviews));
profiler.disconnect();
socket.destroy();
await program.close();
await rm(directory, { recursive: true });

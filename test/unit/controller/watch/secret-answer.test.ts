/** The key of a gang's brokers stands in its Secret and nowhere else, whatever is answered to the write of it. */
import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { HpcObjects } from '../../../../src/controller/watch/hpc-objects.ts';
import type { GangWatch } from '../../../../src/controller/watch/gang-watch.ts';
import { backendReconciler } from '../../../../src/controller/scheduler-objects/reconcile-backend.ts';
import { SyncMemory } from '../../../../src/controller/scheduler-objects/sync-memory.ts';
import type { OwnedObjects } from '../../../../src/controller/scheduler-objects/owned-objects.ts';
import { readGangRecord } from '../../../../src/gang/read-records.ts';
import { parseHpcPolicy } from '../../../../src/preparers/policy/hpc-policy.ts';
import { errorFromAnswer } from '../../../../src/kube/client/errors.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { createLogger } from '../../../../src/telemetry/log.ts';
import { backend } from '../../../support/backends.ts';
import { hpcGang } from '../../../support/hpc-gangs.ts';
import { hpcPolicy } from '../../../support/hpc.ts';

const POLICY = parseHpcPolicy(hpcPolicy({ hpc: { manager: 'flux' } }), 'ml').policy;
const GANG = readGangRecord({ ...hpcGang(), metadata: { ...(hpcGang()['metadata'] as object), uid: 'u1' } });

/** All that is said while the Secret of a gang is written and this is what becomes of it. */
async function saidOf(status: number, answer: (sent: string) => string) {
  const said: string[] = [];
  let sent = '';
  const client = {
    get: () => Promise.resolve(undefined),
    create: (resource: { kind: string }, object: object) => {
      if (resource.kind !== 'Secret') return Promise.resolve({ metadata: { resourceVersion: '1' } });
      sent = JSON.stringify(object);
      if (status < 300) return Promise.resolve({ metadata: { resourceVersion: '1' } });
      return Promise.reject(errorFromAnswer('POST secrets', status, answer(sent), undefined));
    },
  } as unknown as KubeClient;
  const view = { pods: { byIndex: () => [] } };
  const watch = { view, onPod: () => undefined, touch: () => undefined };
  const policies = { known: true, get: () => ({ policy: POLICY }), anyIn: () => true };
  const objects = new HpcObjects(watch as unknown as GangWatch, {
    policies: policies as never,
    onPolicy: () => undefined,
    gangsUnder: () => [],
  });
  const memory = new SyncMemory();
  const log = createLogger({
    level: 'debug',
    format: 'json',
    sink: { write: (line: string) => void said.push(line) },
  });
  const reconcile = backendReconciler({
    backend: backend('b').create({ config: {}, topology: { enabled: false, keys: [] } }),
    ready: () => true,
    kinds: () => [],
    gangOf: () => GANG,
    takes: () => true,
    serves: () => true,
    gone: new Map(),
    view: view as never,
    client,
    owned: {
      whenSynced: () => Promise.resolve(),
      of: () => [],
      get: () => undefined,
      besides: () => [],
    } as unknown as OwnedObjects,
    memory,
    recorder: { event: (_, event) => said.push(JSON.stringify(event)) },
    log,
    besides: (context, gang) => objects.sync(context, gang),
    operated: (...told) => said.push(JSON.stringify(told)),
    synced: () => undefined,
  });
  await reconcile('ml/train', new AbortController().signal).catch((error: unknown) => {
    said.push(inspect(error, { depth: 9 }));
  });
  said.push(JSON.stringify(memory.of('ml/train', GANG, { name: 'b' })));
  const { data } = JSON.parse(sent) as { data: Record<string, string> };
  return { said: said.join('\n'), base64: data['curve.cert'] ?? '' };
}

const statusOf = (message: string, reason: string): string =>
  JSON.stringify({ kind: 'Status', reason, message });
const plain = (sent: string): string =>
  sent.replace(/"curve.cert":"([^"]+)"/, (_, text: string) => Buffer.from(text, 'base64').toString());

test.each<[string, number, (sent: string) => string]>([
  ['it is made', 201, () => ''],
  ['one is there, which is not read', 409, (sent) => statusOf(sent, 'AlreadyExists')],
  ['a webhook refuses it and repeats it', 403, (sent) => statusOf(`denied: ${sent}`, 'Forbidden')],
  ['it is found invalid and repeated', 422, (sent) => statusOf(`Invalid value: ${plain(sent)}`, 'Invalid')],
  ['it stands in the reason', 400, (sent) => statusOf('no', plain(sent))],
  ['a proxy fails and repeats the body', 500, (sent) => sent.slice(sent.indexOf('"data"'))],
])('no byte of the key is said where %s', async (_what, status, answer) => {
  const { said, base64 } = await saidOf(status, answer);
  const text = Buffer.from(base64, 'base64').toString();
  expect(text).toContain('secret-key = "');
  expect(said).toMatch(
    status < 300 || status === 409
      ? /Backend operation finished/
      : new RegExp(`Secret train-flux-curve: ${status}`),
  );
  const key = /secret-key = "(.*)"/.exec(text)?.[1] ?? '';
  for (const [what, whole] of Object.entries({ key, base64 })) {
    const parts = Array.from({ length: whole.length - 7 }, (_one, at) => whole.slice(at, at + 8));
    expect([what, parts.filter((part) => said.includes(part))]).toEqual([what, []]);
  }
});

test('a Secret that may not be written says which right is missing', async () => {
  const { said } = await saidOf(403, () => statusOf('secrets is forbidden', 'Forbidden'));
  expect(said).toContain(
    "Backend operation 'create' failed for PodGang 'train': keeping Secret train-flux-curve: 403 Forbidden: what was answered is not shown, as it may repeat the Secret; grant this right (manifests/ has the roles that Muster needs)",
  );
});

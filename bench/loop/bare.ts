// The yardstick of the loop: takes gates off Pods that it has been told of beforehand, and does nothing else. It looks
// at nothing, waits for nothing and knows no gangs. Same account, connections and kind of answer as Muster.
//
// Usage: fork('bench/loop/bare.ts', ['KUBECONFIG']), then messages, see BareRequest and BareAnswer.
import { Pool } from 'undici';
import { GATE_POD_GANG_PENDING } from '../../src/api/names.ts';
import { findConnection } from '../../src/kube/client/connection.ts';
import { inParallel } from '../measure/in-parallel.ts';

export type BareRequest =
  { readonly know: { readonly namespace: string; readonly pods: readonly string[] } } | 'go';
export type BareAnswer = 'ready' | 'done' | { readonly failed: string };

/** As src/kube/client. */
const CONNECTIONS = 16;
const KEEP_ALIVE = 60_000;
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

const connection = await findConnection({ kubeconfig: process.argv[2] });
const pool = new Pool(new URL(connection.server).origin, {
  connections: CONNECTIONS,
  allowH2: false,
  pipelining: 1,
  keepAliveTimeout: KEEP_ALIVE,
  keepAliveMaxTimeout: KEEP_ALIVE,
  headersTimeout: 0,
  bodyTimeout: 0,
  connect: { ...connection.tls },
});
const headers = {
  ...(await connection.headers()),
  'user-agent': 'bare',
  'content-type': 'application/json-patch+json',
  accept: METADATA_ONLY,
};
const body = JSON.stringify([
  { op: 'test', path: '/spec/schedulingGates/0/name', value: GATE_POD_GANG_PENDING },
  { op: 'remove', path: '/spec/schedulingGates/0' },
]);

let paths: string[] = [];

async function ungate(path: string): Promise<void> {
  const answer = await pool.request({ method: 'PATCH', path, headers, body });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`);
}

/** Every connection is open before the clock starts, as Muster's are. */
async function connectAll(): Promise<void> {
  const answers = Array.from({ length: CONNECTIONS }, async () =>
    (await pool.request({ method: 'GET', path: '/version', headers })).body.text(),
  );
  await Promise.all(answers);
}

async function handle(message: BareRequest): Promise<BareAnswer> {
  if (message === 'go') {
    await inParallel(paths, CONNECTIONS, ungate);
    return 'done';
  }
  const { namespace, pods } = message.know;
  paths = pods.map((pod) => `/api/v1/namespaces/${namespace}/pods/${pod}`);
  await connectAll();
  return 'ready';
}

process.on('message', (message: BareRequest) => {
  void handle(message)
    .catch((error: unknown): BareAnswer => ({ failed: String(error) }))
    .then((answer) => process.send?.(answer));
});
// The bench has ended, however it did.
process.once('disconnect', () => void pool.destroy());

// The yardstick of the loop: takes gates off Pods that it has been told of beforehand, and does nothing else. It looks
// at nothing, waits for nothing and knows no gangs. Same account, connections and kind of answer as Muster.
//
// As `watching` it also does what nobody who releases gangs can do without, and still judges nothing: it receives both
// watches and decodes them, and writes every gang's references and its status before its gates. What Muster takes beyond
// that is its judgement.
//
// Usage: fork('bench/loop/bare.ts', ['KUBECONFIG', 'bare' | 'watching']), then messages, see BareRequest and BareAnswer.
import { Pool } from 'undici';
import { GATE_POD_GANG_PENDING } from '../../src/api/names.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { MOST_CALLS } from '../../src/kube/loop/call-window.ts';
import { inParallel } from '../measure/in-parallel.ts';
import { readGangs, releaseGangs, watchAsTheLoop, type GangNames } from './bare-watching.ts';

export type BareRequest =
  { readonly know: { readonly namespace: string; readonly gangs: readonly GangNames[] } } | 'go';
export type BareAnswer = 'ready' | 'done' | { readonly failed: string };

/** As many as the loop has at most. */
const CONNECTIONS = MOST_CALLS;
const KEEP_ALIVE = 60_000;
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

const connection = await findConnection({ kubeconfig: process.argv[2] });
const watcher =
  process.argv[3] === 'watching' ? createKubeClient(connection, { userAgent: 'bare' }) : undefined;
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
const headers = { ...(await connection.headers()), 'user-agent': 'bare' };
const gateHeaders = { ...headers, 'content-type': 'application/json-patch+json', accept: METADATA_ONLY };
const body = JSON.stringify([
  { op: 'test', path: '/spec/schedulingGates/0/name', value: GATE_POD_GANG_PENDING },
  { op: 'remove', path: '/spec/schedulingGates/0' },
]);

/** Of who watches, the same as Muster's: it does all that can be spared. */
const query = watcher === undefined ? '' : '?fieldManager=bare&fieldValidation=Ignore';

let namespace = '';
let gangs: readonly GangNames[] = [];
let known: Awaited<ReturnType<typeof readGangs>> = new Map();
let watches: AbortController | undefined;

async function patch(path: string, sent: Record<string, string>, text: string): Promise<string> {
  const answer = await pool.request({ method: 'PATCH', path, headers: sent, body: text });
  const answered = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${answered}`);
  return answered;
}

const ungate = async (pod: string): Promise<void> => {
  await patch(`/api/v1/namespaces/${namespace}/pods/${pod}${query}`, gateHeaders, body);
};

/** Every connection is open before the clock starts, as Muster's are. */
async function connectAll(): Promise<void> {
  const answers = Array.from({ length: CONNECTIONS }, async () =>
    (await pool.request({ method: 'GET', path: '/version', headers })).body.text(),
  );
  await Promise.all(answers);
}

async function handle(message: BareRequest): Promise<BareAnswer> {
  if (message !== 'go') {
    ({ namespace, gangs } = message.know);
    await connectAll();
    if (watcher === undefined) return 'ready';
    known = await readGangs(watcher, namespace);
    watches = await watchAsTheLoop(watcher, namespace);
    return 'ready';
  }
  if (watcher === undefined) {
    const pods = gangs.flatMap((gang) => gang.pods);
    await inParallel(pods, CONNECTIONS, ungate);
    return 'done';
  }
  const patchGang = (path: string, contentType: string, text: string): Promise<string> =>
    patch(`${path}${query}`, { ...headers, 'content-type': contentType }, text);
  await releaseGangs(known, gangs, CONNECTIONS, { patch: patchGang, ungate });
  watches?.abort(new Error('all gates are off'));
  return 'done';
}

process.on('message', (message: BareRequest) => {
  void handle(message)
    .catch((error: unknown): BareAnswer => ({ failed: String(error) }))
    .then((answer) => process.send?.(answer));
});
// The bench has ended, however it did.
process.once('disconnect', () => process.exit());

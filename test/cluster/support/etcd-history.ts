import { own, ownString } from '../../../src/json/json.ts';

/** As much of a stored object as the judges look at. */
export interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
}
export interface StoredPod extends Stored {
  readonly spec: { readonly nodeName?: string; readonly schedulingGates?: readonly { name: string }[] };
  readonly status?: { readonly phase?: string };
}
export interface StoredGang extends Stored {
  readonly spec: {
    readonly podgroups: readonly {
      name: string;
      minReplicas: number;
      podReferences?: readonly { namespace: string; name: string }[];
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { type: string; status: string; message?: string }[];
  };
}

/** One write of one object; `object` is undefined where it was deleted. */
export type Version = { readonly revision: number; readonly name: string } & (
  | { readonly kind: 'pod'; readonly object: StoredPod | undefined }
  | { readonly kind: 'gang'; readonly object: StoredGang | undefined }
);

/** API server arguments without which there is no such history: etcd keeps JSON, and keeps all of it. */
export const KEEPS_HISTORY = ['--storage-media-type=application/json', '--etcd-compaction-interval=0'];

/**
 * Every write of Pods and PodGangs of a namespace since the beginning, in the one order that there is: etcd's revisions,
 * which are the API server's resourceVersions. A watch of the API server could not give this: one that was broken by a
 * restart of the API server is answered with 410, and what happened in between is lost to it.
 */
export async function historyOf(etcdUrl: string, namespace: string): Promise<Version[]> {
  const pods = await versionsBelow(etcdUrl, `/registry/pods/${namespace}/`);
  const gangs = await versionsBelow(etcdUrl, `${GANGS}${namespace}/`);
  return [
    ...pods.map((version) => ({ ...version, kind: 'pod' }) as Version),
    ...gangs.map((version) => ({ ...version, kind: 'gang' }) as Version),
  ].sort((a, b) => a.revision - b.revision);
}

/** Keeps JSON, and forgets old revisions as a cluster does: what runs for long follows the writes as they come. */
export const KEEPS_JSON = ['--storage-media-type=application/json', '--etcd-compaction-interval=1m'];

/**
 * Tells of every write of Pods and PodGangs of a namespace from now on, in the order of etcd's revisions, until `signal`
 * aborts. One watch over all keys between the two kinds, since two watches have no order between them.
 * @returns when the watch has begun, how it ends
 */
export async function followHistory(
  etcdUrl: string,
  namespace: string,
  take: (version: Version) => void,
  signal: AbortSignal,
): Promise<{ readonly ended: Promise<void> }> {
  const prefixes = { pod: `/registry/pods/${namespace}/`, gang: `${GANGS}${namespace}/` };
  const range = { key: base64('/registry/pods/'), range_end: base64(`${GANGS.slice(0, -1)}0`) };
  const response = await fetch(`${etcdUrl}/v3/watch`, {
    method: 'POST',
    body: JSON.stringify({ create_request: range }),
    signal,
  });
  const follow = async (): Promise<void> => {
    for await (const { kv, deleted } of eventsOf(response)) {
      const key = text(kv.key);
      for (const kind of ['pod', 'gang'] as const) {
        if (!key.startsWith(prefixes[kind])) continue;
        const object: unknown = deleted ? undefined : JSON.parse(text(kv.value ?? ''));
        const name = key.slice(prefixes[kind].length);
        take({ kind, name, revision: Number(kv.mod_revision), object } as Version);
      }
    }
  };
  const ended = follow().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return { ended };
}

const GANGS = '/registry/scheduler.grove.io/podgangs/';

/** The answers of etcd's own gateway are JSON with numbers as strings and bytes in base64. */
interface KeyValue {
  readonly key: string;
  readonly value?: string;
  readonly mod_revision: string;
}

async function versionsBelow(
  etcdUrl: string,
  prefix: string,
): Promise<{ revision: number; name: string; object: unknown }[]> {
  const range = { key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) };
  const last = await newest(etcdUrl, range);
  const found: { revision: number; name: string; object: unknown }[] = [];
  if (last === undefined) return found;
  const enough = new AbortController();
  const response = await fetch(`${etcdUrl}/v3/watch`, {
    method: 'POST',
    body: JSON.stringify({ create_request: { ...range, start_revision: '1' } }),
    signal: enough.signal,
  });
  for await (const { kv, deleted } of eventsOf(response)) {
    const { key, value = '', mod_revision } = kv;
    found.push({
      revision: Number(mod_revision),
      name: text(key).slice(prefix.length),
      object: deleted ? undefined : JSON.parse(text(value)),
    });
    if (Number(mod_revision) >= last) break;
  }
  enough.abort();
  return found;
}

/** The events of a watch, one by one. */
async function* eventsOf(response: Response): AsyncGenerator<{ kv: KeyValue; deleted: boolean }> {
  for await (const line of linesOf(response)) {
    const result = own(JSON.parse(line), 'result');
    if (own(result, 'canceled') === true) throw new Error(`etcd: ${ownString(result, 'cancel_reason')}`);
    const events = (own(result, 'events') ?? []) as unknown as readonly { type?: string; kv: KeyValue }[];
    for (const { type, kv } of events) yield { kv, deleted: type === 'DELETE' };
  }
}

/** The revision of the newest key that is there. */
async function newest(etcdUrl: string, range: object): Promise<number | undefined> {
  const query = { ...range, sort_order: 'DESCEND', sort_target: 'MOD', limit: '1', keys_only: true };
  const response = await fetch(`${etcdUrl}/v3/kv/range`, { method: 'POST', body: JSON.stringify(query) });
  const { kvs = [] } = (await response.json()) as { kvs?: KeyValue[] };
  return kvs[0] === undefined ? undefined : Number(kvs[0].mod_revision);
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  let pending = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const pieces = decoder.decode(chunk, { stream: true }).split('\n');
    pieces[0] = pending + (pieces[0] ?? '');
    pending = pieces.pop() ?? '';
    yield* pieces.filter((piece) => piece !== '');
  }
}

const base64 = (plain: string): string => Buffer.from(plain).toString('base64');
const text = (encoded: string): string => Buffer.from(encoded, 'base64').toString();

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
  const gangs = await versionsBelow(etcdUrl, `/registry/scheduler.grove.io/podgangs/${namespace}/`);
  return [
    ...pods.map((version) => ({ ...version, kind: 'pod' }) as Version),
    ...gangs.map((version) => ({ ...version, kind: 'gang' }) as Version),
  ].sort((a, b) => a.revision - b.revision);
}

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
  for await (const line of linesOf(response)) {
    const result = own(JSON.parse(line), 'result');
    if (own(result, 'canceled') === true) throw new Error(`etcd: ${ownString(result, 'cancel_reason')}`);
    for (const event of (own(result, 'events') ?? []) as unknown as readonly {
      type?: string;
      kv: KeyValue;
    }[]) {
      const { key, value = '', mod_revision } = event.kv;
      found.push({
        revision: Number(mod_revision),
        name: text(key).slice(prefix.length),
        object: event.type === 'DELETE' ? undefined : JSON.parse(text(value)),
      });
    }
    if ((found.at(-1)?.revision ?? 0) >= last) break;
  }
  enough.abort();
  return found;
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
    const pieces = decoder.decode(chunk as Uint8Array, { stream: true }).split('\n');
    pieces[0] = pending + (pieces[0] ?? '');
    pending = pieces.pop() ?? '';
    yield* pieces.filter((piece) => piece !== '');
  }
}

const base64 = (plain: string): string => Buffer.from(plain).toString('base64');
const text = (encoded: string): string => Buffer.from(encoded, 'base64').toString();

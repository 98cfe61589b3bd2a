import { MANAGED_FIELDS, withoutLists } from '../../json/unread-lists.ts';
import { groupVersionString } from '../../k8s/resource.ts';
import { messageOf } from '../../errors.ts';
import type {
  KubeCallOptions,
  KubeClient,
  ListOptions,
  Page,
  Selection,
  Unread,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import type { Connection } from './connection.ts';
import { unreachable } from './errors.ts';
import {
  collectionPath,
  objectPath,
  PODS,
  type KubeObject,
  type Resource,
  type Target,
} from './resources.ts';
import type { TokenBucket } from './token-bucket.ts';
import { Transport, type Call, type TransportOptions } from './transport.ts';
import { chosen, linesOf } from './answer-stream.ts';
import { eventsIn } from './watch-events.ts';
import { framesOf, Illegible, isProtobuf, PROTOBUF_OR_JSON, readEvent } from './watch-frames.ts';

export interface KubeClientOptions extends TransportOptions {
  /** Limits the rate of calls but not of watches. Absent: only the number of connections limits them. */
  readonly limit?: TokenBucket | undefined;
  /** Limits the calls in flight, by lanes that take turns: namespaces. Absent: the number of connections does. */
  readonly window?: CallLimit | undefined;
}

interface CallLimit {
  run<T>(
    lane: string,
    call: (resting: Call['resting']) => Promise<T>,
    options: Pick<KubeCallOptions, 'signal' | 'first'>,
  ): Promise<T>;
}

/** @param settings of the connections; the clock is for tests */
export function createKubeClient(connection: Connection, settings: KubeClientOptions = {}): KubeClient {
  const transport = new Transport(connection, settings);
  const send = async <T>(
    call: Omit<Call, 'signal' | 'timeoutMs' | 'resting'> & Unread,
    { signal, timeoutMs = 15_000, unlimited, first = false }: KubeCallOptions = {},
  ): Promise<T> => {
    const { limit, window } = unlimited === true ? {} : settings;
    await limit?.take(signal);
    const now = (resting?: Call['resting']): Promise<Buffer> =>
      transport.call({ ...call, signal, timeoutMs, resting });
    const lane = namespaceIn(call.path);
    const bytes = await (window === undefined ? now() : window.run(lane, now, { signal, first }));
    if (call.keepAnswer === false) return undefined as T;
    try {
      return JSON.parse(withoutLists(bytes, call.unread ?? [])) as T;
    } catch (cause) {
      throw unreachable(call.what, transport.server, new Error(`not JSON: ${messageOf(cause)}`, { cause }));
    }
  };
  const write = <T>(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    what: string,
    body: unknown,
    contentType: string,
    options: WriteOptions = {},
  ): Promise<T> => {
    const { dryRun, fieldManager = 'muster', answer } = options;
    const query = queryOf({
      fieldManager,
      // The warnings about unknown fields are not read, and looking for them takes 6 % of the API server's time for a
      // Pod patch.
      fieldValidation: 'Ignore',
      dryRun: dryRun === true ? 'All' : undefined,
    });
    const headers = {
      'content-type': contentType,
      ...(answer === undefined || answer === 'object' ? {} : { accept: METADATA_ONLY }),
    };
    const call = { method, path: path + query, what, headers, body: JSON.stringify(body) };
    return send<T>({ ...call, keepAnswer: answer !== 'nothing' }, options);
  };
  const mergePatch = <T>(target: Target, patch: object, options?: WriteOptions): Promise<T> =>
    write<T>('PATCH', objectPath(target), nameOf('patch', target), patch, MERGE_PATCH, options);

  return {
    server: transport.server,
    read: (path, options) => send({ method: 'GET', path, what: `get ${path}` }, options),
    get: (target, options) =>
      send({ method: 'GET', path: objectPath(target), what: nameOf('get', target) }, options),
    list: async <T>(resource: Resource, options: ListOptions = {}): Promise<Page<T>> => {
      const { limit, resourceVersion } = options;
      const query = queryOf({ ...selectors(options), limit, resourceVersion, continue: options.continue });
      const path = collectionPath(resource, options.namespace) + query;
      const list = await send<{ items?: T[]; metadata?: { resourceVersion?: string; continue?: string } }>(
        {
          method: 'GET',
          path,
          what: `list ${resource.plural}`,
          unread: options.unread ?? UNREAD,
          maxBytes: options.maxBytes,
        },
        options,
      );
      return {
        items: list.items ?? [],
        resourceVersion: list.metadata?.resourceVersion ?? '',
        continue: list.metadata?.continue || undefined,
      };
    },
    watch: <T>(resource: Resource, options: WatchOptions) => watch<T>(transport, resource, options),
    create: (resource, object, options) => {
      const path = collectionPath(resource, object.metadata.namespace);
      const body = { apiVersion: groupVersionString(resource), kind: resource.kind, ...object };
      const what = nameOf('create', targetOf(resource, object));
      return write('POST', path, what, body, JSON_TYPE, options);
    },
    jsonPatch: (target, operations, options) =>
      write('PATCH', objectPath(target), nameOf('patch', target), operations, JSON_PATCH, options),
    mergePatch,
    patchStatus: (target, patch, options) => mergePatch({ ...target, subresource: 'status' }, patch, options),
    replace: (resource, object, options) => {
      const target = targetOf(resource, object);
      const body = { apiVersion: groupVersionString(resource), kind: resource.kind, ...object };
      return write('PUT', objectPath(target), nameOf('replace', target), body, JSON_TYPE, options);
    },
    delete: async (target, options = {}) => {
      const { dryRun, gracePeriodSeconds, propagationPolicy, preconditions } = options;
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...(dryRun === true ? { dryRun: ['All'] } : {}),
        gracePeriodSeconds,
        propagationPolicy,
        preconditions,
      };
      await send(
        {
          method: 'DELETE',
          path: objectPath(target),
          what: nameOf('delete', target),
          headers: { 'content-type': JSON_TYPE },
          body: JSON.stringify(body),
        },
        options,
      );
    },
    evict: async ({ namespace, name, uid }, options) => {
      const pod = { resource: PODS, namespace, name };
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace, name },
        deleteOptions: { preconditions: { uid } },
      };
      const path = objectPath({ ...pod, subresource: 'eviction' });
      await write('POST', path, nameOf('evict', pod), body, JSON_TYPE, options);
    },
    close: () => transport.close(),
  };
}

/** Empty for objects of the cluster and for lists of all namespaces. */
const namespaceIn = (path: string): string => /\/namespaces\/([^/?]+)\//.exec(path)?.[1] ?? '';

const UNREAD = [MANAGED_FIELDS];
const JSON_TYPE = 'application/json';
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

async function* watch<T>(
  transport: Transport,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<readonly WatchEvent<T>[], void> {
  const { resourceVersion, timeoutSeconds, signal, fields, unread = UNREAD } = options;
  const initial = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };
  const query = queryOf({
    ...selectors(options),
    watch: 1,
    allowWatchBookmarks: 'true',
    ...(options.initialEvents && initial),
    resourceVersion,
    timeoutSeconds,
  });
  const what = `watch ${resource.plural}`;
  const path = collectionPath(resource, options.namespace) + query;
  try {
    const headers = fields === undefined || illegible.has(transport) ? {} : { accept: PROTOBUF_OR_JSON };
    let contentType: string | undefined;
    const stream = transport.stream({ method: 'GET', path, what, signal, headers }, (type) => {
      contentType = type;
      options.accepted?.();
    });
    yield* chosen(stream, (pieces) =>
      fields !== undefined && isProtobuf(contentType)
        ? eventsIn<T, Buffer>(framesOf(pieces), (frame) => readEvent(frame, fields), what)
        : eventsIn<T, string>(linesOf(pieces, unread), (line) => JSON.parse(line) as unknown, what),
    );
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (cause instanceof Illegible) illegible.add(transport);
    const name = (cause as { name?: unknown } | undefined)?.name;
    throw name === 'ApiError' || name === 'MusterError' ? cause : unreachable(what, transport.server, cause);
  }
}

/** API servers, and what stands in front of them, whose protobuf could not be read: they are asked for JSON. */
const illegible = new WeakSet<Transport>();

const selectors = ({ labelSelector, fieldSelector }: Selection) => ({ labelSelector, fieldSelector });

function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return '';
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}

const targetOf = (resource: Resource, { metadata: { namespace, name } }: KubeObject): Target => ({
  resource,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

function nameOf(verb: string, { resource, namespace, name, subresource }: Target): string {
  const kind = `${resource.plural}${subresource === undefined ? '' : `/${subresource}`}`;
  // Objects with `generateName` and reviews have no name.
  const path = [namespace, name].filter(Boolean).join('/');
  return path === '' ? `${verb} ${kind}` : `${verb} ${kind} ${path}`;
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '../../src/kube/client/errors.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import { systemClock, type Clock } from '../../src/kube/client/clock.ts';
import type { ObjectChange, Identified } from '../../src/kube/loop/cache.ts';
import { Reflector } from '../../src/kube/loop/reflector.ts';
import { MusterError } from '../../src/errors.ts';
import { until } from '../unit/tls/until.ts';
import { must, mustBeUnpolluted, shapeOf, type Target, type Trial } from './target.ts';
import { History, inputOf, linesFrom, type WatchInput } from './watch-grammar.ts';

/** A silence or a request's deadline; what is shorter is a pause between attempts, which nobody waits for here. */
const LONG_MS = 10_000;

/** Runs ahead of the time: pauses are over at once. */
const hasty: Clock = {
  ...systemClock,
  after: (ms, callback) => {
    if (ms >= LONG_MS) return systemClock.after(ms, callback);
    const immediate = setImmediate(callback);
    return () => clearImmediate(immediate);
  },
};

/** Stands still: a watch without an event has ended at once, however long a busy machine took for it. */
const still: Clock = { ...hasty, now: () => 0 };

/**
 * Watches whose bytes are cut, broken and ended at any place: in the end the cache is what a clean list would give, and
 * whatever was broken was reported.
 */
export const watches: Target = {
  name: 'watches',
  share: 50,
  reaches: {
    of: 1_500,
    words: [
      'same cache',
      'reported: not JSON',
      'reported: ended inside an event',
      'reported: gone',
      'reported: 500',
      'reported: ended at once',
      'reported: no event',
      'listed again',
      'clean',
    ],
  },
  open: () => openWatches(),
};

/** @param patienceMs how long a cache may take, for a machine that is busy */
export async function openWatches(
  make: typeof reflectorFor = reflectorFor,
  patienceMs = 60_000,
): Promise<Trial> {
  const cases = new Map<string, Case>();
  const server = createServer((request, response) => {
    const [, name = ''] = /\/namespaces\/(case-[0-9]+)\//.exec(request.url ?? '') ?? [];
    const found = cases.get(name);
    if (found === undefined) response.writeHead(404).end('{}');
    else found.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createKubeClient(
    {
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      tls: {},
      namespace: undefined,
      source: 'fuzz',
      headers: () => Promise.resolve({}),
      refresh: () => false,
    },
    { random: () => 0, clock: hasty },
  );
  let count = 0;
  return {
    width: 8,
    make: (random) => Buffer.from(JSON.stringify(inputOf(random))),
    attempt: async (bytes) => {
      const input = JSON.parse(bytes.toString()) as WatchInput;
      count += 1;
      const namespace = `case-${count}`;
      const one = new Case(input);
      cases.set(namespace, one);
      const failures: unknown[] = [];
      let lists = 0;
      const reflector = make({
        client,
        namespace,
        failed: (error) => void failures.push(error),
        listed: () => void (lists += 1),
      });
      const told = new Map<string, string>();
      reflector.subscribe((change) => note(told, change));
      reflector.start();
      const expected = one.history.end();
      const same = (): boolean => one.isOver && JSON.stringify([...told].sort()) === JSON.stringify(expected);
      try {
        await until('the cache is what a list would give', same, patienceMs).catch((thrown: unknown) => {
          throw new Error(
            `${String(thrown)}: ${JSON.stringify([...told].sort())} instead of ${JSON.stringify(expected)}`,
          );
        });
      } finally {
        await reflector.stop();
        one.end();
        cases.delete(namespace);
      }
      const cached = [...reflector.store.values()].map((item) => [
        item.name,
        `${item.uid}@${item.resourceVersion}`,
      ]);
      must(JSON.stringify(cached.sort()) === JSON.stringify(expected), 'the cache is not what was told');
      mustBeUnpolluted();
      must(
        one.broken === 0 || failures.length > 0,
        `${one.broken} broken answers, and nothing was reported: ${JSON.stringify(input.watches)}`,
      );
      const words = failures.map((failure) => `reported: ${wordOf(failure)}`);
      return [
        'same cache',
        ...words,
        ...(lists > 1 ? ['listed again'] : []),
        ...(words.length === 0 ? ['clean'] : []),
      ];
    },
    close: async () => {
      await client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const reflectorFor = (given: {
  readonly client: ReturnType<typeof createKubeClient>;
  readonly namespace: string;
  readonly failed: (error: unknown) => void;
  readonly listed: () => void;
}): Reflector<Identified> =>
  new Reflector<Identified>({
    // A client of its own, since it remembers whether lists are streamed.
    client: { ...given.client },
    resource: PODS,
    namespace: given.namespace,
    clock: still,
    random: () => 0,
    trim: ({ metadata }: KubeObject) => {
      const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
      return { name, namespace, uid, resourceVersion };
    },
    times: { pageSize: 3 },
    observer: { failed: given.failed, listed: given.listed, handlerFailed: given.failed },
  });

/** What handlers were told, as a map: each change has to follow from the one before. */
function note(told: Map<string, string>, { type, old, new: now }: ObjectChange<Identified>): void {
  const name = (now ?? old)?.name ?? '';
  const of = (one: Identified | undefined): string | undefined => one && `${one.uid}@${one.resourceVersion}`;
  must(told.get(name) === of(old), `${type} ${name}: told ${told.get(name)}, and the old one is ${of(old)}`);
  if (now === undefined) told.delete(name);
  else told.set(name, of(now) ?? '');
}

/** @returns what was reported, without what differs from input to input */
function wordOf(failure: unknown): string {
  must(
    failure instanceof ApiError || failure instanceof MusterError,
    () => `no error of ours: ${failure instanceof Error ? (failure.stack ?? '') : String(failure)}`,
  );
  if (failure instanceof ApiError) return failure.status === 410 ? 'gone' : String(failure.status);
  const [, why = failure.message] = /no answer from \S+: (.*)$/s.exec(failure.message) ?? [];
  if (/JSON/.test(why)) return 'not JSON';
  return why
    .replace('the watch ended', 'ended')
    .replace('the stream ended', 'ended')
    .replace(/^no event:.*/s, 'no event')
    .startsWith('no event')
    ? 'no event'
    : shapeOf(why.replace('the watch ended', 'ended').replace('the stream ended', 'ended'));
}

/** The API server of one input: its history, and how each answer goes wrong. */
class Case {
  readonly history: History;
  /** Answers that were broken in a way that has to be reported. */
  broken = 0;
  readonly #input: WatchInput;
  readonly #open = new Set<ServerResponse>();
  #watches = 0;
  #streams = 0;

  constructor(input: WatchInput) {
    this.#input = input;
    this.history = new History(input);
  }

  /** Whether every answer that goes wrong was given. */
  get isOver(): boolean {
    return this.#watches > this.#input.watches.length;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    if (query.get('watch') === null) this.#list(response, query);
    else if (query.get('sendInitialEvents') === 'true') this.#stream(response);
    else this.#watch(response, Number(query.get('resourceVersion') ?? 0));
  }

  end(): void {
    for (const response of this.#open) response.destroy();
  }

  /** Pages of what there is at this moment; the token says where the next begins. */
  #list(response: ServerResponse, query: URLSearchParams): void {
    const items = this.history.items();
    const from = Number(query.get('continue') ?? 0);
    const limit = Number(query.get('limit') ?? items.length);
    const next = from + limit < items.length ? String(from + limit) : undefined;
    response.writeHead(200, { 'content-type': 'application/json' });
    const page = items.slice(from, from + limit);
    response.end(
      JSON.stringify({
        metadata: { resourceVersion: String(this.history.head), continue: next },
        items: page,
      }),
    );
  }

  /** By the length of the input: not served, served, or cut twice before the bookmark. */
  #stream(response: ServerResponse): void {
    const kind = this.#input.watches.length % 3;
    if (kind === 0) {
      response.writeHead(422).end('{"kind":"Status","code":422,"reason":"Invalid","message":"no WatchList"}');
      return;
    }
    this.#streams += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    const [bookmark, ...objects] = this.history.streamed();
    for (const line of objects) response.write(line);
    if (kind === 2 && this.#streams < 3) response.destroy();
    else response.end(bookmark);
  }

  #watch(response: ServerResponse, since: number): void {
    const how = this.#input.watches[this.#watches];
    this.#watches += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    if (how === undefined) {
      // From here on the server is well: what was missed, and then silence.
      this.history.finish();
      response.write(`${this.history.since(since).join('')}\n`);
      this.#open.add(response);
      return;
    }
    this.history.advance(how.events);
    const { pieces, cut, broken } = linesFrom(this.history.since(since), how);
    if (broken) this.broken += 1;
    const send = (index: number): void => {
      const piece = pieces[index];
      if (piece !== undefined) response.write(piece, () => setImmediate(send, index + 1));
      else if (cut) response.destroy();
      else response.end();
    };
    send(0);
  }
}

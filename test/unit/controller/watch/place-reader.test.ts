import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { placementOf } from '../../../../src/controller/watch/place-reader.ts';
import type { Place } from '../../../../src/backends/select.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import type { KubeClient, ListOptions } from '../../../../src/kube/client/client.ts';
import type { Target } from '../../../../src/kube/client/resources.ts';

const LABEL = 'grove.io/scheduler-name';
const gone = new ApiError('get', { status: 404, message: 'not found' });

/** A read that the test answers. */
interface Asked {
  readonly what: string;
  readonly timeoutMs: number | undefined;
  answer(backend: string | null): void;
  refuse(error: Error): void;
}

/** Nothing is known of anything; what is asked is kept. */
function stage(known: Readonly<Record<string, string>> = {}) {
  const asked: Asked[] = [];
  const asking = (what: string, timeoutMs: number | undefined, asList: boolean): Promise<never> =>
    new Promise((resolve, refuse) => {
      const answer = (backend: string | null): void => {
        const names = backend === null ? {} : { [LABEL]: backend };
        const object = {
          metadata: { labels: names, annotations: names },
          spec: { priorityClassName: 'high' },
        };
        resolve((asList ? { items: [object] } : object) as never);
      };
      asked.push({ what, timeoutMs, answer, refuse });
    });
  const client = {
    get: ({ namespace, name }: Target, options?: { timeoutMs?: number }) =>
      asking(`${namespace ?? ''}/${name}`, options?.timeoutMs, false),
    list: (_resource: unknown, { fieldSelector, timeoutMs }: ListOptions = {}) =>
      asking(fieldSelector ?? '', timeoutMs, true),
  } as unknown as Pick<KubeClient, 'get' | 'list'>;
  const store = (kind: string) => ({
    get: (namespace: string, name: string) => {
      const key = `${kind} ${namespace}/${name}`;
      if (!Object.hasOwn(known, key)) return undefined;
      const names = new Map(known[key] === '' ? [] : [[LABEL, known[key]]]);
      return { labels: names, annotations: names, spec: { priorityClassName: known[`class of ${key}`] } };
    },
  });
  const pods = { hasAny: (_index: string, gang: string) => gang === 'ml/train' };
  const view = { gangs: store('gang'), namespaces: store('namespace'), pods } as never;
  const ending = new AbortController();
  const placement = placementOf({ client, view, signal: ending.signal });
  const read = (place: Place, withinMs = 5_000) => {
    if (placement.read === undefined) throw new Error('it cannot be asked');
    return placement.read(place, withinMs);
  };
  return { asked, placement, read, ending };
}

/** Nobody's time is over because the machine stood still. */
beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

const KNOWN = { 'namespace /ml': '' };
const train = { namespace: 'ml', gang: 'train' };
/** Until everything that was started has gone as far as it goes. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('what the watches know', () => {
  const { placement } = stage({ 'gang ml/train': 'volcano', 'gang ml/bare': '', 'namespace /ml': 'volcano' });
  test('is told apart from what they do not know', () => {
    expect(placement.ofGang('ml', 'train')).toBe('volcano');
    expect(placement.ofGang('ml', 'bare')).toBeNull();
    expect(placement.ofGang('ml', 'new')).toBeUndefined();
    expect(placement.ofNamespace('ml')).toBe('volcano');
    expect(placement.ofNamespace('new')).toBeUndefined();
  });

  test('tells the class of a gang, and whether it has Pods', () => {
    const known = { 'gang ml/train': '', 'class of gang ml/train': 'high', 'gang ml/bare': '' };
    const { classOfGang, hasPods } = stage(known).placement;
    expect(['train', 'bare', 'new'].map((gang) => classOfGang?.('ml', gang))).toEqual([
      'high',
      null,
      undefined,
    ]);
    expect(['train', 'bare'].map((gang) => hasPods?.('ml', gang))).toEqual([true, false]);
  });
});

describe('what they do not know is read', () => {
  test('the PodGang, and its Namespace where that is unknown too', async () => {
    const { asked, read } = stage();
    const found = read(train);
    await turn();
    expect(asked.map(({ what }) => what)).toEqual(['ml/train', 'metadata.name=ml']);
    expect(Math.max(...asked.map(({ timeoutMs }) => timeoutMs ?? Infinity))).toBeLessThanOrEqual(500);
    asked[0]?.answer(null);
    asked[1]?.answer('volcano');
    expect((await found).ofGang('ml', 'train')).toBeNull();
    expect((await found).classOfGang?.('ml', 'train')).toBe('high');
    expect((await found).ofNamespace('ml')).toBe('volcano');
    expect((await found).read).toBeUndefined();
  });

  test('a PodGang that is not there names none', async () => {
    const { asked, read } = stage(KNOWN);
    const found = read(train);
    await turn();
    asked[0]?.refuse(gone);
    expect((await found).ofGang('ml', 'train')).toBeNull();
    expect((await found).classOfGang?.('ml', 'train')).toBeNull();
    expect(asked).toHaveLength(1);
  });

  test('once for all who ask at the same time', async () => {
    const { asked, read } = stage(KNOWN);
    const found = [read(train), read(train), read(train)];
    await turn();
    expect(asked).toHaveLength(1);
    asked[0]?.answer('volcano');
    expect((await Promise.all(found)).map((one) => one.ofGang('ml', 'train'))).toEqual(
      Array(3).fill('volcano'),
    );
  });

  test('again by who came later than a read that found nothing: the PodGang may be newer', async () => {
    const { asked, read } = stage(KNOWN);
    const first = read(train);
    await turn();
    const later = [read(train), read(train)];
    await turn();
    asked[0]?.refuse(gone);
    expect((await first).ofGang('ml', 'train')).toBeNull();
    await turn();
    expect(asked).toHaveLength(2);
    asked[1]?.answer('volcano');
    expect((await Promise.all(later)).map((one) => one.ofGang('ml', 'train'))).toEqual([
      'volcano',
      'volcano',
    ]);
  });
});

describe('TryLater is thrown where', () => {
  test('the API server does not answer, or with no', async () => {
    const { asked, read } = stage(KNOWN);
    const found = read(train);
    await turn();
    asked[0]?.refuse(new Error('no route to host'));
    await expect(found).rejects.toMatchObject({
      name: 'TryLater',
      message: 'PodGang ml/train is not known yet and could not be read: no route to host',
    });
  });

  test('the review has no time left', async () => {
    const { read } = stage(KNOWN);
    const late = expect(read(train, 60)).rejects.toMatchObject({ name: 'TryLater' });
    await jest.advanceTimersByTimeAsync(10);
    await late;
  });

  test('the controller stops', async () => {
    const { read, ending } = stage(KNOWN);
    const found = read(train);
    ending.abort(new Error('the controller is stopping'));
    await expect(found).rejects.toMatchObject({
      name: 'TryLater',
      message: expect.stringContaining('stopping') as unknown,
    });
  });

  test('a Namespace asks for too much, and then for nobody else', async () => {
    const { asked, read } = stage({ ...KNOWN, 'namespace /other': '' });
    const many = Array.from({ length: 16 }, (_, index) => read({ namespace: 'ml', gang: `g${index}` }));
    await turn();
    await expect(read({ namespace: 'ml', gang: 'more' })).rejects.toThrow('too many are being read');
    const other = read({ namespace: 'other', gang: 'train' });
    await turn();
    for (const one of asked) one.answer('volcano');
    await expect(other).resolves.toBeDefined();
    await Promise.all(many);
    const after = read({ namespace: 'ml', gang: 'more' });
    await turn();
    asked.at(-1)?.answer('volcano');
    await expect(after).resolves.toBeDefined();
  });

  test('all places are taken', async () => {
    const { read, ending } = stage(
      Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`namespace /n${index}`, ''])),
    );
    const taken = Array.from({ length: 64 }, (_, index) =>
      read({ namespace: `n${Math.floor(index / 8)}`, gang: `g${index}` }),
    );
    await turn();
    await expect(read({ namespace: 'n8', gang: 'one' })).rejects.toThrow('too many are being read');
    ending.abort(new Error('over'));
    expect((await Promise.allSettled(taken)).every(({ status }) => status === 'rejected')).toBe(true);
  });
});

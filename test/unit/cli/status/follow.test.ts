/** When something is shown; what it looks like is a matter of the other tests. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Changed, Moment } from '../../../../src/status/moment.ts';
import { follow } from '../../../../src/status/follow.ts';
import { EVERY_GANG } from '../../../../src/gang/gang-selection.ts';
import type { KubeClient, WatchEvent, WatchOptions } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import { PODS, type KubeObject, type Resource } from '../../../../src/kube/client/resources.ts';
import { FakeClock, settled } from '../../kube/loop/fake-clock.ts';
import { WITHOUT_WATCH_LIST } from '../../kube/loop/fake-cluster.ts';
import { until } from '../../tls/until.ts';
import { registry } from './gangs.ts';

type Refuses = (verb: 'list' | 'watch', resource: Resource) => Error | undefined;

let clock: FakeClock;
let shown: { readonly pods: number; readonly changed: readonly Changed[] }[];
let closed: number;
let version: number;
let end: AbortController;
let running: Promise<unknown>;
let tell: (object: KubeObject) => void;

const metadata = (name: string): KubeObject['metadata'] => ({
  namespace: 'ml',
  name,
  uid: `uid-${name}`,
  resourceVersion: String(++version),
  labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' },
});

/** Watches that a test writes the Pods of, and whatever it refuses. */
function clientThat(refuses: Refuses): KubeClient {
  const pending: KubeObject[] = [];
  const sleepers = new Set<() => void>();
  tell = (object) => {
    pending.push(object);
    for (const wake of sleepers) wake();
    sleepers.clear();
  };
  async function* watch(resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent<KubeObject>[]> {
    if (options.initialEvents === true) throw WITHOUT_WATCH_LIST;
    const refused = refuses('watch', resource);
    if (refused !== undefined) throw refused;
    options.accepted?.();
    const over = new Promise<void>((resolve) => options.signal?.addEventListener('abort', () => resolve()));
    while (options.signal?.aborted !== true) {
      const objects = resource === PODS ? pending.splice(0) : [];
      if (objects.length > 0) yield objects.map((object) => ({ type: 'ADDED', object }));
      else await Promise.race([over, new Promise<void>((resolve) => sleepers.add(resolve))]);
    }
    throw options.signal.reason;
  }
  const client: Partial<Record<keyof KubeClient, unknown>> = {
    server: 'https://nowhere',
    list: (resource: Resource) => {
      const refused = refuses('list', resource);
      const page = { items: [], resourceVersion: '1', continue: undefined };
      return refused === undefined ? Promise.resolve(page) : Promise.reject(refused);
    },
    watch,
  };
  return client as unknown as KubeClient;
}

function start(
  refuses: Refuses = () => undefined,
  show: (moment: Moment) => void = () => undefined,
): Promise<unknown> {
  running = follow(
    { gang: undefined, namespace: 'ml' },
    {
      client: clientThat(refuses),
      registry,
      selectors: EVERY_GANG,
      clock,
      signal: end.signal,
      show: {
        show: (moment, changed) => {
          shown.push({ pods: moment.gangs[0]?.pods.length ?? 0, changed });
          show(moment);
        },
        close: () => void (closed += 1),
      },
    },
  );
  running.catch(() => undefined);
  return running;
}

beforeEach(() => {
  clock = new FakeClock();
  end = new AbortController();
  [shown, closed, version] = [[], 0, 1];
});
afterEach(async () => {
  end.abort();
  await running.catch(() => undefined);
});

test('a burst of changes is shown at once, a quarter of a second after what was shown before', async () => {
  void start();
  await clock.pass(0);
  expect(shown).toHaveLength(1);
  for (let count = 0; count < 50; count += 1) {
    tell({ metadata: metadata(`worker-${count}`) });
    await settled();
    await settled();
  }
  await clock.pass(249);
  expect(shown).toHaveLength(1);
  await clock.pass(1);
  expect(shown.map(({ pods, changed }) => [pods, changed.length])).toEqual([
    [0, 0],
    [50, 1],
  ]);
});

test('without any change the ages are shown once a second', async () => {
  void start();
  await clock.pass(10_000);
  expect(shown.length).toBeGreaterThan(8);
  expect(shown.length).toBeLessThan(13);
  expect(shown.every(({ changed }) => changed.length === 0)).toBe(true);
});

test('what fails while it is shown ends it, and the terminal is given back', async () => {
  const broken = new Error('a defect');
  const ended = start(
    () => undefined,
    () => {
      throw broken;
    },
  );
  await clock.pass(0);
  await expect(ended).rejects.toBe(broken);
  expect([closed, clock.waiting]).toEqual([1, 0]);
});

const forbidden = new ApiError('it', { status: 403, reason: 'Forbidden', message: 'no' });
const overloaded = new ApiError('it', { status: 503, message: 'later' });

test.each<[string, Refuses]>([
  ['who may not list', (verb) => (verb === 'list' ? forbidden : undefined)],
  ['who may list but not watch', (verb) => (verb === 'watch' ? forbidden : undefined)],
  [
    'who may not watch Pods',
    (verb, resource) => (verb === 'watch' && resource === PODS ? forbidden : undefined),
  ],
])('%s is told so at once', async (_, refuses) => {
  const ended = start(refuses);
  await clock.pass(2_000);
  await expect(ended).rejects.toMatchObject({ code: 'CLUSTER_REFUSED' });
  expect(closed).toBe(1);
});

test('an API server that went away before the watch, and refuses all while it starts, is waited for', async () => {
  // Refused for longer than lies between two looks, whatever the random part of the pauses is.
  const answers: (Error | undefined)[] = [overloaded, forbidden, forbidden, forbidden, overloaded];
  const troubles: (string | undefined)[] = [];
  void start(
    (verb, resource) => (verb === 'watch' && resource === PODS ? answers.shift() : undefined),
    ({ trouble }) => void troubles.push(trouble?.message),
  );
  await until('it watches', () =>
    clock.pass(1_000).then(() => answers.length === 0 && troubles.at(-1) === undefined),
  );
  expect(troubles).toContain('it: 503: later');
  expect(troubles).toContainEqual(
    expect.stringMatching(
      /^it: 403 Forbidden: no\. It takes the rights to list .* pods and podgangs\.scheduler\.grove\.io in .*: the ClusterRole "view" has them once Muster is installed[^.]*(\. One namespace is named with -n)?$/,
    ),
  );
  expect(closed).toBe(0);
});

test('a server that is busy later is waited for, and what it says is shown', async () => {
  const troubles: (string | undefined)[] = [];
  void start(
    (verb) => (verb === 'watch' ? overloaded : undefined),
    ({ trouble }) => void troubles.push(trouble?.message),
  );
  await clock.pass(1_000);
  expect(troubles.at(-1)).toBe('it: 503: later');
  expect(closed).toBe(0);
});

import { describe, expect, test } from '@jest/globals';
import type { BackendFactory, BackendSettings } from '../../../src/backends/backend.ts';
import type { BackendFacts, ClusterProbe, InitContext } from '../../../src/backends/cluster.ts';
import type { Resource } from '../../../src/k8s/resource.ts';
import { BackendRegistry, builtInBackends, supportedSchedulers } from '../../../src/backends/registry.ts';
import { selectForPod, selectForPodGang } from '../../../src/backends/select.ts';
import { MusterError } from '../../../src/errors.ts';
import { backend } from '../../support/backends.ts';
import { clusterWith } from '../../support/made-backend.ts';

const SETTINGS: BackendSettings = { config: {}, topology: { enabled: false, keys: [] } };
const enabling = (...names: string[]): { name: string }[] => names.map((name) => ({ name }));
const thrownBy = (build: () => unknown): MusterError => {
  try {
    build();
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was thrown');
};

describe('the names of the built-in backends', () => {
  test('and their former names', () => {
    expect(supportedSchedulers()).toEqual({
      names: ['default-scheduler', 'kai-scheduler', 'volcano', 'coscheduling'],
      aliases: { 'grove-scheduler': 'kai-scheduler' },
    });
  });

  test('are the names of what they create', () => {
    expect(
      builtInBackends.map((factory) => {
        const made = factory.create(SETTINGS);
        return [factory.name, made.name, made.schedulerName];
      }),
    ).toEqual([
      ['default-scheduler', 'default-scheduler', 'default-scheduler'],
      ['kai-scheduler', 'kai-scheduler', 'kai-scheduler'],
      ['volcano', 'volcano', 'volcano'],
      ['coscheduling', 'coscheduling', 'scheduler-plugins-scheduler'],
    ]);
  });
});

/** Backends are other people's code: they throw what they like. */
const rejectWith = (reason: unknown): Promise<never> =>
  new Promise((_resolve, reject) => {
    (reject as (reason: unknown) => void)(reason);
  });

describe('the registry', () => {
  test('knows the enabled backends in the order of the configuration, and the default', () => {
    const registry = new BackendRegistry(enabling('kai-scheduler', 'default-scheduler'), 'default-scheduler');
    expect(registry.enabled).toEqual(['kai-scheduler', 'default-scheduler']);
    expect(registry.default.name).toBe('default-scheduler');
  });

  test.each(['', '  ', 'volcano', 'KAI-scheduler', 'constructor', '__proto__'])(
    'resolves %p to nothing',
    (name) => {
      expect(
        new BackendRegistry(enabling('default-scheduler'), 'default-scheduler').resolve(name),
      ).toBeUndefined();
    },
  );

  test('resolves no backend that is not enabled, by no name', () => {
    const registry = new BackendRegistry(enabling('default-scheduler'), 'default-scheduler');
    expect(registry.resolve('kai-scheduler')).toBeUndefined();
    expect(registry.resolve('grove-scheduler')).toBeUndefined();
  });

  test('resolves a former name with a notice, also when the configuration uses it', () => {
    for (const name of ['kai-scheduler', 'grove-scheduler']) {
      const registry = new BackendRegistry(enabling(name), name);
      expect(registry.enabled).toEqual(['kai-scheduler']);
      expect(registry.resolve('kai-scheduler')).toEqual({ backend: registry.default, notice: undefined });
      expect(registry.resolve('grove-scheduler')).toEqual({
        backend: registry.default,
        notice: 'scheduler name "grove-scheduler" is deprecated: use "kai-scheduler"',
      });
    }
  });

  test('makes one backend of two profiles that mean the same', () => {
    const registry = new BackendRegistry(enabling('grove-scheduler', 'kai-scheduler'), 'kai-scheduler');
    expect(registry.enabled).toEqual(['kai-scheduler']);
    expect(registry.resolve('grove-scheduler')?.backend).toBe(registry.resolve('kai-scheduler')?.backend);
  });

  test('resolves a backend by its scheduler’s name as well; a backend of that name goes first', () => {
    const factories = [
      backend('coscheduling', { schedulerName: 'x-scheduler' }),
      backend('tall', { schedulerName: 'coscheduling' }),
    ];
    const registry = new BackendRegistry(enabling('coscheduling', 'tall'), 'tall', { factories });
    expect(registry.resolve('x-scheduler')?.backend.name).toBe('coscheduling');
    expect(registry.resolve('coscheduling')?.backend.name).toBe('coscheduling');
    expect(selectForPod(registry, undefined, 'x-scheduler')).toMatchObject({
      resolved: { backend: { name: 'coscheduling' }, notice: undefined },
    });
  });

  test('refuses a scheduler that no backend serves, and lists those there are', () => {
    const error = thrownBy(
      () => new BackendRegistry(enabling('default-scheduler', 'x'), 'default-scheduler'),
    );
    expect(error).toMatchObject({
      code: 'BACKEND_UNSUPPORTED',
      message:
        'unsupported scheduler "x" (supported: default-scheduler, kai-scheduler, volcano, coscheduling)',
      fix: 'use one of the supported names in schedulerName or scheduler.profiles',
    });
  });

  test('refuses a default that is not enabled, and lists those that are', () => {
    const build = (name: string) => thrownBy(() => new BackendRegistry(enabling('default-scheduler'), name));
    expect(build('kai-scheduler')).toMatchObject({
      code: 'BACKEND_UNSUPPORTED',
      message: 'the default scheduler "kai-scheduler" is not enabled (enabled: default-scheduler)',
    });
    expect(build('x').message).toBe(
      'unsupported scheduler "x" (supported: default-scheduler, kai-scheduler, volcano, coscheduling)',
    );
  });

  test.each([
    ['two backends of one name', [backend('a'), backend('a')], 'backend "a" is registered twice'],
    [
      'a former name that is another’s name',
      [backend('a'), backend('b', {}, { a: 'b' })],
      'backend "a" is registered twice',
    ],
    [
      'a backend of another name than its factory',
      [backend('a', { name: 'b' })],
      'backend "a" calls itself "b" once it is created',
    ],
    [
      'a backend of another version of the contract',
      [backend('a', { contractVersion: 2 })],
      'backend "a" is written for version 2 of the contract, this is version 1',
    ],
  ])('refuses %s', (_what, factories, message) => {
    expect(thrownBy(() => new BackendRegistry(enabling('a'), 'a', { factories }))).toMatchObject({
      code: 'BACKEND_CONTRACT',
      message,
    });
  });
});

describe('the making of the backends', () => {
  test('gives each the config of its own profile and the topology, in order, once', () => {
    const seen: [string, BackendSettings][] = [];
    const noting = (name: string, aliases = {}): BackendFactory => {
      const factory = backend(name, {}, aliases);
      return {
        ...factory,
        create: (settings) => {
          seen.push([name, settings]);
          return factory.create(settings);
        },
      };
    };
    const factories = [noting('a'), noting('b', { 'old-b': 'b' }), noting('c')];
    const profiles = [
      { name: 'old-b', config: { queue: 'q' } },
      { name: 'b', config: { queue: 'r' } },
      { name: 'a' },
    ];
    const topology = { enabled: true, keys: ['zone'] };
    new BackendRegistry(profiles, 'a', { factories, topology });
    expect(seen).toEqual([
      ['b', { config: { queue: 'q' }, topology }],
      ['a', { config: {}, topology }],
    ]);
  });

  test.each([
    ['an Error', new Error('config.queue must be a name'), 'config.queue must be a name'],
    ['something else', 'no', 'no'],
  ])('fails with the backend’s own reason: %s', (_what, reason, says) => {
    const create = (): never => {
      throw reason as Error;
    };
    const error = thrownBy(
      () => new BackendRegistry(enabling('a'), 'a', { factories: [{ name: 'a', create }] }),
    );
    expect(error).toMatchObject({
      code: 'BACKEND_INIT_FAILED',
      message: `failed to initialize backend: a: ${says}`,
      cause: reason,
    });
  });
});

describe('a look at the cluster', () => {
  const signal = new AbortController().signal;
  const ask = (init: (context: InitContext) => Promise<BackendFacts>) => init({ cluster: undefined, signal });

  test('is kept until the next one, and one backend’s failure is its own', async () => {
    let works = false;
    const init = () => (works ? Promise.resolve({ version: 'v2' }) : rejectWith(new Error('no CRD')));
    const registry = new BackendRegistry(enabling('a', 'b'), 'a', {
      factories: [backend('a', { init }), backend('b')],
    });
    expect(registry.readiness('a')).toEqual({ state: 'unknown' });
    expect(await registry.init('a', ask)).toEqual({ state: 'failed', reason: 'no CRD' });
    expect(registry.readiness('a')).toEqual({ state: 'failed', reason: 'no CRD' });
    expect(await registry.init('b', ask)).toEqual({ state: 'ready', facts: { version: 'test' } });
    works = true;
    await registry.init('a', ask);
    expect(registry.readiness('a')).toEqual({ state: 'ready', facts: { version: 'v2' } });
  });

  test('of a backend that throws no Error, at once', async () => {
    const init = (): never => {
      throw 'no' as unknown as Error;
    };
    const registry = new BackendRegistry(enabling('a'), 'a', { factories: [backend('a', { init })] });
    expect(await registry.init('a', ask)).toEqual({ state: 'failed', reason: 'no' });
  });

  describe('says something once a cluster has answered it', () => {
    const silent = (): Promise<never> => Promise.reject(new Error('503 ServiceUnavailable'));
    const answering = clusterWith();
    const dumb: ClusterProbe = {
      ...answering,
      versions: silent,
      resources: silent,
      crdSchema: silent,
      read: silent,
    };
    const registryOf = (look: (cluster: ClusterProbe) => Promise<unknown>) => {
      const init = async ({ cluster }: InitContext): Promise<BackendFacts> => {
        if (cluster !== undefined) await look(cluster);
        return { version: 'v1' };
      };
      return new BackendRegistry(enabling('a'), 'a', { factories: [backend('a', { init })] });
    };
    const lookAt = (registry: BackendRegistry, cluster: ClusterProbe | undefined) =>
      registry.init('a', (init) => init({ cluster, signal }));

    test('and not before', () => {
      const registry = registryOf(() => Promise.resolve());
      expect(registry.unseen('a')).toBe('backend a has not looked at the cluster yet');
    });

    test.each<[string, (cluster: ClusterProbe) => Promise<unknown>]>([
      ['versions', (cluster) => cluster.versions('g')],
      ['resources', (cluster) => cluster.resources('g/v1')],
      ['crdSchema', (cluster) => cluster.crdSchema('crd', 'v1')],
      ['read', (cluster) => cluster.read('/x')],
      [
        'one of several',
        async (cluster) => {
          await cluster.dryRunCreate({} as Resource, {}).catch(() => undefined);
          await cluster.read('/x');
        },
      ],
    ])('not where %s had no answer; later silence changes nothing', async (_what, look) => {
      const registry = registryOf(look);
      const readiness = await lookAt(registry, dumb);
      expect(readiness.state).toBe('failed');
      expect(registry.unseen('a')).toMatch(/^backend a could not look at the cluster yet: ./);
      await lookAt(registry, answering);
      expect(registry.unseen('a')).toBeUndefined();
      await lookAt(registry, dumb);
      expect(registry.unseen('a')).toBeUndefined();
    });

    test('also where the answer is that something is missing, or a dry run is refused', async () => {
      const missing = registryOf(async (cluster) => {
        if ((await cluster.crdSchema('crd', 'v1')) === undefined) throw new Error('install it');
      });
      expect(await lookAt(missing, answering)).toEqual({ state: 'failed', reason: 'install it' });
      expect(missing.unseen('a')).toBeUndefined();
      const refused = registryOf((cluster) => cluster.dryRunCreate({} as Resource, {}));
      expect(await lookAt(refused, answering)).toEqual({ state: 'failed', reason: 'not asked for' });
      expect(refused.unseen('a')).toBeUndefined();
    });

    test('and where there is none', async () => {
      const registry = registryOf(() => Promise.resolve());
      await lookAt(registry, undefined);
      expect(registry.unseen('a')).toBeUndefined();
    });

    test('not where it was given up on', async () => {
      const registry = registryOf(() => new Promise(() => undefined));
      const late = registry.init('a', async (init) => {
        void init({ cluster: answering, signal });
        return Promise.reject(new Error('took too long'));
      });
      expect((await late).state).toBe('failed');
      expect(registry.unseen('a')).toBe('backend a could not look at the cluster yet: took too long');
    });
  });

  test('of one that is not enabled says nothing', async () => {
    const registry = new BackendRegistry(enabling('default-scheduler'), 'default-scheduler');
    expect(await registry.init('kai-scheduler', ask)).toEqual({ state: 'unknown' });
  });
});

describe('the backend of a PodGang', () => {
  const registry = new BackendRegistry(enabling('default-scheduler', 'kai-scheduler'), 'kai-scheduler');

  test.each([
    [undefined, 'kai-scheduler'],
    ['default-scheduler', 'default-scheduler'],
    ['grove-scheduler', 'kai-scheduler'],
  ])('labelled %p is %s', (label, name) => {
    expect(selectForPodGang(registry, label)).toMatchObject({ resolved: { backend: { name } } });
  });

  test.each(['', 'volcano'])('labelled %p is none', (label) => {
    expect(selectForPodGang(registry, label).fault).toMatchObject({ rule: 'SchedulerNotEnabled' });
  });
});

describe('the version of the contract', () => {
  const under = (contractVersion: unknown, contract = { oldest: 2, current: 4 }) =>
    new BackendRegistry(enabling('a'), 'a', {
      factories: [backend('a', { contractVersion: contractVersion as number })],
      contract,
    });

  test('may be any in the range; an older one is told', () => {
    expect(under(4).notices).toEqual([]);
    expect(under(2).notices).toEqual([
      'backend a is written for version 2 of the contract; this is version 4, and a later Muster will refuse it: use a newer release of the backend',
    ]);
  });

  test.each([1, 5, '3x', undefined, NaN])('may not be %p', (version) => {
    expect(thrownBy(() => under(version))).toMatchObject({
      code: 'BACKEND_CONTRACT',
      message: `backend "a" is written for version ${String(version)} of the contract, versions 2 to 4 work here`,
    });
  });
});

describe('what a backend gives that is plain JavaScript', () => {
  const readinessOf = async (parts: object) => {
    const registry = new BackendRegistry(enabling('a'), 'a', { factories: [backend('a', parts)] });
    const given = { cluster: undefined, signal: new AbortController().signal };
    const readiness = await registry.init('a', (init) => init(given));
    return { readiness, owned: registry.owned('a') };
  };
  const kind = { group: 'g', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };

  test.each([
    [
      'init() that returns nothing',
      { init: () => undefined },
      "init() must resolve to { version: '…' }: the API that the backend will speak",
    ],
    [
      'init() that resolves to nothing',
      { init: () => Promise.resolve() },
      "init() must resolve to { version: '…' }: the API that the backend will speak",
    ],
    [
      'notices that are no list',
      { init: () => Promise.resolve({ version: 'v1', notices: 'x' }) },
      'init() must resolve to notices that are a list of texts, or to none',
    ],
    [
      'owns() that throws',
      {
        owns: () => {
          throw new Error('no kinds today');
        },
      },
      'no kinds today',
    ],
    [
      'owns() that is no list',
      { owns: () => 'things' },
      'owns() must return a list of { group, version, plural, kind, namespaced }',
    ],
    [
      'owns() of something else',
      { owns: () => [{ plural: 'things' }] },
      'owns() must return a list of { group, version, plural, kind, namespaced }',
    ],
  ])('%s makes it not ready, with the reason', async (_what, parts, reason) => {
    expect(await readinessOf(parts)).toEqual({ readiness: { state: 'failed', reason }, owned: [] });
  });

  test('is used where it is right', async () => {
    const { readiness, owned } = await readinessOf({ owns: () => [kind] });
    expect(readiness.state).toBe('ready');
    expect(owned).toEqual([kind]);
  });
});

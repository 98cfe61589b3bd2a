import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/api/json.ts';
import type { Backend } from '../../../src/backends/backend.ts';
import { BackendRegistry, builtInBackends, supportedSchedulers } from '../../../src/backends/registry.ts';
import { selectForPod, selectForPodGang } from '../../../src/backends/select.ts';
import { MusterError } from '../../../src/errors.ts';
import { backend } from '../../support/backends.ts';

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
      names: ['default-scheduler', 'kai-scheduler'],
      aliases: { 'grove-scheduler': 'kai-scheduler' },
    });
  });

  test('are the names of what they create', () => {
    expect(
      builtInBackends.map((factory) => [factory.name, factory.create().name, factory.create().schedulerName]),
    ).toEqual([
      ['default-scheduler', 'default-scheduler', 'default-scheduler'],
      ['kai-scheduler', 'kai-scheduler', 'kai-scheduler'],
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
    const registry = new BackendRegistry(enabling('coscheduling', 'tall'), 'tall', factories);
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
      message: 'unsupported scheduler "x" (supported: default-scheduler, kai-scheduler)',
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
      'unsupported scheduler "x" (supported: default-scheduler, kai-scheduler)',
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
      [backend('a', { contractVersion: 2 as unknown as 1 })],
      'backend "a" is written for version 2 of the contract, this is version 1',
    ],
  ])('refuses %s', (_what, factories, message) => {
    expect(thrownBy(() => new BackendRegistry(enabling('a'), 'a', factories))).toMatchObject({
      code: 'BACKEND_CONTRACT',
      message,
    });
  });
});

describe('the start of the backends', () => {
  test('gives each the config of its own profile, in order, once', async () => {
    const seen: [string, JsonObject][] = [];
    const noting = (name: string, aliases = {}) =>
      backend(name, { init: ({ config }) => Promise.resolve(void seen.push([name, config])) }, aliases);
    const factories = [noting('a'), noting('b', { 'old-b': 'b' }), noting('c')];
    const profiles = [
      { name: 'old-b', config: { queue: 'q' } },
      { name: 'a', config: { depth: 3 } },
    ];
    const registry = new BackendRegistry(profiles, 'a', factories);
    await registry.init(profiles);
    expect(seen).toEqual([
      ['b', { queue: 'q' }],
      ['a', { depth: 3 }],
    ]);
    seen.length = 0;
    await registry.init([]);
    expect(seen).toEqual([
      ['b', {}],
      ['a', {}],
    ]);
  });

  test('the built-in ones have nothing to wait for', async () => {
    const registry = new BackendRegistry(enabling('default-scheduler', 'kai-scheduler'), 'kai-scheduler');
    await expect(registry.init([])).resolves.toBeUndefined();
    const { signal } = new AbortController();
    for (const name of registry.enabled) {
      const found = registry.resolve(name)?.backend as Backend;
      await expect(found.syncPodGang({ signal }, {} as never)).resolves.toBeUndefined();
      await expect(found.onPodGangDelete({ signal }, {} as never)).resolves.toBeUndefined();
    }
  });

  test.each([
    [
      'an Error',
      new Error('PodGroup has no subGroups: KAI 0.15 or newer is needed'),
      'PodGroup has no subGroups: KAI 0.15 or newer is needed',
    ],
    ['something else', 'no', 'no'],
  ])('fails with the backend’s own reason: %s', async (_what, reason, says) => {
    const factories = [backend('a', { init: () => rejectWith(reason) })];
    const registry = new BackendRegistry(enabling('a'), 'a', factories);
    await expect(registry.init([])).rejects.toMatchObject({
      code: 'BACKEND_INIT_FAILED',
      message: `failed to initialize backend: a: ${says}`,
      cause: reason,
    });
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

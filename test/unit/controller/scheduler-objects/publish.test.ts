import { beforeEach, describe, expect, test } from '@jest/globals';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { BackendPublisher } from '../../../../src/controller/scheduler-objects/publish.ts';
import { backend } from '../../../support/backends.ts';
import { at, FakeObjects } from './fake-objects.ts';

const { signal } = new AbortController();
let server: FakeObjects;
let said: string[];
let works: boolean;
let now: Date;

beforeEach(() => {
  server = new FakeObjects();
  [said, works, now] = [[], true, new Date('2026-01-01T00:00:00.5Z')];
});

const init = () =>
  works
    ? Promise.resolve({ version: 'x.io/v1', notices: ['no topology'] })
    : Promise.reject(new Error('the CRD podgroups.x.io is not installed'));

async function publisherOf(fallback: string, names = ['a', 'b']) {
  const factories = names.map((name) =>
    backend(name, name === 'a' ? { init, schedulerName: 'a-scheduler' } : {}),
  );
  const registry = new BackendRegistry(
    names.map((name) => ({ name })),
    fallback,
    { factories },
  );
  const look = async (): Promise<void> => {
    for (const name of names) await registry.init(name, (ask) => ask({ cluster: undefined, signal }));
  };
  await look();
  const publisher = new BackendPublisher({
    client: server.client,
    registry,
    recorder: {
      event: ({ name, namespace }, { type, reason, note }) =>
        said.push(`${namespace}${name} ${type} ${reason}: ${note}`),
    },
    now: () => now,
  });
  return { publisher, look };
}
const condition = (name: string) => at(server.of(name, ''), 'status', 'conditions');

describe('what is shown of a backend', () => {
  test('ready: its API, its scheduler, whether it is the default, and an Event once', async () => {
    const { publisher } = await publisherOf('a');
    await publisher.begin(signal);
    expect(at(server.of('a', ''), 'status')).toEqual({
      default: true,
      schedulerName: 'a-scheduler',
      version: 'x.io/v1',
      conditions: [
        {
          type: 'SchedulerBackendReady',
          status: 'True',
          reason: 'BackendInitialized',
          message: 'speaks x.io/v1; no topology',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    });
    expect(at(server.of('b', ''), 'status', 'default')).toBe(false);
    expect(said).toEqual([
      "a Normal BackendInitialized: Scheduler backend 'a' initialized successfully",
      "b Normal BackendInitialized: Scheduler backend 'b' initialized successfully",
    ]);
  });

  test('another replica, or this one after a restart, writes nothing and says nothing again', async () => {
    await (await publisherOf('a')).publisher.begin(signal);
    [said, now] = [[], new Date('2026-01-02T00:00:00Z')];
    server.calls.length = 0;
    await (await publisherOf('a')).publisher.begin(signal);
    expect(said).toEqual([]);
    expect(server.calls.filter((call) => call.startsWith('status'))).toEqual([]);
    // What was just listed is not asked for one by one.
    expect(server.calls).toEqual(['list']);
  });

  test('not ready: the reason, and since when', async () => {
    const { publisher, look } = await publisherOf('a');
    await publisher.begin(signal);
    [said, works, now] = [[], false, new Date('2026-01-02T00:00:00Z')];
    await look();
    await publisher.publish('a', signal);
    expect(condition('a')).toEqual([
      {
        type: 'SchedulerBackendReady',
        status: 'False',
        reason: 'BackendInitializationFailed',
        message: 'the CRD podgroups.x.io is not installed',
        lastTransitionTime: '2026-01-02T00:00:00Z',
      },
    ]);
    expect(said).toEqual([
      "a Warning BackendInitializationFailed: Failed to initialize scheduler backend 'a': the CRD podgroups.x.io is not installed",
    ]);
  });

  test('another default than before is told, over a restart', async () => {
    await (await publisherOf('a')).publisher.begin(signal);
    said = [];
    await (await publisherOf('b')).publisher.begin(signal);
    expect(said).toEqual(["b Normal BackendSwitched: Switched from backend 'a' to 'b'"]);
    expect(at(server.of('a', ''), 'status', 'default')).toBe(false);
    said = [];
    await (await publisherOf('b')).publisher.begin(signal);
    expect(said).toEqual([]);
  });

  test('one that the configuration no longer has is unknown', async () => {
    await (await publisherOf('a')).publisher.begin(signal);
    said = [];
    await (await publisherOf('b', ['b'])).publisher.begin(signal);
    expect(condition('a')).toMatchObject([
      { status: 'Unknown', reason: 'BackendNotConfigured', message: 'the configuration has no profile "a"' },
    ]);
    expect(said).toEqual(["b Normal BackendSwitched: Switched from backend 'a' to 'b'"]);
  });

  test('nothing, before it was asked', async () => {
    const registry = new BackendRegistry([{ name: 'a' }], 'a', { factories: [backend('a')] });
    const publisher = new BackendPublisher({
      client: server.client,
      registry,
      recorder: { event: () => said.push('an Event') },
      now: () => now,
    });
    await publisher.publish('a', signal);
    expect([server.calls, said]).toEqual([[], []]);
  });
});

test('what a backend could not do for the cluster is told on its object', async () => {
  const { publisher } = await publisherOf('a');
  await publisher.tell('a', 'the quota is used up', signal);
  expect(said).toEqual(['a Warning BackendOperationFailed: the quota is used up']);
});

import { expect, test } from '@jest/globals';
import type { ClusterProbe, InitContext } from '../../../../src/backends/cluster.ts';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { ProbeLoop } from '../../../../src/controller/scheduler-objects/probe-loop.ts';
import { backend } from '../../../support/backends.ts';
import { FakeClock } from '../../kube/loop/fake-clock.ts';

function loopOf(init: () => Promise<{ version: string }>) {
  const clock = new FakeClock();
  const registry = new BackendRegistry([{ name: 'a' }, { name: 'b' }], 'b', {
    factories: [backend('a', { init }), backend('b')],
  });
  const probes: string[] = [];
  const loop = new ProbeLoop({
    registry,
    cluster: () => ({}) as ClusterProbe,
    probed: (name, now, before) => probes.push(`${name} ${before.state} -> ${now.state}`),
    clock,
  });
  return { clock, registry, probes, loop };
}

test('asks every backend at start, and one that is not ready again every five seconds', async () => {
  let works = false;
  const { clock, probes, loop, registry } = loopOf(() =>
    works ? Promise.resolve({ version: '1' }) : Promise.reject(new Error('no CRD')),
  );
  await loop.start();
  expect([...probes].sort()).toEqual(['a unknown -> failed', 'b unknown -> ready']);
  probes.length = 0;
  await clock.pass(5_000);
  expect(probes).toEqual(['a failed -> failed']);
  works = true;
  await clock.pass(5_000);
  expect(probes).toEqual(['a failed -> failed', 'a failed -> ready']);
  expect(registry.readiness('a').state).toBe('ready');
  probes.length = 0;
  await clock.pass(49_000);
  expect(probes).toEqual([]);
  await clock.pass(1_000);
  expect(probes).toEqual(['b ready -> ready']);
  await clock.pass(10_000);
  expect(probes).toEqual(['b ready -> ready', 'a ready -> ready']);
  await loop.stop();
});

test('gives up on one that hangs, and the others do not wait for it', async () => {
  const { clock, probes, loop, registry } = loopOf(() => new Promise(() => undefined));
  const started = loop.start();
  await clock.pass(0);
  expect(probes).toEqual(['b unknown -> ready']);
  await clock.pass(10_000);
  await started;
  expect(registry.readiness('a')).toEqual({
    state: 'failed',
    reason: 'backend a did not answer within 10 s',
  });
  await loop.stop();
});

test('a cluster that answers no look is asked soon again, and the replica is unready for half a minute at most', async () => {
  let down = true;
  const clock = new FakeClock();
  const registry = new BackendRegistry([{ name: 'a' }, { name: 'b' }], 'b', {
    factories: [
      backend('a', {
        init: async ({ cluster }: InitContext) => {
          await cluster?.read('/apis/a');
          return { version: '1' };
        },
      }),
      backend('b'),
    ],
  });
  const times: number[] = [];
  const read = (): Promise<undefined> =>
    down ? Promise.reject(new Error('no')) : Promise.resolve(undefined);
  const probed = (name: string): unknown => (name === 'a' ? times.push(clock.now()) : undefined);
  const loop = new ProbeLoop({
    registry,
    cluster: () => ({ read }) as unknown as ClusterProbe,
    probed,
    clock,
  });
  expect(loop.check()).toBe('waiting for the backends to look at the cluster');
  const since = clock.now();
  await loop.start();
  expect(loop.check()).toBe('backend a could not look at the cluster yet: no');
  await clock.pass(12_750);
  expect(times.map((time) => time - since)).toEqual([0, 250, 750, 1_750, 3_750, 7_750, 12_750]);
  expect(loop.check()).toBe('backend a could not look at the cluster yet: no');
  // The others are not kept from their gangs for ever.
  await clock.pass(17_250);
  expect(loop.check()).toBeUndefined();
  expect(registry.unseen('a')).toBeDefined();
  down = false;
  await clock.pass(5_000);
  expect(registry.unseen('a')).toBeUndefined();
  await loop.stop();
});

test('probes again at once when it is asked to, but not twice in a row', async () => {
  const { clock, probes, loop } = loopOf(() => Promise.resolve({ version: '1' }));
  await loop.start();
  await clock.pass(1_000);
  probes.length = 0;
  loop.soon('a');
  await clock.pass(0);
  expect(probes).toEqual(['a ready -> ready']);
  // What it found changed something again: that can wait.
  loop.soon('a');
  await clock.pass(59_000);
  expect(probes.filter((line) => line.startsWith('a'))).toEqual(['a ready -> ready']);
  await clock.pass(1_000);
  loop.soon('a');
  await clock.pass(0);
  expect(probes.filter((line) => line.startsWith('a'))).toHaveLength(3);
  await loop.stop();
});

import { expect, test } from '@jest/globals';
import type { ClusterProbe } from '../../../../src/backends/cluster.ts';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { ProbeLoop } from '../../../../src/controller/scheduler-objects/probe-loop.ts';
import { backend } from '../../../support/backends.ts';
import { FakeClock } from '../fake-clock.ts';

function loopOf(init: () => Promise<{ version: string }>) {
  const clock = new FakeClock();
  const registry = new BackendRegistry([{ name: 'a' }, { name: 'b' }], 'b', {
    factories: [backend('a', { init }), backend('b')],
  });
  const looks: string[] = [];
  const loop = new ProbeLoop({
    registry,
    cluster: () => ({}) as ClusterProbe,
    probed: (name, now, before) => looks.push(`${name} ${before.state} -> ${now.state}`),
    clock,
  });
  return { clock, registry, looks, loop };
}

test('asks every backend at start, and one that is not ready again every five seconds', async () => {
  let works = false;
  const { clock, looks, loop, registry } = loopOf(() =>
    works ? Promise.resolve({ version: '1' }) : Promise.reject(new Error('no CRD')),
  );
  await loop.start();
  expect([...looks].sort()).toEqual(['a unknown -> failed', 'b unknown -> ready']);
  looks.length = 0;
  await clock.pass(5_000);
  expect(looks).toEqual(['a failed -> failed']);
  works = true;
  await clock.pass(5_000);
  expect(looks).toEqual(['a failed -> failed', 'a failed -> ready']);
  expect(registry.readiness('a').state).toBe('ready');
  looks.length = 0;
  await clock.pass(49_000);
  expect(looks).toEqual([]);
  await clock.pass(1_000);
  expect(looks).toEqual(['b ready -> ready']);
  await clock.pass(10_000);
  expect(looks).toEqual(['b ready -> ready', 'a ready -> ready']);
  await loop.stop();
});

test('gives up on one that hangs, and the others do not wait for it', async () => {
  const { clock, looks, loop, registry } = loopOf(() => new Promise(() => undefined));
  const started = loop.start();
  await clock.pass(0);
  expect(looks).toEqual(['b unknown -> ready']);
  await clock.pass(10_000);
  await started;
  expect(registry.readiness('a')).toEqual({
    state: 'failed',
    reason: 'backend a did not answer within 10 s',
  });
  await loop.stop();
});

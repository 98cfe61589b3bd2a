import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { reportMemoryExceeded } from '../../../../src/controller/watch/observers.ts';
import { CacheMemory, memoryLimitsOf } from '../../../../src/kube/loop/cache-memory.ts';
import { LoopMetrics } from '../../../../src/telemetry/loop-metrics.ts';
import { observeExposition, observeLines } from '../../../support/observed.ts';

test('a namespace that stands still is a warning and counts, and its end is told as well', async () => {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const log = pino({ base: null, formatters: { level: (level) => ({ level }) } }, sink);
  const [room, metrics] = [new CacheMemory(memoryLimitsOf(256 * 2 ** 20)), new LoopMetrics()];
  reportMemoryExceeded(room, log, metrics);
  // That of a fleet counts as well.
  const ofFleet = new CacheMemory(memoryLimitsOf(256 * 2 ** 20));
  reportMemoryExceeded(ofFleet, pino({ enabled: false }), metrics);
  const [pods, bindings] = [{ kind: 'pods' }, { kind: 'resourcebindings' }];
  const standing = async (): Promise<string | undefined> => {
    const exposed = await metrics.expose();
    observeExposition(exposed);
    return /^muster_loop_namespaces_standing_still (.*)$/m.exec(exposed)?.[1];
  };
  expect(await standing()).toBe('0');
  room.leftOut('flood', pods);
  expect(await standing()).toBe('1');
  ofFleet.leftOut('flood', bindings);
  expect(await standing()).toBe('2');
  ofFleet.whole('flood', bindings);
  const why = room.why('flood');
  room.whole('flood', pods);
  expect(await standing()).toBe('0');
  observeLines(lines);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'warn', namespace: 'flood', why, msg: 'the namespace stands still' },
    { level: 'info', namespace: 'flood', msg: 'all of the namespace is known again' },
  ]);
});

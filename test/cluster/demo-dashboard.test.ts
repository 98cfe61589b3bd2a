import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { GangsAnswer } from '../../src/dashboard/wire.ts';
import { askingAt } from '../component/dashboard/started.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';

const MAIN = join(import.meta.dirname, '../../demo/main.ts');

clusterSuite('the demo with a dashboard', () => {
  let demo: ChildProcess | undefined;
  afterEach(() => void demo?.kill('SIGKILL'));

  test('gangs that live on a real API server are on the page whose address it prints, until Ctrl-C', async () => {
    demo = spawn(process.execPath, [MAIN, '--dashboard', '--source']);
    let told = '';
    for (const stream of [demo.stdout, demo.stderr]) stream?.on('data', (text) => (told += String(text)));
    const end = once(demo, 'close');
    const address = await until('the address', () => /http:\S+token=\S+/.exec(told)?.[0], {
      withinMs: 120_000,
    });
    const read = await askingAt(address);
    expect(await (await read('/')).text()).toContain('<title>Muster</title>');

    const shows = (name: RegExp, phase: string, why: string): Promise<unknown> =>
      until(`${name.source} is ${phase}`, async () => {
        const { gangs } = (await (await read('/api/v1/gangs')).json()) as GangsAnswer;
        return gangs.some((gang) => name.test(gang.name) && gang.phase === phase && gang.why.includes(why));
      });
    await shows(/^train$/, 'Pending', 'waiting for Pods: worker 1/2');
    await shows(/^job-large$/, 'Pending', 'Insufficient cpu');
    // Each runs for some seconds, and another one comes.
    await shows(/^job-run-/, 'Running', '');

    demo.kill('SIGINT');
    expect(await end).toEqual([0, null]);
    expect(told).toMatch(/All of it was as claimed\.\n$/);
    await expect(read('/')).rejects.toThrow('fetch failed');
  }, 300_000);
});

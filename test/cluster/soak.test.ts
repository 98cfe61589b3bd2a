/** A soak of half a minute: that `npm run soak` does what it says, and that nothing is lost in it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { locateHaproxy, NO_HAPROXY } from '../../bench/soak/balancer.ts';
import type { Kind } from '../../bench/soak/schedule.ts';
import { soak } from '../../bench/soak/soak.ts';
import { inLength } from '../support/length.ts';
import { clusterSuiteUnless } from './control-plane/suite.ts';
import { locateGoTool, whyNoGoTool } from './go-tools/go-tools.ts';

const COUNTS = { 'leaf rotation': 1, SIGKILL: 1, 'balancer restart': 1, 'API server restart': 1 } as const;

const notHere = async (): Promise<string | undefined> => {
  const short = inLength({ short: 'it takes a minute and a half: npm run test:long', long: undefined });
  if (short !== undefined) return short;
  return (await locateHaproxy()) === undefined ? NO_HAPROXY : whyNoGoTool('kwok');
};

clusterSuiteUnless(await notHere(), 'a short soak', () => {
  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '--silent', 'build']);
  }, 600_000);

  test('replicas, balancer and API server are disturbed under load, and nothing is early, stuck or lost without excuse', async () => {
    const options = {
      ...{ seconds: 35, rate: 8, nodes: 20, seed: 1, counts: COUNTS, overloadSeconds: 5, json: '' },
    };
    const tools = {
      haproxy: (await locateHaproxy()) ?? '',
      kwok: await locateGoTool('kwok', { build: false }),
    };
    const results = await soak(options, tools, 0, () => undefined);
    expect(results.goals.filter(({ found }) => found > 0)).toEqual([]);
    expect(results.goals).toHaveLength(6);
    expect(results.gangs).toBeGreaterThan(10);
    expect(results.gangsReleased).toBe(results.gangs);
    expect(results.podsEnded).toBe(results.pods);
    const kinds = Object.keys(COUNTS) as Kind[];
    expect(results.events.map(({ kind }) => kind).sort()).toEqual(kinds.sort());
    expect(results.samples.reduce((sum, { created }) => sum + created, 0)).toBeGreaterThan(200);
    expect(results.samples.some(({ memory }) => memory.length === 3)).toBe(true);
  }, 600_000);
});

/** What the bench of a whole cluster is made of: its options, what is counted, and the page that shows the committed run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { watchesEndedIn, writesIn } from '../../../bench/cluster/control-plane.ts';
import { withCluster } from '../../../bench/cluster/docs.ts';
import { clusterOptionsFrom, GANG_SIZE, STEPS } from '../../../bench/cluster/options.ts';
import { readCluster } from '../../../bench/cluster/results.ts';
import { clusterReport, clusterTables } from '../../../bench/cluster/table.ts';
import { Watched, type GangPod, type Milestones } from '../../../bench/cluster/watched.ts';
import { withoutRunningPods } from '../../../bench/soak/kwok.ts';
import { GATE_POD_GANG_PENDING } from '../../../src/api/names.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/scale.md'), 'utf8');

describe('the command line', () => {
  test('has defaults, and rounds the Pods up to whole gangs in every tenth', () => {
    const usual = { pods: 100_000, nodes: 1000, ahead: 16, json: 'bench/cluster/results.json' };
    expect(clusterOptionsFrom([])).toEqual(usual);
    expect(clusterOptionsFrom(['--quick', '--pods', '81'])).toEqual({ ...usual, pods: 160, nodes: 50 });
    expect(clusterOptionsFrom(['--minutes', '45'])).toEqual({ ...usual, minutes: 45 });
  });

  test.each([
    [['--pods', 'x'], '--pods x: a whole number above 0 is needed'],
    [['--ahead', '0'], '--ahead 0: a whole number above 0 is needed'],
    [['--minutes', '0'], '--minutes 0: a whole number above 0 is needed'],
    [['--minutes', '1.5'], '--minutes 1.5: a whole number above 0 is needed'],
    [['--nodes', '10'], '--pods 100000: 10 nodes have room for 1100'],
    [['--rate', '1'], "Unknown option '--rate'"],
  ])('%j is refused: %s', (argv, said) => {
    expect(clusterOptionsFrom(argv)).toContain(said);
  });
});

describe('a gang that is watched', () => {
  const pod = (index: number, given: { gated?: boolean; node?: string; phase?: string } = {}): GangPod => ({
    metadata: { name: `a-${index}`, labels: { 'grove.io/podgang': 'a' } },
    spec: {
      ...(given.gated === true && { schedulingGates: [{ name: GATE_POD_GANG_PENDING }] }),
      ...(given.node !== undefined && { nodeName: given.node }),
    },
    ...(given.phase !== undefined && { status: { phase: given.phase } }),
  });
  const all = Array.from({ length: GANG_SIZE }, (_, index) => index);

  test('is complete, released and bound with its last Pod, and over once all of them run', async () => {
    const told: (Milestones | undefined)[] = [];
    const watched = new Watched((gang) => told.push(gang));
    const over = watched.begin('a');
    for (const index of all) watched.take(pod(index, { gated: true }), index);
    for (const index of all) watched.take(pod(index), 100 + index);
    for (const index of all) watched.take(pod(index, { node: 'n' }), 200 + index);
    for (const index of all) watched.take(pod(index, { node: 'n', phase: 'Running' }), 300 + index);
    await over;
    expect(told).toHaveLength(GANG_SIZE);
    expect(told.at(-1)).toEqual({
      complete: GANG_SIZE - 1,
      released: 99 + GANG_SIZE,
      bound: 199 + GANG_SIZE,
    });
    expect(watched.early).toBe(0);
  });

  test('whose Pod is bound before the last gate is off is told of; others than those that have begun are not looked at', () => {
    const watched = new Watched(() => undefined);
    watched.take(pod(0, { node: 'n' }), 1);
    expect(watched.early).toBe(0);
    void watched.begin('a');
    watched.take(pod(0, { node: 'n' }), 2);
    watched.take(pod(0, { node: 'n' }), 3);
    expect(watched.early).toBe(1);
  });
});

test('writes are counted by verb and resource, without dry runs, reads and what goes by the clock', () => {
  const metric = (verb: string, resource: string, rest: string, value: number): string =>
    `apiserver_request_total{code="200",component="apiserver",dry_run="${rest}",group="",resource="${resource}",scope="x",subresource="${resource === 'pods' ? 'binding' : ''}",verb="${verb}",version="v1"} ${value}`;
  const text = [
    '# HELP apiserver_request_total …',
    ...[metric('POST', 'pods', '', 3), metric('POST', 'pods', '', 4), metric('POST', 'pods', 'All', 9)],
    ...[metric('GET', 'pods', '', 9), metric('PUT', 'leases', '', 9), metric('PATCH', 'podgangs', '', 5)],
  ].join('\n');
  expect([...writesIn(text)]).toEqual([
    ['POST pods/binding', 7],
    ['PATCH podgangs', 5],
  ]);
});

test('watches that were ended as too slow are counted where they are of Pods', () => {
  const metric = (resource: string, value: number): string =>
    `apiserver_terminated_watchers_total{group="",resource="${resource}",version="v1"} ${value}`;
  expect(watchesEndedIn([metric('pods', 285), metric('nodes', 9)].join('\n'))).toBe(285);
  expect(watchesEndedIn('')).toBe(0);
});

test.each([
  [
    '/api/v1/pods?allowWatchBookmarks=true&fieldSelector=spec.nodeName%21%3D&resourceVersion=0&watch=true',
    '/api/v1/pods?allowWatchBookmarks=true&fieldSelector=spec.nodeName%21%3D%2Cstatus.phase%3DPending&resourceVersion=0&watch=true',
  ],
  ['/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1'],
  ['/api/v1/nodes?resourceVersion=0'],
  ['/api/v1/namespaces/team-0/pods/a/status'],
])('of %s kwok is given what does not run yet, and all of the rest', (path, asked = path) => {
  expect(withoutRunningPods(path)).toBe(asked);
});

describe('docs/scale.md', () => {
  test('its tables are those of the committed run', () => {
    expect(withCluster(PAGE, readCluster())).toBe(PAGE);
  });

  test('a place that the page lacks is named', () => {
    expect(() => withCluster('', readCluster())).toThrow('docs/scale.md has no place for: cluster run');
  });

  test('the committed run has most of its tenths or says why not, no Pod in it was bound too early, no figure is missing', () => {
    const run = readCluster();
    for (const { steps, bound } of [run.alone, run.muster]) {
      expect(steps).toHaveLength(Math.floor((bound / run.pods) * STEPS));
      expect(steps.length).toBeGreaterThan(STEPS / 2);
    }
    if (run.muster.steps.length < STEPS) expect(run.muster.ended).toMatch(/^its .* minutes were over$/);
    expect(run.muster.early).toBe(0);
    expect(JSON.stringify(clusterTables(run))).not.toMatch(/NaN|undefined|Infinity/);
    expect(clusterReport(run)[1]).toContain('bound too early: 0');
  });
});

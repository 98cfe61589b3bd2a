import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/cli/version.ts';
import { run } from '../../src/cli/run.ts';
import { kubeTime } from '../../src/k8s/time.ts';
import type { GangStatus } from '../../src/status/gang-status.ts';
import { FakeTty, processAt, type FakeProcess } from '../component/cli/fake-tty.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GANGS, NAMESPACE, PODS } from './support/registered-muster.ts';
import { readerOf } from './support/reader.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

const LABELS = { 'grove.io/scheduler-name': 'default-scheduler' };

clusterSuite('muster status -w on a real control plane, by somebody who may view one namespace', () => {
  let plane: ControlPlane;
  let on: OnMuster;
  let kubeconfig: string;
  const children: ChildProcessByStdio<null, Readable, Readable>[] = [];
  const programs: FakeProcess[] = [];

  /** The real program into a pipe. */
  const piped = (...args: readonly string[]) => {
    const main = join(packageRoot() ?? '', 'src', 'main.ts');
    const child = spawn(
      process.execPath,
      [main, 'status', '-w', '-n', NAMESPACE, '--kubeconfig', kubeconfig, ...args],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    children.push(child);
    const told = { out: '', err: '' };
    child.stdout.on('data', (chunk) => (told.out += String(chunk)));
    child.stderr.on('data', (chunk) => (told.err += String(chunk)));
    const end = new Promise<unknown>((resolve) => child.on('close', resolve));
    return {
      told,
      lines: () => told.out.split('\n').filter((line) => line !== ''),
      interrupt: () => {
        child.kill('SIGINT');
        return end;
      },
    };
  };
  /** The program in this process, at a terminal. */
  const atTerminal = (...args: readonly string[]) => {
    const tty = new FakeTty(100, 60);
    const program = processAt(tty, { NO_COLOR: '1' });
    programs.push(program);
    const end = run(['status', ...args, '--kubeconfig', kubeconfig], program.io);
    return { tty, program, end };
  };
  const createPod = (group: string, index: number): Promise<unknown> =>
    plane.client.ok('POST', PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `train-${group}-${index}`,
        labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': group, ...LABELS },
      },
      spec: { containers: [{ name: 'main', image: 'example/train:1' }] },
    });
  /** What a kubelet would do. */
  const runs = (pod: string): Promise<unknown> =>
    plane.client.ok('PATCH', `${PODS}/${pod}/status`, {
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: kubeTime(Date.now()) }],
      },
    });

  beforeAll(async () => {
    on = await withMuster({ plane: { scheduler: true, controllerManager: true }, cpu: 64 });
    ({ plane } = on);
    kubeconfig = await readerOf(plane, NAMESPACE);
  }, 120_000);
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const program of programs.splice(0)) program.interrupt();
  });
  afterAll(() => on?.close(), 60_000);

  test('a gang forms while it is watched, and the API server is away for a while', async () => {
    await plane.client.ok('POST', GANGS, {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name: 'train', labels: LABELS },
      spec: {
        podgroups: ['leader', 'worker'].map((name) => ({ name, minReplicas: name === 'leader' ? 1 : 2 })),
      },
    });
    await createPod('leader', 0);
    const { tty, program, end } = atTerminal('train', '-w', '-n', NAMESPACE);
    const text = piped('train');
    const json = piped('-o', 'json');
    const shows = (what: string | RegExp): Promise<unknown> =>
      until(`the terminal shows ${String(what)}`, () => tty.shown.join('\n').match(what));
    await shows('└─ worker  0/2 Pods, minimum 2');
    await shows(/^waits since \S+ \(\d+s\) for Pods: worker 0\/2$/m);
    await shows(/train-leader-0 {2}gated {2}waiting for Pods: worker 0\/2/);
    await until('the pipes have begun', () => text.lines().length > 3 && json.lines().length > 0);

    await plane.stopApiServer({ kill: true });
    await shows(/^Not up to date since \d\d:\d\d:\d\dZ \(\d+s\): (watch|list) \w+: no answer from/);
    await shows('└─ worker  0/2 Pods, minimum 2');
    await plane.startApiServer();
    await shows(/^ml\/train {2}Pending/);
    await until('the pipe has gone on', () => text.told.err.includes('watching again'));

    const events = (): { type: string; gang: GangStatus }[] =>
      json.lines().map((line) => JSON.parse(line) as { type: string; gang: GangStatus });
    const told = (what: RegExp): Promise<unknown> =>
      until(`the pipe tells ${String(what)}`, () => what.test(text.told.out));
    // One after the other, each seen by all: what comes within a quarter of a second is told together.
    await createPod('worker', 0);
    await told(/^\S+Z {2}ml\/train {2}train-worker-0: new, gated \(waiting for Pods: worker 1\/2\)$/m);
    await createPod('worker', 1);
    await shows(/^ml\/train {2}Starting {2}default-scheduler/);
    await shows(/worker {2}2\/2 Pods, minimum 2: 2 referenced, 2 bound/);
    await shows(/train-worker-1 +starting\n +on node node-1, not ready yet/);
    await shows(/^\S+Z +\d+s +bound +.*train-/m);
    await told(/^\S+Z {2}ml\/train {2}(.*, )?phase Pending → Starting.*ready leader 0\/1, worker 0\/2$/m);
    await until('NDJSON, too', () => events().at(-1)?.gang.summary?.phase === 'Starting');
    for (const pod of ['train-leader-0', 'train-worker-0', 'train-worker-1']) await runs(pod);
    await shows(/^ml\/train {2}Running/);
    await shows(/train-worker-1 {2}running {2}on node-1/);
    // The reader may read Events and no object of a scheduler, and this one keeps none.
    await shows(/^\S+Z +\d+s +ready +.*train-/m);
    await shows(/^train +░.*█$/m);

    await until('the pipes tell it, too', () => {
      const phase = events().at(-1)?.gang.summary?.phase;
      return phase === 'Running' && text.told.out.includes('→ Running');
    });
    const phases = events().map(({ gang }) => gang.summary?.phase ?? 'none');
    expect(phases.filter((phase, index) => phase !== phases[index - 1])).toEqual([
      'Pending',
      'Starting',
      'Running',
    ]);
    expect(events().map(({ type }) => type)).toEqual([
      'ADDED',
      ...events()
        .slice(1)
        .map(() => 'MODIFIED'),
    ]);
    expect(text.told.out).toMatch(/^\S+Z {2}ml\/train {2}(.*, )?Initialized/m);
    expect(text.told.out).toMatch(/^\S+Z {2}ml\/train {2}.*phase \w+ → Running, groups \d\/2 → 2\/2/m);
    expect(text.told.err).toMatch(
      /^\S+Z {2}\w+ \w+: no answer from .*; trying again\n(.*\n)*\S+Z {2}watching again\n$/,
    );

    program.interrupt();
    expect([await end, await text.interrupt(), await json.interrupt()]).toEqual([0, 0, 0]);
    expect([tty.cursor, tty.wraps, tty.drawing]).toEqual([true, true, false]);
  }, 120_000);

  test.each([
    [['-A'], 'at the cluster scope', 'in all namespaces: '],
    [['-n', 'kube-system', '-w'], 'in the namespace "kube-system"', 'in namespace kube-system: '],
  ])('%j names the right that is missing', async (args, scope, fix) => {
    const { end, program, tty } = atTerminal(...args);
    expect(await end).toBe(1);
    // A terminal breaks lines between words.
    const told = program.written.err.replaceAll(/\s+/g, ' ');
    expect(told).toMatch(
      // With -w the list is a stream, and so a watch.
      /^error\[CLUSTER_REFUSED\]: (list|watch) (pods|podgangs): 403 Forbidden: .* User "ann" cannot \1 resource/,
    );
    expect(told).toContain(scope);
    expect(told).toContain(fix);
    expect(tty.writes).toEqual([]);
  });
});

/** The table of feature gates, held against the programs of the release: what they know, and what becomes of wrong flags. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import {
  GATED_COMPONENTS,
  gatedReleaseOf,
  minorOf,
  strangeGates,
  type GatedComponent,
} from '../../src/backends/native-gates.ts';
import { locateBinaries, type Binaries } from './control-plane/binaries.ts';
import type { KubeObject } from './control-plane/client.ts';
import type { ControlPlane, ControlPlaneOptions } from './control-plane/control-plane.ts';
import { GANGS, RELEASE } from './control-plane/releases.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';

const gates = gatedReleaseOf(RELEASE.version)?.gates ?? [];
const strange = strangeGates(minorOf(RELEASE.version) ?? '');
const PODS = '/api/v1/namespaces/default/pods';

clusterSuite('feature gates of native gangs', () => {
  let binaries: Binaries<GatedComponent>;
  beforeAll(async () => {
    binaries = await locateBinaries({ need: GATED_COMPONENTS, build: false });
  });

  /** What a program prints, with neither cluster nor etcd to go to. */
  const printed = (component: GatedComponent, flag: string): Promise<string> =>
    new Promise((resolve) => {
      execFile(binaries[component], [flag], (_error, stdout, stderr) => resolve(stdout + stderr));
    });

  test.each(GATED_COMPONENTS)('%s knows those of the table, in their stage and off', async (component) => {
    const help = await printed(component, '--help');
    const known = new Map(
      [...help.matchAll(/(\w+)=true\|false \((\w+) - default=(\w+)\)/g)].map(([, name = '', stage, on]) => [
        name,
        `${stage?.toLowerCase()}, ${on}`,
      ]),
    );
    expect(known.size).toBeGreaterThan(50);
    for (const { name, stage } of gates) expect([name, known.get(name)]).toEqual([name, `${stage}, false`]);
    expect(strange.filter((name) => known.has(name))).toEqual([]);
  });

  test('none starts with a gate that its release does not have', async () => {
    expect(strange.length).toBeGreaterThan(0);
    for (const name of strange) {
      expect(await printed('kube-controller-manager', `--feature-gates=${name}=false`)).toContain(
        `unrecognized feature gate: ${name}`,
      );
    }
  });

  test('nor with one and without those that it builds on', async () => {
    for (const { name, needs } of gates) {
      if (needs.length === 0) continue;
      const said = await printed('kube-scheduler', `--feature-gates=${name}=true`);
      expect(said).toMatch(new RegExp(`${name} is enabled, but depends on features that are disabled`));
      for (const one of needs) expect(said).toContain(one);
    }
  });
});

const bound = async ({ client }: ControlPlane): Promise<boolean> => {
  const pod = await client.ok<KubeObject & { spec: { nodeName?: string } }>('GET', `${PODS}/alone`);
  return pod.spec.nodeName !== undefined;
};
/** A Pod of no gang, with room for it. */
const podAlone = async (plane: ControlPlane): Promise<void> => {
  await plane.addNode('node-1', { cpu: 4, memory: '4Gi', pods: 10 });
  await plane.client.ok('POST', PODS, {
    metadata: { name: 'alone' },
    spec: { containers: [{ name: 'main', image: 'example.test/none' }] },
  });
};

const versions = gates.flatMap(({ serves }) => serves ?? []).map((version) => `scheduling.k8s.io/${version}`);
/** With every gate of the table on. */
const withAll = (served: readonly string[], more: ControlPlaneOptions = {}): Promise<ControlPlane> =>
  startControlPlane({
    ...more,
    scheduler: true,
    featureGates: Object.fromEntries(gates.map(({ name }) => [name, true])),
    runtimeConfig: Object.fromEntries(versions.map((one) => [one, `${served.includes(one)}`])),
  });

/** The API server of 1.36 looks PodGroups up itself, when one is made. */
const asksItself = minorOf(RELEASE.version) === '1.36';

if (GANGS !== undefined) {
  clusterSuite('a control plane with all gates of native gangs', () => {
    let plane: ControlPlane | undefined;
    afterEach(() => plane?.stop());

    test('schedules what is of no gang as ever', async () => {
      plane = await withAll(versions);
      await podAlone(plane);
      await until('it is bound', () => bound(plane as ControlPlane));
    }, 120_000);

    if (asksItself) {
      test('has an API server that is never ready while that API is not served', async () => {
        const dir = await mkdtemp(join(tmpdir(), 'muster-never-ready-'));
        const abort = new AbortController();
        const started = withAll([], { dir, signal: abort.signal });
        started.catch(() => undefined);
        await until('the API server has not found it, again and again', async () => {
          const said = await readFile(join(dir, 'kube-apiserver.log'), 'utf8');
          return [...said.matchAll(/PodGroup.*could not find the requested resource/g)].length > 2;
        });
        abort.abort();
        await expect(started).rejects.toThrow();
        await rm(dir, { recursive: true });
      }, 120_000);
    } else {
      test.each(versions)(
        'schedules nothing at all while %s is not served',
        async (version) => {
          plane = await withAll(versions.filter((one) => one !== version));
          await podAlone(plane);
          await until('the scheduler has not found it, again and again', async () => {
            const said = (await plane?.logs('kube-scheduler')) ?? '';
            return (
              [...said.matchAll(/(PodGroup|Workload).*could not find the requested resource/g)].length > 2
            );
          });
          expect(await bound(plane)).toBe(false);
        },
        120_000,
      );
    }
  });
}

/** Two releases at once: the program of one under the manifests of the other, as in the middle of an upgrade or a rollback. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { MUSTER_USER } from '../../src/api/names.ts';
import { kustomized } from '../../src/cli/doctor/installed/kustomize.ts';
import { packageRoot } from '../../src/cli/version.ts';
import { inLength } from '../support/length.ts';
import { calledOnLoopback, type KubernetesObject } from '../support/manifests.ts';
import { startServing } from '../support/serving.ts';
import type { Client, KubeList } from './control-plane/client.ts';
import { clusterSuiteUnless } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import { historyOf, KEEPS_HISTORY } from './support/etcd-history.ts';
import { judge, NOTHING_BROKEN } from './support/gang-judge.ts';
import { STEADY_LEASE } from './support/looping-muster.ts';
import { PREVIOUS, previousRelease, previousReleaseMissing } from './support/previous-release.ts';
import { GANGS, gangPod, gatesOf, NAMESPACE, PODS, type StoredPod } from './support/registered-muster.ts';
import { untilReady, withMuster, type OnMuster } from './support/with-muster.ts';

jest.setTimeout(240_000);

const NOW = packageRoot() ?? '';
const GANGS_MADE = 20;
const SIZE = 3;

type Bound = StoredPod & { readonly spec: { readonly nodeName?: string } };

clusterSuiteUnless(
  inLength<() => string | undefined>({
    short: () => 'two programs and two control planes are dear: npm run test:long',
    long: previousReleaseMissing,
  })(),
  `this release and ${PREVIOUS}`,
  () => {
    let on: OnMuster | undefined;
    let client: Client;
    let etcdUrl = '';
    afterEach(async () => {
      await on?.close();
      on = undefined;
    });

    /** Applies what an overlay of a release brings, but for cert-manager, and starts the program of a release under it. */
    async function started(program: string, manifests: string): Promise<void> {
      const plane = { scheduler: true, extraApiServerArgs: KEEPS_HISTORY };
      const cluster = await withMuster({ muster: 'none', cpu: GANGS_MADE * SIZE + 2, plane });
      on = cluster;
      ({ client, etcdUrl } = cluster.plane);
      const folder = (name: string): string => join(manifests, 'manifests', name);
      const objects = ['crds', 'base', 'policies'].flatMap(
        (name) => kustomized(folder(name), []) as unknown as KubernetesObject[],
      );
      const isWebhook = ({ kind }: KubernetesObject): boolean => kind.endsWith('WebhookConfiguration');
      const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
      await applyAll(client, definitions);
      await untilEstablished(client, definitions);
      await applyAll(
        client,
        objects.filter((object) => !isWebhook(object) && !definitions.includes(object)),
      );
      const shipped = parse(await readFile(folder('base/config.yaml'), 'utf8')) as object;
      const replica = await startServing({
        main: join(program, 'src/main.ts'),
        certificates: cluster.certificates.path,
        kubeconfig: await cluster.plane.kubeconfigFor(MUSTER_USER),
        configuration: { ...shipped, leaderElection: STEADY_LEASE },
      });
      cluster.before(() => replica.close());
      await untilReady(replica);
      await applyAll(
        client,
        calledOnLoopback(objects.filter(isWebhook), replica.port, cluster.certificates.ca),
      );
      await until('the API server calls Muster for Pods', async () => {
        const query = { dryRun: 'All' };
        const { body } = await client.request('POST', PODS, gangPod({ name: 'probe' }), { query });
        return JSON.stringify(body).includes('podgang-pending-creation');
      });
    }

    /** Gangs one after the other. @returns what was refused */
    async function stream(): Promise<string[]> {
      const refused: string[] = [];
      const create = async (path: string, object: object): Promise<void> => {
        const { status, body } = await client.request<{ message?: string }>('POST', path, object);
        if (status !== 201) refused.push(`${status} ${body.message}`);
      };
      for (let gang = 0; gang < GANGS_MADE; gang += 1) {
        const name = `stream-${gang}`;
        await create(GANGS, {
          apiVersion: 'scheduler.grove.io/v1alpha1',
          kind: 'PodGang',
          metadata: { name, namespace: NAMESPACE },
          spec: { podgroups: [{ name: 'worker', minReplicas: SIZE, podReferences: [] }] },
        });
        for (let index = 0; index < SIZE; index += 1)
          await create(PODS, gangPod({ name: `${name}-${index}` }, {}, { 'grove.io/podgang': name }));
      }
      return refused;
    }

    async function allBound(): Promise<void> {
      await until('all Pods are bound', async () => {
        const { items } = await client.ok<KubeList<Bound>>('GET', PODS);
        const unbound = items.filter(({ spec }) => spec.nodeName === undefined);
        if (items.length === GANGS_MADE * SIZE && unbound.length === 0) return true;
        throw new Error(unbound.map((pod) => `${pod.metadata.name} [${gatesOf(pod).join()}]`).join(', '));
      });
    }

    test.each([
      ['the previous program under the manifests of this release', previousRelease(), NOW],
      ['this program under the previous manifests', NOW, previousRelease()],
    ])('%s: no Pod is refused, and no gang starts in pieces', async (_, program, manifests) => {
      await started(program, manifests);
      expect(await stream()).toEqual([]);
      await allBound();
      const { broken, ungated } = judge(await historyOf(etcdUrl, NAMESPACE));
      expect(broken).toEqual(NOTHING_BROKEN);
      expect(ungated).toBe(GANGS_MADE * SIZE);
    });

    test('a setting that the other release does not know is named', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'muster-skew-'));
      try {
        const file = join(folder, 'config.yaml');
        const shipped = await readFile(join(NOW, 'manifests/base/config.yaml'), 'utf8');
        await writeFile(file, `${shipped}logDecisionsPerSecond: 20\n`);
        const validate = (root: string): Promise<string> =>
          new Promise((resolve) =>
            execFile(process.execPath, [join(root, 'src/main.ts'), 'validate', '-f', file], (_, out, err) =>
              resolve(`${out}${err}`),
            ),
          );
        expect(await validate(NOW)).toContain(': 0 errors,');
        expect(await validate(previousRelease())).toMatch(
          /config\.yaml:\d+:1: error: logDecisionsPerSecond: unknown key "logDecisionsPerSecond"/,
        );
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  },
);

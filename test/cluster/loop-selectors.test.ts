/** `controllers.podGang.namespaceSelector` and `objectSelector`, with the labels of a real cluster. */
import { metricsAt } from '../support/observed.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group } from './support/gang-objects.ts';
import { verb } from './support/muster-cli.ts';
import { GATE, NAMESPACE } from './support/registered-muster.ts';

const SETTINGS = {
  controllers: {
    podGang: {
      namespaceSelector: { matchLabels: { team: 'ml' } },
      objectSelector: { matchExpressions: [{ key: 'others', operator: 'DoesNotExist' }] },
    },
  },
};

clusterSuite('gangs that are not selected', () => {
  let cluster: GangCluster;

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true, settings: SETTINGS });
  }, 120_000);
  afterAll(() => cluster?.stop(), 60_000);

  const label = (team: string | null): Promise<unknown> =>
    cluster.client.ok('PATCH', `/api/v1/namespaces/${NAMESPACE}`, { metadata: { labels: { team } } });
  const whole = async (name: string, labels: Record<string, string> = {}): Promise<void> => {
    await cluster.createGang(name, [group('worker', 1)], { labels });
    await cluster.createPod(name, 'worker-0', 'worker');
  };
  const why = async (name: string): Promise<string | undefined> => {
    const config = join(cluster.muster.directory, 'config-of-status.yaml');
    const header = { apiVersion: 'operator.config.grove.io/v1alpha1', kind: 'OperatorConfiguration' };
    await writeFile(config, JSON.stringify({ ...header, ...SETTINGS }));
    const args = ['status', name, '-n', NAMESPACE, '-o', 'json', '--config', config];
    const { out } = await verb([...args, '--kubeconfig', cluster.plane.kubeconfig]);
    return (JSON.parse(out) as { gangs: { why: string }[] }).gangs[0]?.why;
  };
  /** Until the loop has seen every change of a Namespace so far: it releases a gang in one that is younger. */
  const namespacesSeen = async (): Promise<void> => {
    await cluster.client.ok('POST', '/api/v1/namespaces', {
      metadata: { name: 'younger', labels: { team: 'ml' } },
    });
    await cluster.createGang('younger', [group('worker', 1)], { namespace: 'younger' });
    await cluster.createPod('younger', 'worker-0', 'worker', { namespace: 'younger' });
    await cluster.untilBound('younger', 1, 'younger');
  };
  const untouched = async (name: string): Promise<void> => {
    const { metadata, status } = await cluster.gang(name);
    expect({ generation: metadata.generation, status }).toEqual({ generation: 1, status: undefined });
    expect((await cluster.podsOf(name)).map(gatesOf)).toEqual([[GATE]]);
    expect(await cluster.events('PodGang', name)).toEqual([]);
    expect(await cluster.events('Pod', `${name}-worker-0`)).toEqual([]);
  };

  test('wait untouched, status says by what, and move once a label says so', async () => {
    await whole('first');
    await whole('second', { others: 'yes' });
    const looks = async (): Promise<number> => {
      const text = await metricsAt(cluster.muster.metricsPort);
      return Number(/^muster_loop_reconciles_total\{result="ok"\} (\d+)/m.exec(text)?.[1]);
    };
    await until('both were looked at', async () => (await looks()) >= 2);
    await untouched('first');
    await untouched('second');
    expect(await why('first')).toBe(
      `not selected by controllers.podGang.namespaceSelector: Namespace ${NAMESPACE} needs label team=ml, has none`,
    );

    await label('ml');
    await cluster.untilBound('first', 1);
    await untouched('second');
    expect(await why('second')).toBe(
      'not selected by controllers.podGang.objectSelector: the PodGang must not have label others, has others=yes',
    );
    await cluster.client.ok('PATCH', `${cluster.gangs()}/second`, { metadata: { labels: { others: null } } });
    await cluster.untilBound('second', 1);
    expect(await cluster.history.ungatedEarly()).toEqual([]);

    await label(null);
    await namespacesSeen();
    const before = await looks();
    await whole('third');
    await until('it was looked at', async () => (await looks()) > before);
    await untouched('third');
    await label('ml');
    await cluster.untilBound('third', 1);
  }, 120_000);
});

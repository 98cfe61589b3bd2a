/** What is kept of the cluster's PriorityClasses. */
import { afterEach, expect, test } from '@jest/globals';
import { watchPriorityClasses, type ClassWatch } from '../../../../src/controller/watch/class-watch.ts';
import { PRIORITY_CLASSES, type KubeObject } from '../../../../src/kube/client/resources.ts';
import { until } from '../../tls/until.ts';
import { FakeCluster } from '../../kube/loop/fake-cluster.ts';

const priorityClass = (name: string, value: number, rest: object = {}, version = 1): KubeObject => ({
  metadata: { name, uid: name, resourceVersion: String(version) },
  ...{ value, ...rest },
});

let watched: ClassWatch | undefined;
afterEach(async () => {
  await watched?.watch.stop();
});

test('nothing is known before the first list, then every class, and which is the default', async () => {
  const cluster = new FakeCluster();
  cluster.objects.set(PRIORITY_CLASSES, [
    priorityClass('high', 1000, { preemptionPolicy: 'Never' }),
    priorityClass('usual', 10, { globalDefault: true }),
  ]);
  watched = watchPriorityClasses(cluster.client, () => ({}));
  const { classes, watch } = watched;
  expect(classes.known).toBe(false);
  watch.start();
  await watch.whenSynced();
  expect(classes.known).toBe(true);
  expect(classes.get('high')).toMatchObject({ value: 1000, globalDefault: false, preempts: false });
  expect(classes.get('low')).toBeUndefined();
  expect(Array.from(classes.values(), ({ name }) => name).sort()).toEqual(['high', 'usual']);
  expect(classes.byDefault?.name).toBe('usual');

  // A race has left two: the API server takes the lower one.
  await cluster.tell(PRIORITY_CLASSES, 'ADDED', priorityClass('spare', 5, { globalDefault: true }, 2));
  await until('the second default is known', () => classes.byDefault?.name === 'spare');
  await cluster.tell(PRIORITY_CLASSES, 'DELETED', priorityClass('spare', 5, { globalDefault: true }, 3));
  await until('it is gone', () => classes.byDefault?.name === 'usual');
  await cluster.tell(PRIORITY_CLASSES, 'MODIFIED', priorityClass('usual', 10, {}, 4));
  await until('there is no default any more', () => classes.byDefault === undefined);
});

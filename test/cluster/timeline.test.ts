import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Timeline } from '../../src/timeline/timeline.ts';
import { muster, type Ran } from '../unit/cli/fake-io.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GANGS, NAMESPACE, PODS } from './support/registered-muster.ts';
import { readerOf } from './support/reader.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

interface StoredEvent {
  readonly metadata: { readonly creationTimestamp: string };
  readonly reason: string;
  readonly regarding: { readonly name: string };
  readonly note: string;
}

const LABELS = { 'grove.io/scheduler-name': 'default-scheduler' };

clusterSuite('muster timeline on a real control plane, by somebody who may view one namespace', () => {
  let plane: ControlPlane;
  let on: OnMuster;
  let kubeconfig: string;

  const ran = (gang: string, ...args: readonly string[]): Promise<Ran> =>
    muster(['timeline', gang, '-n', NAMESPACE, '--kubeconfig', kubeconfig, ...args]);
  const told = async (gang: string): Promise<Pick<Timeline, 'steps' | 'waiting' | 'unknown'>> =>
    JSON.parse((await ran(gang, '-o', 'json')).out) as Timeline;
  const createGang = (name: string): Promise<unknown> =>
    plane.client.ok('POST', GANGS, {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name, labels: LABELS },
      spec: { podgroups: [{ name: 'worker', minReplicas: 2 }] },
    });
  const createPod = (gang: string, index: number, cpu = '1'): Promise<unknown> =>
    plane.client.ok('POST', PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${gang}-${index}`,
        labels: { 'grove.io/podgang': gang, 'grove.io/podclique': 'worker', ...LABELS },
      },
      spec: { containers: [{ name: 'main', image: 'example/train:1', resources: { requests: { cpu } } }] },
    });

  beforeAll(async () => {
    on = await withMuster({ plane: { scheduler: true, controllerManager: true }, cpu: 8 });
    ({ plane } = on);
    kubeconfig = await readerOf(plane, NAMESPACE);
  }, 120_000);
  afterAll(() => on?.close(), 60_000);

  test('a gang waits for its last Pod, is let go and is bound', async () => {
    await createGang('train');
    await createPod('train', 0);
    await until(
      'it says what it waits for',
      async () => (await told('train')).waiting?.for === 'Pods: worker 1/2',
    );
    await createPod('train', 1);
    const podsOf = (steps: Timeline['steps'], name: string): string[] =>
      steps.flatMap(({ step, pods }) => (step === name ? pods : [])).sort();
    // One Pod after the other is let go and bound, and Events tell of it later.
    await until('all of it is told', async () => {
      const { steps, unknown } = await told('train');
      const isWhole = (name: string): boolean => podsOf(steps, name).join() === 'train-0,train-1';
      return ['gates-off', 'bound'].every(isWhole) && unknown.length === 0;
    });
    const { steps, waiting, unknown } = await told('train');
    const names = steps.map(({ step }) => step);
    // Steps of one second may be of one moment, so only the first and the last have a place.
    expect([names[0], names.at(-1)]).toEqual(['created', 'bound']);
    expect([...new Set(names)].sort()).toEqual(
      [
        ...['bound', 'complete', 'created', 'first-pod', 'gates-off', 'initialized', 'objects', 'referenced'],
        ...(names.includes('last-pod') ? ['last-pod'] : []),
      ].sort(),
    );
    expect(unknown).toEqual([]);
    expect([...steps].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))).toEqual(steps);
    expect(podsOf(steps, 'bound')).toEqual(['train-0', 'train-1']);
    expect(waiting).toMatchObject({ for: 'the kubelet: images and containers of train-0, train-1' });
    expect((await ran('train', '-o', 'svg')).out).toContain('train-0');
  });

  test('a gang without room has the words of its scheduler, and one that is replaced a second generation', async () => {
    await createGang('large');
    await Promise.all([0, 1].map((index) => createPod('large', index, '100')));
    await until('its scheduler refuses it', async () => {
      const { steps } = await told('large');
      return steps.some(({ step, says }) => step === 'refused' && says?.includes('Insufficient cpu'));
    });
    expect((await told('large')).waiting?.for).toContain('Insufficient cpu');
    // Of Pods that are gone Events tell, which are written later than what they tell of, and times are whole seconds: a
    // Pod of the second of the last would be of their generation.
    const last = await until('Events tell of both Pods', async () => {
      const events = (
        await plane.client.ok<{ items: StoredEvent[] }>(
          'GET',
          `/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`,
        )
      ).items;
      const of = (wanted: string) => events.filter(({ reason }) => reason === wanted);
      const bound = of('Scheduled').filter(({ regarding }) => /^train-[01]$/.test(regarding.name));
      const released = of('GatesRemoved').filter(({ regarding }) => regarding.name === 'train');
      const isNamed = (pod: string): boolean => released.some(({ note }) => note.includes(pod));
      return (
        bound.length === 2 &&
        ['train-0', 'train-1'].every(isNamed) &&
        Math.max(...[...bound, ...released].map(({ metadata }) => Date.parse(metadata.creationTimestamp)))
      );
    });
    await until('that second is over', () => Date.now() >= last + 1_000);
    await Promise.all(
      [0, 1].map((index) => plane.client.ok('DELETE', `${PODS}/train-${index}`, { gracePeriodSeconds: 0 })),
    );
    await createPod('train', 2);
    await until('the next generation forms', async () => {
      const { waiting } = await told('train');
      return waiting?.generation === 2 && waiting.for === 'Pods: worker 1/2';
    });
    const { steps, unknown } = await told('train');
    expect(steps.filter(({ step }) => step === 'bound').map(({ generation }) => generation)).toContain(1);
    expect(unknown).toEqual(['when generation 1 was complete: some of its Pods are gone']);
  });

  test('a gang that is not there', async () => {
    const { code, err } = await ran('trian');
    expect(code).toBe(1);
    expect(err).toContain('PodGang trian does not exist in namespace ml (did you mean "train"?)');
  });
});

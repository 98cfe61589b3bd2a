/** Who counts for a gang, by the policies alone: what a scheduler counts by is written by nobody but whoever prepares. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { linkTo } from './support/native-gangs.ts';
import {
  ALICE,
  gangOf,
  MUSTER,
  podOf,
  refused,
  untilRefused,
  withPolicies,
  type Answer,
  type Who,
} from './support/policies-alone.ts';

const GANGS = '/apis/scheduler.grove.io/v1alpha1/namespaces/a/podgangs';
const PODS = '/api/v1/namespaces/a/pods';
const GANG = { 'grove.io/podgang': 'train', 'grove.io/podclique': 'workers' };
const ROOT: Who = {};
/** What Pods get that name a group other than their gang's. */
const MARK = 'muster.dev/names-group';

clusterSuite('members of a gang under the policies alone', () => {
  let plane: ControlPlane;
  let serial = 0;

  const send = (method: string, path: string, body: unknown, who: Who = ALICE) =>
    plane.client.request<Answer>(method, path, body, who);

  const bindingOf = (name: string, metadata: object = {}) => ({
    metadata: { name, ...metadata },
    target: { kind: 'Node', name: 'n' },
  });

  beforeAll(async () => {
    plane = await withPolicies();
    await until('PodGangs are served', () => plane.client.ok<Answer>('POST', GANGS, gangOf('train')));
    const stranger = podOf('probe', { spec: linkTo('train') });
    await untilRefused(plane, 'muster-native-gang-strangers', ['POST', PODS, stranger]);
    const placed = podOf('probe', { metadata: { labels: GANG }, spec: { nodeName: 'n' } });
    await untilRefused(plane, 'muster-gang-pod-create', ['POST', PODS, placed]);
    await plane.client.ok('POST', PODS, podOf('early', { metadata: { labels: GANG } }));
    const moved = { metadata: { labels: { 'grove.io/podgang': 'other' } } };
    await untilRefused(plane, 'muster-gang-pod-identity', ['PATCH', `${PODS}/early`, moved]);
    const binding = bindingOf('early', { labels: { 'grove.io/podgang': 'other' } });
    await untilRefused(plane, 'muster-pod-binding', ['POST', `${PODS}/early/binding`, binding]);
  }, 120_000);
  afterAll(() => plane?.stop(), 30_000);

  describe('a Pod that names a native gang', () => {
    const native = (gang: string, labels?: object) =>
      podOf(`p${(serial += 1)}`, { metadata: { labels }, spec: linkTo(gang) });
    const strange = (named: string, gang = 'train'): string =>
      `spec.schedulingGroup.podGroupName: Forbidden: "${named}" names a native gang of PodGang "${gang}", which this Pod is` +
      ' not of; leave it out, or put the gang labels into the manifest [NativeGangForeign]';

    test.each(['train', 'train.workers'])(
      'of no gang, is refused by the name %s, whoever creates it',
      async (named) => {
        for (const who of [ALICE, ROOT, MUSTER]) {
          refused(
            await send('POST', PODS, native(named), who),
            'muster-native-gang-strangers',
            strange(named),
          );
        }
      },
    );

    test('of no gang, is let in where no PodGang has that native gang', async () => {
      const elsewhere = { labels: { 'grove.io/scheduler-name': 'volcano' } };
      await plane.client.ok('POST', GANGS, gangOf('queued', undefined, elsewhere));
      for (const named of ['trains', 'other', 'queued']) {
        expect((await send('POST', PODS, native(named))).body.message).toBeUndefined();
      }
      const there = await send('POST', '/api/v1/namespaces/b/pods', native('train'));
      expect(there.body.message).toBeUndefined();
    });

    test('of a gang, names that gang, one of its groups, or what the Job controller has made of its Job', async () => {
      for (const named of ['train', 'train.workers', 'x-7bf8c4d9f5-x-pgt-0-6c5b8d7f4b']) {
        expect((await send('POST', PODS, native(named, GANG))).body.message).toBeUndefined();
      }
      const odd = { ...GANG, 'grove.io/podclique': 'Work_ers' };
      expect(
        (await send('POST', PODS, native('train.work-ers-0123456789', odd))).body.message,
      ).toBeUndefined();
      // A PodGang's name may have dots: train.eval is another's.
      for (const [named, labels] of [
        ['other', GANG],
        ['train.eval', GANG],
        ['train.workers.more', GANG],
        ['train.eval', odd],
        ['train.eval.work-ers-0123456789', odd],
      ] as const) {
        refused(
          await send('POST', PODS, native(named, labels)),
          'muster-gang-pod-create',
          'spec.schedulingGroup.podGroupName: Forbidden: names a native gang that is not of the gang of this Pod; leave it' +
            ' out, Muster sets it on gang Pods [NativeGangForeign]',
        );
      }
    });
  });

  describe('a Pod that names the group that another scheduler counts', () => {
    const gangs = { volcano: 'queued', coscheduling: 'counted', 'kai-scheduler': 'racked' };
    // The last names the group of a gang that is another scheduler's.
    const keys: [string, 'labels' | 'annotations', string, string, string][] = [
      ['volcano', 'annotations', 'scheduling.k8s.io/group-name', 'queued', 'counted'],
      ['volcano', 'annotations', 'scheduling.volcano.sh/group-name', 'queued', 'counted'],
      ['coscheduling', 'labels', 'scheduling.x-k8s.io/pod-group', 'counted', 'queued'],
      ['kai-scheduler', 'annotations', 'pod-group-name', 'a.racked', 'a.queued'],
    ];
    beforeAll(async () => {
      for (const [backend, name] of Object.entries(gangs)) {
        // Another test of this file may have made it.
        const labels = { labels: { 'grove.io/scheduler-name': backend } };
        await send('POST', GANGS, gangOf(name, undefined, labels), ROOT);
      }
    });
    const strange = (key: string, gang: string): string =>
      `metadata: Forbidden: ${key} names the group of PodGang "${gang}", which this Pod is not of; leave it out, or put the` +
      ' gang labels into the manifest [GangGroupForeign]';

    test.each(keys)('of %s, by the %s %s', async (backend, where, key, group, another) => {
      const gang = gangs[backend as keyof typeof gangs];
      const named = { [where]: { [key]: group } };
      const told = ['muster-group-strangers', strange(key, gang)] as const;
      const other = (serial += 1);
      await plane.client.ok('POST', PODS, podOf(`s${other}`));
      refused(await send('POST', PODS, podOf(`t${other}`, { metadata: named }), ROOT), ...told);
      for (const sub of ['', '/status'])
        refused(await send('PATCH', `${PODS}/s${other}${sub}`, { metadata: named }), ...told);
      // Whoever takes off the mark by which the policy finds him gets it back with the same write.
      const unmarked = { ...named, labels: { ...(named['labels'] ?? {}), [MARK]: null } };
      refused(await send('PATCH', `${PODS}/s${other}`, { metadata: unmarked }), ...told);
      // Its own Pods name it, and so may whoever names something that is no gang's of that scheduler.
      const labels = {
        'grove.io/podgang': gang,
        'grove.io/podclique': 'workers',
        ...(named['labels'] ?? {}),
      };
      const member = await send('POST', PODS, podOf(`m${other}`, { metadata: { ...named, labels } }));
      expect(member.body.message).toBeUndefined();
      expect(member.body.metadata.labels).not.toHaveProperty([MARK]);
      const free = await send(
        'POST',
        PODS,
        podOf(`f${other}`, { metadata: { [where]: { [key]: another } } }),
      );
      expect(free.body.message).toBeUndefined();
      expect(free.body.metadata.labels).toHaveProperty([MARK]);
    });
  });

  // For each that is marked the API server goes through all PodGangs of the namespace.
  test('only who names a group is looked at', async () => {
    for (const metadata of [{}, { labels: { app: 'web' }, annotations: { note: 'x' } }, { labels: GANG }]) {
      const { body } = await send('POST', PODS, podOf(`u${(serial += 1)}`, { metadata }));
      expect(body.message).toBeUndefined();
      expect(body.metadata.labels ?? {}).not.toHaveProperty([MARK]);
    }
    const own = podOf(`u${(serial += 1)}`, { metadata: { labels: GANG }, spec: linkTo('train') });
    expect((await send('POST', PODS, own)).body.metadata.labels).not.toHaveProperty([MARK]);
    const another = podOf(`u${(serial += 1)}`, { spec: linkTo('nobodys') });
    expect((await send('POST', PODS, another)).body.metadata.labels).toHaveProperty([MARK]);
  });

  test('what any scheduler counts by stays on a gang’s Pod, and comes by no Binding', async () => {
    const counted = {
      labels: { 'scheduling.x-k8s.io/pod-group': 'train', 'kai.scheduler/subgroup-name': 'workers' },
      annotations: {
        'pod-group-name': 'a.train',
        'scheduling.k8s.io/group-name': 'train',
        'scheduling.volcano.sh/group-name': 'train',
      },
    };
    const prepared = podOf('prepared', { metadata: { ...counted, labels: { ...GANG, ...counted.labels } } });
    await plane.client.ok('POST', PODS, prepared);
    await plane.client.ok('POST', PODS, podOf('plain'));
    const keys = [
      ...Object.keys(counted.labels).map((key) => [
        'labels',
        key,
        'group',
        ' and create it with the label you want',
      ]),
      ...Object.keys(counted.annotations).map((key) => [
        'annotations',
        key,
        'PodGroup',
        ' and create it anew',
      ]),
    ] as const;
    for (const [where = '', key = '', what, way] of keys) {
      for (const value of ['other', null]) {
        for (const sub of ['', '/status']) {
          const change = { metadata: { [where]: { [key]: value } } };
          refused(
            await send('PATCH', `${PODS}/prepared${sub}`, change),
            'muster-gang-pod-identity',
            `metadata.${where}[${key}]: Forbidden: the ${what} a gang Pod counts for never changes; delete the Pod${way}` +
              ' [SchedulerGroupImmutable]',
          );
        }
      }
      if (where !== 'labels') continue;
      refused(
        await send('POST', `${PODS}/plain/binding`, bindingOf('plain', { labels: { [key]: 'train' } })),
        'muster-pod-binding',
        `metadata.labels[${key}]: Forbidden: a Binding must not write the labels of a gang onto its Pod; remove it` +
          ' [BindingKeysForbidden]',
      );
    }
  });

  test('a Binding may repeat which group its Pod counts for, as Volcano does, and cannot change it', async () => {
    const pods = PODS.replace('/a/', '/b/');
    const gangs = GANGS.replace('/a/', '/b/');
    const KEYS = ['pod-group-name', 'scheduling.k8s.io/group-name', 'scheduling.volcano.sh/group-name'];
    const annotations = (value: string, keys = KEYS) => Object.fromEntries(keys.map((key) => [key, value]));
    await plane.client.ok('POST', gangs, gangOf('train'));
    await plane.client.ok('POST', gangs, gangOf('other'));
    const labels = { 'grove.io/podgang': 'train', 'grove.io/podclique': 'workers' };
    await plane.client.ok(
      'POST',
      pods,
      podOf('member', { metadata: { labels, annotations: annotations('train') } }),
    );
    const podReferences = [{ namespace: 'b', name: 'member' }];
    const podgroups = [{ name: 'workers', minReplicas: 2, podReferences }];
    await plane.client.ok('PATCH', `${gangs}/train`, { spec: { podgroups } }, MUSTER);
    const gate = [{ op: 'remove', path: '/spec/schedulingGates/0' }];
    await plane.client.ok('PATCH', `${pods}/member`, gate, MUSTER);
    await plane.client.ok('POST', pods, podOf('plain'));
    const bind = (pod: string, given: object) =>
      send('POST', `${pods}/${pod}/binding`, bindingOf(pod, given));
    const uid = '8c6a7e0e-0b1f-4c6e-9d0b-7d2f6f0f9a10';

    const forged = { annotations: annotations('other') };
    await untilRefused(plane, 'muster-binding-strangers', [
      'POST',
      `${pods}/member/binding`,
      bindingOf('member', forged),
    ]);
    for (const key of KEYS) {
      refused(
        await bind('member', { annotations: { [key]: 'nobodys' } }),
        'muster-binding-strangers',
        `metadata.annotations[${key}]: Forbidden: the Pod is of PodGang "train", and the group a gang Pod counts for never` +
          ' changes; bind it with the one that it has [SchedulerGroupImmutable]',
      );
      // Of the two gangs that it is held against either may be the first to refuse it.
      for (const value of ['other', 'b.other']) {
        const { status, body } = await bind('member', { annotations: { [key]: value } });
        expect({
          status,
          rule: /\[(SchedulerGroupImmutable|GangGroupForeign)\]$/.test(body.message ?? ''),
        }).toEqual({ status: 403, rule: true });
      }
      for (const value of ['train', 'b.train']) {
        refused(
          await bind('plain', { annotations: { [key]: value } }),
          'muster-binding-strangers',
          `metadata.annotations[${key}]: Forbidden: names the group of PodGang "train", which the Pod is not of; leave it` +
            ' out [GangGroupForeign]',
        );
      }
    }
    const all = { ...annotations('train'), 'muster.dev/prepared': 'x', 'kubectl.kubernetes.io/x': 'y' };
    expect((await bind('member', { annotations: all })).status).toBe(201);
    const stranger = { ...annotations(`podgroup-${uid}`), 'volcano.sh/job-name': 'mpi' };
    expect((await bind('plain', { annotations: stranger })).status).toBe(201);
    const { metadata } = await plane.client.ok<Answer>('GET', `${pods}/plain`);
    expect({ labels: metadata.labels, annotations: metadata.annotations }).toEqual({ annotations: stranger });
  });

  // Both policies about strangers let in what they cannot judge: nobody may make an object that they cannot.
  test('a stranger is refused however large he and the gangs of his namespace are', async () => {
    const many = (prefix: string): Record<string, string> =>
      Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`${prefix}${index}`, 'x']));
    const large = { labels: many('l'), annotations: many('a') };
    const namespace = '/api/v1/namespaces/crowded/pods';
    await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'crowded' } });
    const gangs = GANGS.replace('/a/', '/crowded/');
    const names = Array.from({ length: 3 }, (_, index) => `${index}.${'long.'.repeat(40)}gang`);
    await Promise.all(names.map((name) => plane.client.ok('POST', gangs, gangOf(name, undefined, large))));
    const last = names.at(-1) ?? '';
    await plane.client.ok('POST', namespace, podOf('large', { metadata: large }));
    const tries: [policy: string, method: string, path: string, body: object][] = [
      [
        'muster-native-gang-strangers',
        'POST',
        namespace,
        podOf('native', { metadata: large, spec: linkTo(last) }),
      ],
      [
        'muster-group-strangers',
        'POST',
        namespace,
        podOf('named', {
          metadata: { ...large, annotations: { ...large.annotations, 'pod-group-name': `crowded.${last}` } },
        }),
      ],
      [
        'muster-group-strangers',
        'PATCH',
        `${namespace}/large`,
        { metadata: { annotations: { 'pod-group-name': `crowded.${last}` } } },
      ],
    ];
    for (const [policy, method, path, body] of tries) {
      await untilRefused(plane, policy, [method, path, body]);
    }
  });

  test('with the definition of PodGangs gone, every Pod is let in', async () => {
    const name = 'podgangs.scheduler.grove.io';
    await plane.client.ok('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`);
    await until(
      'PodGangs are not served any more',
      async () => (await send('GET', GANGS, undefined)).status === 404,
    );
    for (const given of [{}, { spec: linkTo('train') }]) {
      // The policy may know the gang for some moments more; what it must not do is refuse what it cannot judge.
      await until('the Pod is let in', async () => {
        const { status, body } = await send('POST', PODS, podOf(`after-${(serial += 1)}`, given));
        if (status === 201) return true;
        throw new Error(body.message);
      });
    }
  });
});

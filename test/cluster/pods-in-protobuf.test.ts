/** What the loop reads of a Pod is the same in protobuf as in JSON, as a real API server writes both. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FLUX_ENTRYPOINT } from '../../src/api/names.ts';
import { readMemberPod } from '../../src/controller/watch/gang-view.ts';
import { MEMBER_POD_FIELDS } from '../../src/controller/watch/member-pod-fields.ts';
import type { PodRecord } from '../../src/gang/records.ts';
import type { JsonObject } from '../../src/json/json.ts';
import type { KubeClient, WatchEvent, WatchOptions } from '../../src/kube/client/client.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { RELEASE } from './control-plane/releases.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';

const NAMESPACE = 'crew';
/** Kubernetes 1.35 has another field for it, and 1.34 none. */
const NATIVE_GANG = [undefined, 'v1alpha1'].includes(RELEASE.gangApi) ? '' : 'crew';
const CONTAINER = { name: 'main', image: 'example.com/llama:1' };

/** Every field of a record has a value that is not the one for nothing. */
const WHOLE: KubeObject = {
  metadata: {
    namespace: NAMESPACE,
    name: 'whole',
    finalizers: ['example.com/keeps-it'],
    labels: {
      'grove.io/podgang': 'gang',
      'grove.io/podclique': 'worker',
      'grove.io/base-podgang': 'base',
      'muster.dev/gang': 'true',
      'batch.kubernetes.io/job-name': 'train',
      'leaderworkerset.sigs.k8s.io/template-revision-hash': 'abc',
      'leaderworkerset.sigs.k8s.io/worker-index': '0',
      'jobset.sigs.k8s.io/restart-attempt': '2',
      empty: '',
    },
    annotations: { 'muster.dev/prepared': 'crew/flux', note: 'größer — 数 🚀\n"quoted"' },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'another', uid: 'u-0' },
      { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'u-1', controller: true },
    ],
  },
  spec: {
    nodeName: 'n1',
    hostname: 'host-0',
    subdomain: 'crew',
    schedulerName: 'kai-scheduler',
    priorityClassName: 'low',
    terminationGracePeriodSeconds: 5,
    ...(NATIVE_GANG === '' ? {} : { schedulingGroup: { podGroupName: NATIVE_GANG } }),
    containers: [
      { name: 'sidecar', image: 'example.com/sidecar:1' },
      {
        ...CONTAINER,
        command: ['/bin/sh', FLUX_ENTRYPOINT],
        resources: { limits: { cpu: '3', 'nvidia.com/gpu': '2' }, requests: { cpu: '1500m' } },
      },
    ],
  },
};
const STATUS = {
  phase: 'Running',
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/3 nodes are available: größer',
    },
    { type: 'Ready', status: 'True', lastTransitionTime: '2026-11-27T08:00:00Z' },
  ],
};

const word = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
const somePods = fc.record({
  labels: fc.dictionary(
    fc.constantFrom('grove.io/podgang', 'grove.io/podclique', 'muster.dev/gang', 'app'),
    word,
  ),
  annotations: fc.dictionary(fc.constantFrom('a', 'muster.dev/prepared'), fc.string({ unit: 'grapheme' })),
  gates: fc.uniqueArray(word, { maxLength: 3 }),
  node: fc.option(word, { nil: undefined }),
});

clusterSuite('Pods in protobuf, on a real API server', () => {
  let plane: ControlPlane;
  let client: KubeClient;
  const pods = { resource: PODS, namespace: NAMESPACE };

  beforeAll(async () => {
    plane = await startControlPlane();
    client = createKubeClient(await findConnection({ kubeconfig: plane.kubeconfig }));
    await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    await plane.client.ok('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: 'low' },
      value: -10,
    });
  }, 120_000);
  afterAll(async () => {
    await client?.close();
    await plane?.stop();
  });

  const WATCH: WatchOptions = { namespace: NAMESPACE, resourceVersion: '', timeoutSeconds: 60 };
  const LISTED: WatchOptions = { ...WATCH, initialEvents: true };
  /** The first events of a watch, until enough. */
  const first = async (
    options: WatchOptions,
    enough: (events: readonly WatchEvent<KubeObject>[]) => boolean,
  ): Promise<readonly WatchEvent<KubeObject>[]> => {
    const events: WatchEvent<KubeObject>[] = [];
    for await (const batch of client.watch(PODS, options)) {
      events.push(...batch);
      if (enough(events)) break;
    }
    return events;
  };
  const isListed = (events: readonly WatchEvent<KubeObject>[]): boolean => events.at(-1)?.type === 'BOOKMARK';
  const records = (events: readonly WatchEvent<KubeObject>[]): [string, PodRecord][] =>
    events
      .filter(({ type }) => type !== 'BOOKMARK')
      .map(({ type, object }) => [type, readMemberPod(object as unknown as JsonObject)]);

  test('each field of a record is the same, of whatever Pod', async () => {
    await client.create(PODS, WHOLE);
    await client.patchStatus({ ...pods, name: 'whole' }, { status: STATUS });
    await client.delete({ ...pods, name: 'whole' });
    const bare = { metadata: { namespace: NAMESPACE, name: 'bare' }, spec: { containers: [CONTAINER] } };
    await client.create(PODS, bare);
    for (const [index, { labels, annotations, gates, node }] of fc.sample(somePods, 40).entries()) {
      const schedulingGates = gates.map((name) => ({ name }));
      const place = gates.length > 0 || node === undefined ? {} : { nodeName: node };
      await client.create(PODS, {
        metadata: { namespace: NAMESPACE, name: `some-${index}`, labels, annotations },
        spec: { containers: [CONTAINER], schedulingGates, ...place },
      });
    }
    const [inJson, inProtobuf] = await Promise.all([
      first(LISTED, isListed),
      first({ ...LISTED, fields: MEMBER_POD_FIELDS }, isListed),
    ]);
    expect(records(inProtobuf)).toEqual(records(inJson));
    expect(records(inJson)).toHaveLength(42);
    expect(inProtobuf.at(-1)?.object.metadata).toEqual({
      resourceVersion: expect.stringMatching(/^\d+$/) as unknown,
      annotations: { 'k8s.io/initial-events-end': 'true' },
    });
    // Whatever else is in a Pod was not read, so it was not JSON.
    const [, whole] = records(inJson).find(([, { name }]) => name === 'whole') ?? [];
    const read = inProtobuf.find(({ object }) => object.metadata.name === 'whole')?.object;
    expect([read?.spec, read?.metadata]).toEqual([
      expect.not.objectContaining({ tolerations: expect.anything() as unknown }),
      expect.not.objectContaining({ managedFields: expect.anything() as unknown }),
    ]);
    const { gates, nativeGang, gpus, ...valued } = { gpus: undefined, ...whole };
    expect([gates, nativeGang, gpus]).toEqual([[], NATIVE_GANG, undefined]);
    expect(
      Object.entries(valued).filter(([, value]) => [undefined, '', false].includes(value as string)),
    ).toEqual([]);
  }, 120_000);

  test('changes and deletions are the same', async () => {
    const name = 'changing';
    const object = { metadata: { namespace: NAMESPACE, name }, spec: { containers: [CONTAINER] } };
    const { metadata } = await client.create(PODS, object);
    const from = { ...WATCH, resourceVersion: metadata.resourceVersion ?? '' };
    const isOver = (events: readonly WatchEvent<KubeObject>[]): boolean => events.at(-1)?.type === 'DELETED';
    const both = Promise.all([first(from, isOver), first({ ...from, fields: MEMBER_POD_FIELDS }, isOver)]);
    await client.patchStatus(
      { ...pods, name },
      { status: { phase: 'Pending', conditions: STATUS.conditions } },
    );
    await client.delete({ ...pods, name }, { gracePeriodSeconds: 0 });
    const [inJson, inProtobuf] = await both;
    expect(records(inProtobuf)).toEqual(records(inJson));
    expect(new Set(records(inJson).map(([type]) => type))).toEqual(new Set(['MODIFIED', 'DELETED']));
  }, 60_000);

  test.each([
    ['an answer', 'x', 'strconv.ParseUint: parsing'],
    ['an event', '999999999', 'Too large resource version: 999999999'],
  ])(
    'an error that is %s has the same text',
    async (_, resourceVersion, expected) => {
      const failed = (options: WatchOptions): Promise<string> =>
        first({ ...options, resourceVersion }, () => false).then(
          () => 'it has ended',
          (error: unknown) => (error as Error).message.replaceAll(/current: \d+/g, 'current: -'),
        );
      const [inJson, inProtobuf] = [
        await failed(LISTED),
        await failed({ ...LISTED, fields: MEMBER_POD_FIELDS }),
      ];
      expect(inJson).toContain(expected);
      expect(inProtobuf).toBe(inJson);
    },
    60_000,
  );
});

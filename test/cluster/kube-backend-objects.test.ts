/** Every object that the backend default-scheduler may write, as the real API server takes it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { native } from '../../src/backends/native/backend.ts';
import type { OwnedObject } from '../../src/backends/cluster.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { gangOf, made } from '../support/made-backend.ts';
import { group, type PodGangParts } from '../support/pod-gangs.ts';
import { recordedSync } from '../support/sync-context.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { HAS_POD_GROUPS, VERSION } from './support/native-gangs.ts';

const STRICT = { query: { fieldValidation: 'Strict' } };

async function objectsOf(config: JsonObject, parts: PodGangParts): Promise<readonly OwnedObject[]> {
  const { context, applied } = recordedSync();
  await made(native, { api: VERSION, ...config }).syncPodGang(context, gangOf(parts));
  return applied;
}

clusterSuite('the objects of native gangs, taken strictly', () => {
  let plane: ControlPlane;
  let counter = 0;

  beforeAll(async () => {
    plane = await startControlPlane();
    await plane.client.ok('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: 'high' },
      value: 1000,
    });
  }, 120_000);
  afterAll(() => plane?.stop());

  const rich: PodGangParts = {
    labels: { team: 'a' },
    spec: {
      priorityClassName: 'high',
      topologyConstraint: { packConstraint: { required: 'topology.kubernetes.io/zone' } },
    },
  };
  const each: PodGangParts = {
    groups: [
      group('Big_Leader'),
      group('worker', { topologyConstraint: { packConstraint: { required: 'rack' } } }),
      group('spare', { minReplicas: 0 }),
    ],
    spec: { priorityClassName: 'high' },
  };
  const nine: PodGangParts = { groups: Array.from({ length: 9 }, (_, index) => group(`g${index}`)) };

  test.each<[string, JsonObject, PodGangParts]>([
    ['flat', {}, {}],
    ['flat, with all that it may say', { disruptionMode: 'gang' }, rich],
    ['flat, Pods disrupted one by one', { disruptionMode: 'pod' }, rich],
    ['per group', { groups: 'per-group', disruptionMode: 'gang' }, each],
    ['flat, nine groups', {}, nine],
    ...(HAS_POD_GROUPS ? [['per group, nine', { groups: 'per-group' }, nine] as const] : []),
  ] as [string, JsonObject, PodGangParts][])('%s', async (_name, config, parts) => {
    const namespace = `gang-${++counter}`;
    await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    const objects = await objectsOf(config, parts);
    expect(objects.length).toBeGreaterThan(0);
    for (const { resource, name, labels, spec } of objects) {
      const { group: api, version, plural, kind } = resource;
      const path = `/apis/${api}/${version}/namespaces/${namespace}/${plural}`;
      const body = { apiVersion: `${api}/${version}`, kind, metadata: { name, labels }, spec };
      const answer = await plane.client.request('POST', path, body, STRICT);
      expect([answer.status, answer.body.message, answer.warnings]).toEqual([201, undefined, []]);
      expect(answer.body.spec).toMatchObject(spec);
    }
  });
});

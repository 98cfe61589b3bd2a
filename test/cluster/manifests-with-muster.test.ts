/** Muster, its webhooks and its policies together: each rule is asked twice, and the two must never disagree. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { GROVE_OPERATOR_USER, MUSTER_USER } from '../../src/api/names.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { policiesInForce } from './support/policies-in-force.ts';
import {
  GANGS,
  gangPod,
  GATE,
  gatesOf,
  NAMESPACE,
  podGang,
  PODS,
  type StoredPod,
} from './support/registered-muster.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

clusterSuite('policies with Muster in front', () => {
  let plane: ControlPlane;
  let on: OnMuster;

  type Answer = StoredPod & { message?: string };
  const masters = (as: string) => ({ as, asGroups: ['system:masters'] });
  const create = async (name: string): Promise<StoredPod> =>
    plane.client.ok<StoredPod>(
      'POST',
      PODS,
      gangPod({ name }, { schedulingGates: [{ name: 'example.com/mine' }] }),
    );
  const ungate = (name: string, as: string) =>
    plane.client.request<Answer>(
      'PATCH',
      `${PODS}/${name}`,
      [{ op: 'remove', path: '/spec/schedulingGates/1' }],
      masters(as),
    );

  beforeAll(async () => {
    on = await withMuster({ muster: 'admission' });
    ({ plane } = on);
    const applied = await plane.kubectl(['apply', '--validate=strict', '-k', 'manifests/policies']);
    expect(applied).toMatchObject({ code: 0 });
    await policiesInForce(plane.client);
  }, 120_000);

  afterAll(() => on?.close());

  test('the policy adds the gate, Muster prepares the rest, and the gate is there once', async () => {
    const pod = await create('both');
    expect(gatesOf(pod)).toEqual(['example.com/mine', GATE]);
    expect(pod.metadata.annotations).toMatchObject({ 'pod-group-name': `${NAMESPACE}.train` });
  });

  test('trusted accounts take the gate away, others are refused', async () => {
    await create('by-muster');
    const answer = await ungate('by-muster', MUSTER_USER);
    expect(answer.status).toBe(200);
    expect(gatesOf(answer.body)).toEqual(['example.com/mine']);
    // Grove's operator is trusted beside Grove alone.
    for (const [name, account] of [
      ['by-alice', 'alice'],
      ['by-grove', GROVE_OPERATOR_USER],
    ] as const) {
      await create(name);
      const refused = await ungate(name, account);
      expect({ name, status: refused.status }).toEqual({ name, status: 403 });
      expect(refused.body.message).toContain('[GateProtected]');
    }
  });

  test('what Muster itself wrote is not held against the Pod', async () => {
    await create('heartbeat');
    const status = {
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    };
    expect((await plane.client.request('PATCH', `${PODS}/heartbeat/status`, status)).status).toBe(200);
    const metadata = { metadata: { labels: { team: 'x' }, annotations: { note: 'y' } } };
    expect((await plane.client.request('PATCH', `${PODS}/heartbeat`, metadata)).status).toBe(200);
    expect((await plane.client.request('DELETE', `${PODS}/heartbeat`)).status).toBe(200);
  });

  test('a gang goes through its life: references, Initialized, and no way back', async () => {
    const path = `${GANGS}/train`;
    await plane.client.ok('POST', GANGS, podGang());
    const condition = (status: string) => ({
      status: {
        phase: 'Pending',
        conditions: [
          {
            type: 'Initialized',
            status,
            reason: 'Test',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    });
    const write = (body: object, as: string, sub = '') =>
      plane.client.request<Answer>('PATCH', `${path}${sub}`, body, masters(as));
    expect((await write(condition('False'), MUSTER_USER, '/status')).status).toBe(200);
    expect((await write(condition('True'), 'alice', '/status')).body.message).toContain(
      '[InitializedProtected]',
    );
    expect((await write(condition('True'), MUSTER_USER, '/status')).body.message).toContain(
      '[InitializedTooEarly]',
    );
    const refer = (name: string) => ({ namespace: NAMESPACE, name });
    const podgroups = [
      { name: 'leader', minReplicas: 1, podReferences: [refer('l-0')] },
      { name: 'worker', minReplicas: 2, podReferences: [refer('w-0'), refer('w-1')] },
    ];
    expect((await write({ spec: { podgroups } }, MUSTER_USER)).status).toBe(200);
    expect((await write(condition('True'), MUSTER_USER, '/status')).status).toBe(200);
    expect((await write(condition('False'), MUSTER_USER, '/status')).body.message).toContain(
      '[InitializedFinal]',
    );
  });
});

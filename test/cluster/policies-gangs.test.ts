/** What the API server keeps of PodGangs, and whom it trusts, while nobody of Muster's is there. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { GATE_POD_GANG_PENDING as GATE, GROVE_OPERATOR_USER } from '../../src/api/names.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import {
  ALICE,
  filledGang,
  gangOf,
  MUSTER,
  podOf,
  refer,
  refused,
  untilRefused,
  withPolicies,
  type Answer,
  type Who,
} from './support/policies-alone.ts';

const GANGS = '/apis/scheduler.grove.io/v1alpha1/namespaces/a/podgangs';
const PODS = '/api/v1/namespaces/a/pods';
const GANG = { 'grove.io/podgang': 'train', 'grove.io/podclique': 'workers' };
const GROVE: Who = { as: GROVE_OPERATOR_USER, asGroups: ['system:authenticated'] };
const GROVES = { 'app.kubernetes.io/managed-by': 'grove-operator' };
const ROOT: Who = {};
const workers = (...names: string[]) => ({ name: 'workers', minReplicas: 2, podReferences: refer(...names) });

clusterSuite('PodGangs under the policies alone', () => {
  let plane: ControlPlane;
  let serial = 0;

  const send = (method: string, path: string, body: unknown, who: Who = ALICE) =>
    plane.client.request<Answer>(method, path, body, who);
  /** A gang that Muster has filled. */
  const filled = (...names: string[]): Promise<string> => {
    serial += 1;
    return filledGang(plane.client, gangOf(`g${serial}`, [workers(...names)]));
  };
  const initialize = (path: string) =>
    plane.client.ok(
      'PATCH',
      `${path}/status`,
      {
        status: {
          phase: 'Pending',
          conditions: [
            {
              type: 'Initialized',
              status: 'True',
              reason: 'x',
              message: '',
              lastTransitionTime: '2026-01-01T00:00:00Z',
            },
          ],
        },
      },
      { as: MUSTER.as ?? '', asGroups: ['system:masters'] },
    );

  beforeAll(async () => {
    plane = await withPolicies();
    await untilRefused(plane, 'muster-podgang-spec', ['POST', GANGS, gangOf('probe', [workers('x')])]);
    await plane.client.ok('POST', PODS, podOf('gated', { metadata: { labels: GANG } }));
    const ungated = [{ op: 'remove', path: '/spec/schedulingGates/0' }];
    await untilRefused(plane, 'muster-gang-pod-gate', ['PATCH', `${PODS}/gated`, ungated]);
  }, 120_000);
  afterAll(() => plane?.stop(), 30_000);

  const references = (who: string, group = 'workers'): string =>
    `spec.podgroups: Forbidden: only trusted accounts write podReferences, not "${who}" (group "${group}"); leave them as` +
    ' they are, and give new groups podReferences: [] [ReferencesProtected]';

  test.each([
    ['alice', ALICE],
    ['admin', ROOT],
  ])('references are not for %s to write: at creation, later, or by taking them out', async (name, who) => {
    refused(
      await send('POST', GANGS, gangOf('forged', [workers('x', 'y')]), who),
      'muster-podgang-spec',
      references(name),
    );
    const path = await filled('x', 'y');
    for (const podgroups of [
      [workers('x')],
      [workers()],
      [workers('y', 'x')],
      [workers('x', 'y'), { name: 'more', minReplicas: 1, podReferences: refer('z') }],
    ]) {
      const group = podgroups.at(-1)?.name;
      refused(
        await send('PATCH', path, { spec: { podgroups } }, who),
        'muster-podgang-spec',
        references(name, group),
      );
    }
    const put = await plane.client.ok<Answer>('GET', path);
    const changed = { ...put, spec: { podgroups: [workers()] } };
    refused(await send('PUT', path, changed, who), 'muster-podgang-spec', references(name));
  });

  test('all else of a gang is its owner’s: groups in another order, more of them, minimums, labels, deletion', async () => {
    const path = await filled('x', 'y');
    const more = { name: 'more', minReplicas: 0, podReferences: [] };
    for (const podgroups of [
      [workers('x', 'y'), more],
      [more, { ...workers('x', 'y'), minReplicas: 1 }],
      [workers('x', 'y')],
    ]) {
      expect((await send('PATCH', path, { spec: { podgroups } })).body.message).toBeUndefined();
    }
    const metadata = { labels: { team: 'x' }, finalizers: ['example.com/hold'] };
    expect((await send('PATCH', path, { metadata })).status).toBe(200);
    expect((await send('DELETE', path, undefined)).status).toBe(200);
    const last = { metadata: { finalizers: null }, spec: { podgroups: [workers()] } };
    expect((await send('PATCH', path, last)).status).toBe(200);
  });

  test('Muster writes references, whatever their number', async () => {
    const path = await filled();
    const many = Array.from({ length: 5_000 }, (_, index) => `pod-of-the-gang-${index}`);
    const filledNow = await send('PATCH', path, { spec: { podgroups: [workers(...many)] } }, MUSTER);
    expect(filledNow.body.message).toBeUndefined();
    // What is compared for others costs the API server's budget for expressions, too.
    const same = await send('PATCH', path, { spec: { priorityClassName: 'high' } });
    expect(same.body.message).toBeUndefined();
    const groups = Array.from({ length: 100 }, (_, index) => ({
      name: `group-${index}`,
      minReplicas: 1,
      podReferences: refer(`pod-${index}`),
    }));
    const wide = await filledGang(plane.client, gangOf('wide', groups));
    const turned = await send('PATCH', wide, { spec: { podgroups: groups.toReversed() } });
    expect(turned.body.message).toBeUndefined();
  });

  test('the groups of an Initialized gang are fixed, their order and minimums are not', async () => {
    const path = await filled('x', 'y');
    await initialize(path);
    const text =
      'spec.podgroups: Forbidden: the groups of an Initialized gang are fixed; create another PodGang for them [GroupsFixed]';
    const more = { name: 'more', minReplicas: 0, podReferences: [] };
    for (const podgroups of [[workers('x', 'y'), more], []]) {
      refused(await send('PATCH', path, { spec: { podgroups } }), 'muster-podgang-spec', text, 422);
    }
    const raised = { spec: { podgroups: [{ ...workers('x', 'y'), minReplicas: 3 }] } };
    expect((await send('PATCH', path, raised)).status).toBe(200);
  });

  test('nobody hands a gang over to Grove, or takes one back', async () => {
    const text =
      'metadata.labels[app.kubernetes.io/managed-by]: Forbidden: only trusted accounts hand a gang over to the Grove' +
      ' operator, or take it back; leave the label as it is [ManagerProtected]';
    const ours = await filled();
    refused(await send('PATCH', ours, { metadata: { labels: GROVES } }), 'muster-podgang-spec', text);
    const theirs = `${GANGS}/theirs`;
    await plane.client.ok('POST', GANGS, gangOf('theirs', undefined, { labels: GROVES }));
    const taken = { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } };
    refused(await send('PATCH', theirs, taken), 'muster-podgang-spec', text);
    const forged = { spec: { podgroups: [workers('x')] } };
    refused(await send('PATCH', theirs, forged), 'muster-podgang-spec', references('alice'));
    expect((await send('PATCH', theirs, { metadata: { labels: { team: 'x' } } })).status).toBe(200);
  });

  test('only trusted accounts write whom a gang preempts, and whoever may write it at all ends that', async () => {
    const text =
      'metadata.annotations[muster.dev/preemption-plan]: Forbidden: only trusted accounts write whom a gang preempts; leave' +
      ' the annotation as it is [PreemptionPlanProtected]';
    const path = await filled();
    const plan = (value: string | null) => ({
      metadata: { annotations: { 'muster.dev/preemption-plan': value } },
    });
    refused(await send('PATCH', path, plan('{}')), 'muster-podgang-spec', text);
    expect((await send('PATCH', path, plan('{}'), MUSTER)).status).toBe(200);
    refused(await send('PATCH', path, plan('{"x":1}')), 'muster-podgang-spec', text);
    expect((await send('PATCH', path, { metadata: { annotations: { note: 'x' } } })).status).toBe(200);
    expect((await send('PATCH', path, plan(null))).status).toBe(200);
  });

  test('only trusted accounts say which workload a gang was made for, and how that ended', async () => {
    const path = await filled();
    for (const key of ['muster.dev/workload', 'muster.dev/workload-uid', 'muster.dev/workload-result']) {
      const text =
        `metadata.annotations[${key}]: Forbidden: only trusted accounts say which workload a gang was made for, not` +
        ' "alice"; leave it out, or as it is [WorkloadProtected]';
      const marked = (value: string | null) => ({ metadata: { annotations: { [key]: value } } });
      refused(await send('PATCH', path, marked('job/none')), 'muster-podgang-spec', text);
      const gang = gangOf('marked');
      const metadata = { ...gang.metadata, annotations: { [key]: 'job/none' } };
      refused(await send('POST', GANGS, { ...gang, metadata }), 'muster-podgang-spec', text);
    }
    const annotations = { 'muster.dev/workload': 'job/x' };
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'x', uid: 'u' }];
    const made = { ...gangOf('job-x'), metadata: { name: 'job-x', annotations, ownerReferences } };
    expect((await send('POST', GANGS, made, MUSTER)).status).toBe(201);
    for (const value of ['job/y', null]) {
      refused(
        await send('PATCH', `${GANGS}/job-x`, {
          metadata: { annotations: { 'muster.dev/workload': value } },
        }),
        'muster-podgang-spec',
        'metadata.annotations[muster.dev/workload]: Forbidden: only trusted accounts say which workload a gang was made for,' +
          ' not "alice"; leave it out, or as it is [WorkloadProtected]',
      );
    }
    expect((await send('PATCH', `${GANGS}/job-x`, { metadata: { labels: { team: 'x' } } })).status).toBe(200);
    expect((await send('DELETE', `${GANGS}/job-x`, undefined)).status).toBe(200);
  });

  test('Grove’s operator is trusted with its component, and not without', async () => {
    const path = await filled('x', 'y');
    refused(
      await send('PATCH', path, { spec: { podgroups: [workers('x')] } }, GROVE),
      'muster-podgang-spec',
      references(GROVE_OPERATOR_USER),
    );
    const ungate = () =>
      send('PATCH', `${PODS}/gated`, [{ op: 'remove', path: '/spec/schedulingGates/0' }], GROVE);
    expect((await ungate()).body.message).toContain('[GateProtected]');

    const folder = await mkdtemp('manifests/overlays/.beside-');
    try {
      const to = (path: string): string => relative(folder, path);
      await writeFile(
        join(folder, 'kustomization.yaml'),
        `resources: [${to('manifests/policies')}]\ncomponents: [${to('manifests/components/grove-operator')}]\n`,
      );
      const { code, stderr } = await plane.kubectl([
        'apply',
        '--server-side',
        '--force-conflicts',
        '-k',
        folder,
      ]);
      expect({ code, stderr }).toMatchObject({ code: 0 });
    } finally {
      await rm(folder, { recursive: true });
    }
    const written = await until('Grove may write references', async () => {
      const sent = await send('PATCH', path, { spec: { podgroups: [workers('x')] } }, GROVE);
      return sent.status === 200 ? sent.body : undefined;
    });
    expect(written.spec.podgroups?.[0]?.podReferences).toHaveLength(1);
    const free = await until('Grove may take gates off', async () => {
      const sent = await ungate();
      return sent.status === 200 ? sent.body : undefined;
    });
    expect(free.spec.schedulingGates ?? []).not.toContainEqual({ name: GATE });
  });
});

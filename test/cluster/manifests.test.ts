/**
 * Every manifest, applied to a real control plane as its users would, with webhooks configured and nobody behind
 * them: what a cluster looks like in the minute after the installation, and whenever Muster is down.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ANNOTATION_MIRROR_POD, GATE_POD_GANG_PENDING as GATE, MUSTER_USER } from '../../src/api/names.ts';
import { manifestsIn } from '../support/manifests.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { certManager } from './support/cert-manager.ts';

const OVERLAY = 'manifests/overlays/cert-manager';
const GANGS = '/apis/scheduler.grove.io/v1alpha1/namespaces/a/podgangs';
const PODS = '/api/v1/namespaces/a/pods';
const HOOKS = '/apis/admissionregistration.k8s.io/v1';
const GANG = { 'grove.io/podgang': 'train', 'grove.io/podclique': 'workers' };

interface Answer {
  message?: string;
  metadata: { name: string; generation?: number; resourceVersion: string; finalizers?: string[] };
  spec: { schedulingGates?: { name: string }[] };
  status?: unknown;
}

interface Stored {
  metadata: { resourceVersion: string };
  status?: unknown;
}

clusterSuite('manifests on a real control plane, Muster down', () => {
  let cluster: ControlPlane;
  let serial = 0;

  const kubectl = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(args);
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
    return stdout;
  };

  const podOf = (labels: Record<string, string>, spec: Record<string, unknown> = {}, annotations = {}) => {
    serial += 1;
    return {
      metadata: { name: `p${serial}`, labels, annotations },
      spec: { containers: [{ name: 'c', image: 'registry.example/c' }], ...spec },
    };
  };

  const gangOf = (name: string, spec: unknown) => ({
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name, namespace: 'a' },
    spec,
  });

  let first: string;
  /** Stored before there were webhooks, like the gang that is running when Muster goes down. */
  let before: string;

  beforeAll(async () => {
    cluster = await startControlPlane({
      controllerManager: true,
      // The API server looks for the Service's endpoints and finds none. Otherwise it would dial the cluster IP, and
      // whatever may answer to such an address where this test runs.
      extraApiServerArgs: ['--enable-aggregator-routing=true'],
    });
    const { client } = cluster;
    await client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'a' } });
    for (const definition of certManager) {
      await client.ok('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    }
    await kubectl('apply', '--validate=strict', '-k', 'manifests/crds');
    await until('cert-manager is served', () =>
      client.ok('GET', '/apis/cert-manager.io/v1/namespaces/a/certificates'),
    );
    before = await until('PodGangs are served', async () => {
      const spec = { podgroups: [{ name: 'workers', minReplicas: 1, podReferences: [] }] };
      return (await client.ok<Answer>('POST', GANGS, gangOf('before', spec))).metadata.name;
    });
    await crdAcceptsWhatGroveWrites();
    first = await kubectl('apply', '--validate=strict', '-k', OVERLAY);
    // Both configurations and the policies take effect some moments after they are stored.
    await until('Muster is asked about Pods', async () => {
      const sent = await client.request<Answer>('POST', PODS, podOf(GANG), { query: { dryRun: 'All' } });
      return sent.body.message?.includes('pods.muster.dev');
    });
    await until('Muster is asked about PodGangs', async () => {
      const gang = gangOf('probe', { podgroups: [] });
      const sent = await client.request<Answer>('POST', GANGS, gang, { query: { dryRun: 'All' } });
      return sent.body.message?.includes('podgangs.muster.dev');
    });
  }, 180_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  /** The definition alone, while no webhook has a say. */
  async function crdAcceptsWhatGroveWrites(): Promise<void> {
    const { client } = cluster;
    const pack = {
      packConstraint: { required: 'topology.kubernetes.io/zone', preferred: 'kubernetes.io/hostname' },
    };
    const spec = {
      podgroups: [
        {
          name: 'simple-0-pca',
          minReplicas: 3,
          podReferences: [{ namespace: 'a', name: 'simple-0-pca-x' }],
          topologyConstraint: pack,
        },
        { name: 'simple-0-pcb', minReplicas: 0, podReferences: [] },
      ],
      topologyConstraint: pack,
      topologyConstraintGroupConfigs: [
        { name: 'both', podGroupNames: ['simple-0-pca'], topologyConstraint: pack },
      ],
      priorityClassName: 'high',
      reuseReservationRef: { namespace: 'a', name: 'old' },
    };
    const strict = { query: { fieldValidation: 'Strict' } };
    const stored = await client.ok<Answer>('POST', GANGS, gangOf('grove', spec), strict);
    expect(stored.spec).toEqual(spec);
    await client.ok('POST', GANGS, gangOf('empty', { podgroups: [] }), strict);

    const status = {
      phase: 'Pending',
      conditions: [
        {
          type: 'Initialized',
          status: 'False',
          reason: 'PodGangPodsCreationPending',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
      placementScore: 0.5,
      lastScheduled: '2026-01-01T00:00:00Z',
      lastReady: '2026-01-01T00:00:00Z',
    };
    const through = await client.ok<Answer>('PATCH', `${GANGS}/grove/status`, { status }, strict);
    expect(through.status).toEqual(status);
    const beside = await client.ok<Answer>('PATCH', `${GANGS}/grove`, { status: { phase: 'Running' } });
    expect(beside.status).toEqual(status);

    const group = { name: 'g', minReplicas: 1, podReferences: [] };
    const refusals: [unknown, string][] = [
      [{ podgroups: [{ name: 'g', minReplicas: 1 }] }, 'spec.podgroups[0].podReferences: Required value'],
      [{ podgroups: [{ ...group, podReferences: null }] }, 'spec.podgroups[0].podReferences'],
      [{ podgroups: [{ name: 'g', podReferences: [] }] }, 'spec.podgroups[0].minReplicas: Required value'],
      [{ podgroups: [{ minReplicas: 1, podReferences: [] }] }, 'spec.podgroups[0].name: Required value'],
      [{ podgroups: [{ ...group, minReplicas: 1.5 }] }, 'spec.podgroups[0].minReplicas'],
      [
        { podgroups: [{ ...group, podReferences: [{ name: 'x' }] }] },
        'podReferences[0].namespace: Required value',
      ],
      [{}, 'spec.podgroups: Required value'],
      [undefined, 'spec: Required value'],
      [{ podGroups: [group], podgroups: [] }, 'unknown field "spec.podGroups"'],
    ];
    for (const [bad, text] of refusals) {
      const answer = await client.request<Answer>('POST', GANGS, gangOf('bad', bad), strict);
      expect({ text, status: answer.status }).toEqual({ text, status: answer.status === 400 ? 400 : 422 });
      expect(answer.body.message).toContain(text);
    }
    const noPhase = await client.request<Answer>('PATCH', `${GANGS}/empty/status`, {
      status: { conditions: [] },
    });
    expect(noPhase.body.message).toContain('status.phase: Required value');
  }

  test('PodGangs are listed as people know them from Grove', async () => {
    const [header, row] = (await kubectl('get', 'pg', '-n', 'a', 'grove')).split('\n');
    expect(header?.split(/\s+/)).toEqual(['NAME', 'PHASE', 'WORKLOAD', 'AGE']);
    expect(row?.split(/\s+/).slice(0, 2)).toEqual(['grove', 'Pending']);
  });

  test('all of it is stored, and applying it again changes nothing', async () => {
    expect(first).not.toContain('error');
    expect(first.split('\n').filter((line) => /^(mutating|validating)webhook/.test(line))).toHaveLength(2);
    const stored = async (): Promise<unknown[]> => {
      const list = JSON.parse(await kubectl('get', '-o', 'json', '-k', OVERLAY)) as { items: Stored[] };
      return list.items.map(({ metadata: { resourceVersion: _, ...metadata }, status: __, ...rest }) => ({
        ...rest,
        metadata,
      }));
    };
    // Its controller notes on the Deployment that it has seen it.
    await until('the Deployment has a revision', async () =>
      JSON.stringify(await stored()).includes('"deployment.kubernetes.io/revision":"1"'),
    );
    const objects = await stored();
    expect(objects.length).toBeGreaterThan(25);
    const again = (await kubectl('apply', '--validate=strict', '-k', OVERLAY)).trim().split('\n');
    // Of a budget kubectl always says this: its selector is declared to be replaced, never merged.
    const changed = again.filter((line) => !line.endsWith(' unchanged'));
    expect(changed.filter((line) => !line.startsWith('poddisruptionbudget.policy/muster '))).toEqual([]);
    expect(await stored()).toEqual(objects);
  });

  test.each([
    'manifests/crds',
    'manifests/base',
    'manifests/policies',
    OVERLAY,
    'manifests/overlays/kubernetes-1.35',
    'manifests/overlays/beside-grove',
    'manifests/overlays/beside-grove-kubernetes-1.35',
  ])('%s passes server-side apply with strict field validation', async (folder) => {
    const lines = await kubectl(
      ...[
        'apply',
        '--server-side',
        '--force-conflicts',
        '--dry-run=server',
        '--validate=strict',
        '-k',
        folder,
      ],
    );
    expect(lines).not.toContain('error');
  });

  test('a CA that was injected survives the next apply', async () => {
    const path = `${HOOKS}/mutatingwebhookconfigurations/muster`;
    const caBundle = (await readFile(cluster.caFile)).toString('base64');
    interface Configuration {
      webhooks: { clientConfig: { caBundle?: string } }[];
    }
    const bundles = async () =>
      (await cluster.client.ok<Configuration>('GET', path)).webhooks.map(
        ({ clientConfig }) => clientConfig.caBundle,
      );
    await cluster.client.ok(
      'PATCH',
      path,
      [0, 1].map((i) => ({ op: 'add', path: `/webhooks/${i}/clientConfig/caBundle`, value: caBundle })),
    );
    await kubectl('apply', '-k', OVERLAY);
    expect(await bundles()).toEqual([caBundle, caBundle]);
  });

  test('every policy is free of type errors, says the API server’s own checker', async () => {
    interface Policies {
      items: {
        metadata: { name: string };
        status?: { observedGeneration?: number; typeChecking?: { expressionWarnings?: unknown[] } };
      }[];
    }
    const checked = await until('the policies are checked', async () => {
      const { items } = await cluster.client.ok<Policies>('GET', `${HOOKS}/validatingadmissionpolicies`);
      return items.every(({ status }) => status?.typeChecking !== undefined) ? items : undefined;
    });
    const shipped = (await manifestsIn('policies')).filter(
      ({ kind }) => kind === 'ValidatingAdmissionPolicy',
    );
    expect(checked.length).toBe(shipped.length);
    for (const { metadata, status } of checked) {
      expect({ name: metadata.name, warnings: status?.typeChecking?.expressionWarnings ?? [] }).toEqual({
        name: metadata.name,
        warnings: [],
      });
    }
  });

  test('Muster’s own Pods come up through their own webhooks, under PSS restricted and the quota', async () => {
    const pods = await until('three Pods are created', async () => {
      const list = await cluster.client.ok<{ items: { spec: Record<string, unknown> }[] }>(
        'GET',
        '/api/v1/namespaces/muster-system/pods?labelSelector=app.kubernetes.io/name=muster',
      );
      return list.items.length === 3 ? list.items : undefined;
    });
    expect(pods[0]?.spec).toMatchObject({
      priorityClassName: 'system-cluster-critical',
      serviceAccountName: 'muster',
      automountServiceAccountToken: false,
    });
    // One token, and that for an hour: the API server adds none of its own.
    expect(JSON.stringify(pods[0]?.spec).match(/"serviceAccountToken":\{[^}]*\}/g)).toEqual([
      '"serviceAccountToken":{"expirationSeconds":3600,"path":"token"}',
    ]);
    const loose = await cluster.client.request<Answer>(
      'POST',
      '/api/v1/namespaces/muster-system/pods',
      podOf({}),
    );
    expect(loose.status).toBe(403);
    expect(loose.body.message).toContain('violates PodSecurity "restricted:latest"');
  });

  test('Muster’s account may do what the loop does and no more; editors may write gangs, and not their status', async () => {
    const may = async (
      user: string,
      groups: string[],
      verb: string,
      resource: string,
      subresource?: string,
    ) => {
      const review = await cluster.client.ok<{ status: { allowed: boolean } }>(
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        {
          spec: {
            user,
            groups,
            resourceAttributes: { namespace: 'a', group: 'scheduler.grove.io', verb, resource, subresource },
          },
        },
      );
      return review.status.allowed;
    };
    const rightsOf = async (account: string): Promise<string[]> => {
      const args = ['auth', 'can-i', '--list', `--as=${account}`, '-n', 'muster-system'];
      const { stdout } = await cluster.kubectl(args);
      const lines = stdout
        .split('\n')
        .slice(1)
        .filter((line) => line.trim() !== '');
      return lines.map((line) => line.replaceAll(/\s+/g, ' '));
    };
    const anybodys = await rightsOf('system:serviceaccount:muster-system:other');
    const granted = (await rightsOf(MUSTER_USER)).filter((line) => !anybodys.includes(line));
    expect(granted.sort()).toEqual([
      'compositepodgroups.scheduling.k8s.io [] [] [get list watch create patch delete]',
      'events.events.k8s.io [] [] [create patch]',
      'jobs.batch [] [] [list watch]',
      'leases.coordination.k8s.io [] [] [create]',
      'leases.coordination.k8s.io [] [muster-leader-election] [get update]',
      'namespaces [] [] [list watch]',
      'podgangs.scheduler.grove.io [] [] [get list watch patch create delete]',
      'podgangs.scheduler.grove.io/finalizers [] [] [update]',
      'podgangs.scheduler.grove.io/status [] [] [patch]',
      'podgroups.scheduling.k8s.io [] [] [get list watch create patch delete]',
      'pods [] [] [list watch patch]',
      'priorityclasses.scheduling.k8s.io [] [] [list watch]',
      'replicasets.apps [] [] [list watch]',
      'schedulerbackends.muster.dev [] [] [get list create]',
      'schedulerbackends.muster.dev/status [] [] [patch]',
      'statefulsets.apps [] [] [list watch]',
      'workloads.scheduling.k8s.io [] [] [get list watch create patch delete]',
    ]);

    await cluster.client.ok('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings', {
      metadata: { name: 'eve-edits' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
    });
    await until('the role edit has PodGangs in it', () => may('eve', [], 'create', 'podgangs'));
    for (const verb of ['get', 'list', 'watch', 'update', 'patch', 'delete']) {
      expect({ verb, may: await may('eve', [], verb, 'podgangs') }).toEqual({ verb, may: true });
    }
    for (const verb of ['update', 'patch']) {
      expect({ verb, may: await may('eve', [], verb, 'podgangs', 'status') }).toEqual({ verb, may: false });
    }
  });

  test('ordinary and system Pods, bindings, status and Deployments do not notice that Muster is down', async () => {
    const { client } = cluster;
    const plain = podOf({ app: 'plain' });
    expect((await client.request('POST', PODS, plain)).status).toBe(201);
    const system = podOf(GANG, { nodeName: 'n1' });
    expect((await client.request('POST', '/api/v1/namespaces/kube-system/pods', system)).status).toBe(201);
    const status = { status: { phase: 'Running' } };
    expect((await client.request('PATCH', `${PODS}/${plain.metadata.name}/status`, status)).status).toBe(200);
    const binding = { metadata: { name: plain.metadata.name }, target: { kind: 'Node', name: 'n1' } };
    expect((await client.request('POST', `${PODS}/${plain.metadata.name}/binding`, binding)).status).toBe(
      201,
    );
    await client.ok('POST', '/apis/apps/v1/namespaces/a/deployments', deployment('web', {}));
    await until('the Pods of an ordinary Deployment exist', async () => (await podsOf('web')).length === 2);
  });

  const deployment = (name: string, labels: Record<string, string>) => ({
    metadata: { name },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name, ...labels } },
        spec: { containers: [{ name: 'c', image: 'registry.example/c' }] },
      },
    },
  });
  const podsOf = async (app: string): Promise<unknown[]> =>
    (await cluster.client.ok<{ items: unknown[] }>('GET', `${PODS}?labelSelector=app=${app}`)).items;

  test('gang Pods are refused, saying which webhook did not answer; their Deployment says so too', async () => {
    const answer = await cluster.client.request<Answer>('POST', PODS, podOf(GANG));
    expect(answer.status).toBe(500);
    expect(answer.body.message).toContain('failed calling webhook "pods.muster.dev"');
    expect(answer.body.message).toContain('no endpoints available for service "muster"');
    await cluster.client.ok('POST', '/apis/apps/v1/namespaces/a/deployments', deployment('gang', GANG));
    const told = await until('the Deployment says why it has no Pods', async () => {
      const found = await cluster.client.ok<{ status: { conditions?: { type: string; message: string }[] } }>(
        'GET',
        '/apis/apps/v1/namespaces/a/deployments/gang',
      );
      return found.status.conditions?.find(({ type }) => type === 'ReplicaFailure')?.message;
    });
    expect(told).toContain('failed calling webhook "pods.muster.dev"');
    expect(await podsOf('gang')).toEqual([]);
  }, 60_000);

  test('a mirror Pod of a gang is shown by its node', async () => {
    const mirror = podOf(GANG, { nodeName: 'n1' }, { [ANNOTATION_MIRROR_POD]: 'x' });
    const sent = await cluster.client.request('POST', PODS, mirror, {
      as: 'system:node:n1',
      asGroups: ['system:nodes', 'system:masters'],
    });
    expect(sent.status).toBe(201);
  });

  test('a gang that exists keeps its heartbeats, metadata and its right to be deleted', async () => {
    const { client } = cluster;
    const name = await gangPodFromBefore();
    const path = `${PODS}/${name}`;
    const beat = {
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    };
    expect((await client.request('PATCH', `${path}/status`, beat)).status).toBe(200);
    const annotated = { metadata: { annotations: { note: 'x' }, finalizers: ['example.com/hold'] } };
    expect((await client.request('PATCH', path, annotated)).status).toBe(200);

    // What Muster would have to judge waits for it; its own account lifts gates without asking itself.
    const relabel = await client.request<Answer>('PATCH', path, { metadata: { labels: { team: 'x' } } });
    expect(relabel.body.message).toContain('failed calling webhook "pods.muster.dev"');
    const ungate = [
      { op: 'test', path: '/spec/schedulingGates/0/name', value: GATE },
      { op: 'remove', path: '/spec/schedulingGates/0' },
    ];
    const asMuster = { as: MUSTER_USER, asGroups: ['system:masters'] };
    expect((await client.request('PATCH', path, ungate, asMuster)).status).toBe(200);

    expect((await client.request('DELETE', path, { gracePeriodSeconds: 0 })).status).toBe(200);
    expect((await client.request('PATCH', path, { metadata: { finalizers: null } })).status).toBe(200);
    await until('the Pod is gone', async () => (await client.request('GET', path)).status === 404);
  }, 60_000);

  /** A gated gang Pod, made while the webhooks were out of the way: the break-glass of docs/manifests.md. */
  async function gangPodFromBefore(): Promise<string> {
    await kubectl('delete', 'mutatingwebhookconfiguration,validatingwebhookconfiguration', 'muster');
    const pod = await until('the webhooks are out of the way', async () => {
      const sent = await cluster.client.request<Answer>('POST', PODS, podOf(GANG));
      return sent.status === 201 ? sent.body : undefined;
    });
    expect(pod.spec.schedulingGates).toEqual([{ name: GATE }]);
    await kubectl('apply', '-k', OVERLAY);
    await until('the webhooks are back', async () => {
      const sent = await cluster.client.request<Answer>('POST', PODS, podOf(GANG), {
        query: { dryRun: 'All' },
      });
      return sent.body.message?.includes('pods.muster.dev');
    });
    return pod.metadata.name;
  }

  test('a PodGang waits for Muster with its spec and status, not with its metadata and its end', async () => {
    const { client } = cluster;
    const path = `${GANGS}/${before}`;
    const change = { spec: { priorityClassName: 'high' } };
    expect((await client.request<Answer>('PATCH', path, change)).body.message).toContain(
      '"podgangs.muster.dev"',
    );
    const status = { status: { phase: 'Running' } };
    const written = await client.request<Answer>('PATCH', `${path}/status`, status);
    expect(written.body.message).toContain('"podgangs.muster.dev"');

    const metadata = { annotations: { note: 'x' }, finalizers: ['example.com/hold'] };
    expect((await client.request('PATCH', path, { metadata })).status).toBe(200);
    expect((await client.request('DELETE', path)).status).toBe(200);
    expect((await client.request('PATCH', path, { metadata: { finalizers: null } })).status).toBe(200);
    expect((await client.request('GET', path)).status).toBe(404);
  }, 60_000);
});

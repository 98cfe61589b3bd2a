import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { binding, cluster, rooms } from '../../fleet/assign/small-fleet.ts';
import { muster } from '../fake-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'assign-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const file = (...items: unknown[]): string => {
  files += 1;
  const path = join(folder, `${files}.json`);
  writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  return path;
};
const least = { annotations: { 'muster.dev/min-available': '8' } };
const job = binding({ replicas: 12, placement: {} }, least);
const assign = (objects: readonly unknown[], ...flags: string[]) =>
  muster(['assign', '-f', file(...objects), ...flags]);

describe('muster assign', () => {
  test('where it goes, and what speaks against the others', async () => {
    const tainted = cluster(
      'm4',
      { cpu: 99, pods: 99 },
      { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } },
    );
    const { code, out } = await assign([job, ...rooms(6, 8, 1), tainted], '--strategy', 'gang-divided');
    expect(code).toBe(0);
    expect(out).toBe(`ml/job (gang-divided) goes to 2 clusters

CLUSTER  REPLICAS  COMPONENTS
m1       5         -
m2       7         -

LEFT OUT  WHY
m3        is not needed: it has room for 1 replica
m4        cluster(s) had untolerated taint {k:NoExecute}
`);
  });

  test('from a folder, from standard input, from a list: the same', async () => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [job, ...rooms(6, 8)] });
    const several = mkdtempSync(join(folder, 'several-'));
    writeFileSync(
      join(several, 'clusters.yaml'),
      rooms(6, 8)
        .map((one) => JSON.stringify(one))
        .join('\n---\n'),
    );
    writeFileSync(join(several, 'job.json'), JSON.stringify(job));
    const flags = ['--strategy', 'gang-divided', '-o', 'json'];
    const piped = await muster(['assign', '-f', '-', ...flags], { stdin: list });
    expect(JSON.parse(piped.out)).toMatchObject({ strategy: 'gang-divided', reason: 'Success' });
    expect(await muster(['assign', '-f', several, ...flags])).toEqual(piped);
    expect(await assign([job, ...rooms(6, 8)], ...flags)).toEqual(piped);
  });

  test('it goes nowhere', async () => {
    const { code, out } = await assign([job, ...rooms(3, 4)], '--strategy', 'gang-divided');
    expect(code).toBe(1);
    expect(out)
      .toBe(`ml/job (gang-divided) goes nowhere: failed to assign replicas: no available scheduling results: the clusters hold 7 replicas together, of which 8 are needed at least (Unschedulable)

LEFT OUT  WHY
m1        is not enough: it has room for 3 replicas
m2        is not enough: it has room for 4 replicas
`);
  });

  test('components, a group of affinities, as JSON; several bindings are a list', async () => {
    const components = ['a', 'b'].map((name) => ({
      name,
      replicas: 2,
      replicaRequirements: { resourceRequest: { cpu: '1' } },
    }));
    const groups = { clusterAffinities: [{ affinityName: 'near', clusterNames: ['m1'] }] };
    const multi = binding(
      { replicaRequirements: null, components, placement: groups },
      { annotations: { 'muster.dev/min-available': 'a=1,b=1' } },
    );
    const { code, out } = await assign([multi, ...rooms(3)], '--strategy', 'gang-divided', '-o', 'json');
    expect(code).toBe(0);
    const one = {
      binding: 'ml/job',
      strategy: 'gang-divided',
      affinityName: 'near',
      clusters: [
        {
          name: 'm1',
          replicas: 0,
          components: [
            { name: 'a', replicas: 2 },
            { name: 'b', replicas: 2 },
          ],
        },
      ],
      reason: 'Success',
      message:
        'Binding has been scheduled successfully. Cluster "m1" had room for a 2, b 1 and not for all (a 2, b 2); Karmada sends several templates whole, and the rest waits there.',
      leftOut: [],
    };
    expect(JSON.parse(out)).toEqual(one);
    const other = { ...multi, metadata: { name: 'another', namespace: 'ml' } };
    const two = await assign([multi, other, ...rooms(9)], '-o', 'json');
    expect((JSON.parse(two.out) as { binding: string }[]).map(({ binding: key }) => key)).toEqual([
      'ml/another',
      'ml/job',
    ]);
    const text = await assign([multi, ...rooms(3)], '--strategy', 'gang-divided');
    expect(text.out).toContain('ml/job (gang-divided, group near) goes to 1 cluster\n');
    expect(text.out).toContain('m1       4         a 2, b 2\n');
    expect(text.out).toContain(
      '\nCluster "m1" had room for a 2, b 1 and not for all (a 2, b 2); Karmada sends several templates whole, and the rest waits there.\n',
    );
  });

  test('of a cluster without room it says what that lacks', async () => {
    const requests = { cpu: '2', memory: '4Gi', 'nvidia.com/gpu': '8' };
    const components = ['a', 'b'].map((name) => ({
      name,
      replicas: 2,
      replicaRequirements: { resourceRequest: requests },
    }));
    const multi = binding(
      { replicaRequirements: null, components, placement: {} },
      { annotations: { 'muster.dev/min-available': 'a=1,b=1' } },
    );
    const all = { cpu: 99, memory: '99Gi', pods: 99, 'nvidia.com/gpu': 99 };
    const models = (resource: string, counts: readonly number[]) => ({
      spec: {
        resourceModels: counts.map((_, grade) => ({
          grade,
          ranges: [{ name: resource, min: '1', max: '3' }],
        })),
      },
      status: {
        resourceSummary: {
          allocatable: all,
          allocatableModelings: counts.map((count, grade) => ({ grade, count })),
        },
      },
    });
    const clusters = [
      cluster('few', { ...all, memory: '7Gi', 'nvidia.com/gpu': 12 }),
      cluster('full', { ...all, pods: 1 }),
      cluster('new', {}, { status: { resourceSummary: null } }),
      cluster('small', {}, models('cpu', [40])),
      cluster('three', { ...all, pods: 7 }),
    ];
    const { code, out } = await assign([multi, ...clusters], '--strategy', 'gang-divided');
    expect(code).toBe(0);
    expect(out.slice(out.indexOf('LEFT OUT'))).toBe(`LEFT OUT  WHY
few       has no room: 8Gi memory needed, 7Gi free; 16 nvidia.com/gpu needed, 12 free
full      has no room: 2 pods needed, 1 free
new       has no room: its status does not say what it has (status.resourceSummary)
small     has no room: it has as much in all, but by its resourceModels not on its nodes
`);
    const single = binding({
      replicas: 4,
      replicaRequirements: { resourceRequest: requests },
      placement: {},
    });
    const divided = binding({
      replicas: 4,
      replicaRequirements: { resourceRequest: requests },
      placement: {
        replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' },
      },
    });
    const one = await assign([single, ...clusters.slice(0, 2)], '--strategy', 'gang-no-divided');
    expect(one.out).toContain('few       is not enough: it has room for 1 replica\n');
    const karmada = await assign([divided, cluster('gpus', {}, models('cpu', [4]))]);
    expect(karmada.out).toContain(
      'gpus      has no room: its resourceModels name no memory, nvidia.com/gpu\n',
    );
  });

  test('of a workload of several templates it says what it counts', async () => {
    const components = ['a', 'b'].map((name) => ({ name, replicas: 1 }));
    const whole = { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] };
    const sets = binding({ replicaRequirements: null, components, placement: whole });
    const { out } = await assign([sets, cluster('m1', { pods: 9 }), cluster('m2', { pods: 2 })]);
    expect(out).toContain('m2        is not needed: it has room for 1 set of all templates\n');
    const gang = await assign([sets, ...rooms(9, 8)], '--strategy', 'gang-divided');
    expect(gang.out).toContain('is not needed: it has room for 50000 sets of the least of each template\n');
  });

  test('what has no Pods is not said to lack room', async () => {
    const map = binding({
      replicaRequirements: null,
      placement: { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] },
    });
    const { out } = await assign([map, ...rooms(1, 1)]);
    expect(out).toContain('m2        is not needed\n');
  });

  test('names the strategies where it knows none of that name', async () => {
    const { code, out } = await assign([job, ...rooms(1)], '--strategy', 'gang');
    expect([code, out]).toEqual([
      1,
      'ml/job (gang) goes nowhere: unknown strategy "gang": there are default, gang-divided, gang-no-divided (SchedulerError)\n',
    ]);
  });

  test('refuses what it cannot count with, naming object and field', async () => {
    const odd = binding({ replicas: -2, placement: {} });
    const { code, err } = await assign([odd, cluster('m1', { cpu: 'much' })]);
    expect(code).toBe(2);
    expect(err).toContain(
      'Cluster m1: status.resourceSummary.allocatable.cpu: "much" is no quantity; write it as 500m, 2 or 12Gi\n',
    );
    expect(err).toContain(
      'ResourceBinding ml/job: spec.replicas: -2 must be from 0 to 2147483647; correct the workload\n',
    );
    expect(err).toContain('correct these objects; nothing is assigned from what cannot be counted');
  });

  test('asks for a binding where there is none', async () => {
    const { code, err } = await assign(rooms(1));
    expect(code).toBe(2);
    expect(err).toContain('there is no ResourceBinding in the input');
    expect(err).toContain('kubectl get resourcebinding NAME -n NAMESPACE -o yaml > binding.yaml');
  });

  test('a file that is none', async () => {
    const { code, err } = await muster(['assign', '-f', join(folder, 'none.yaml')]);
    expect(code).toBe(2);
    expect(err).toContain('none.yaml');
  });
});

describe('with strategies of modules', () => {
  const config = (plugin: object): string => {
    const path = join(folder, `config-${(files += 1)}.json`);
    const fleet = { assigner: { plugins: [{ name: 'prices', ...plugin }] } };
    writeFileSync(
      path,
      JSON.stringify({
        apiVersion: 'operator.config.grove.io/v1alpha1',
        kind: 'OperatorConfiguration',
        fleet,
      }),
    );
    return path;
  };
  const module = resolve('docs/examples/cheapest-strategies.ts');

  test('they run in a process of their own, with their config', async () => {
    const prices = { m1: 3, m2: 1, m3: 2 };
    const flags = ['--config', config({ module, config: { prices } }), '--strategy', 'cheapest-first'];
    const { code, out } = await assign([job, ...rooms(6, 8, 10)], ...flags, '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({
      strategy: 'cheapest-first',
      clusters: [
        { name: 'm2', replicas: 8 },
        { name: 'm3', replicas: 4 },
      ],
      reason: 'Success',
    });
    expect(code).toBe(0);
  });

  test('one that does not load: who names it is told why', async () => {
    const flags = ['--config', config({ module, config: { price: 1 } }), '--strategy', 'cheapest-first'];
    const { code, out } = await assign([job, ...rooms(6)], ...flags);
    expect(code).toBe(1);
    expect(out).toContain(
      'unknown strategy "cheapest-first": there are default, gang-divided, gang-no-divided; plugin prices does not run: config.price is not known; write prices (SchedulerError)',
    );
  });

  test('what it writes comes on standard error', async () => {
    writeFileSync(
      join(folder, 'talks.mjs'),
      `console.log('hello'); export default { name: 'prices', strategies: () => ['mine'], assignReplica: () => [] };`,
    );
    const { code, out, err } = await assign(
      [job, ...rooms(12)],
      '--config',
      config({ module: './talks.mjs' }),
      '--strategy',
      'mine',
    );
    const why =
      'strategy "mine" of plugin prices gives no cluster anything (available: m1 12) (Unschedulable)';
    expect({ code, out, err }).toEqual({
      code: 1,
      out: expect.stringContaining(why),
      err: 'plugin prices: hello\n',
    });
  });
});

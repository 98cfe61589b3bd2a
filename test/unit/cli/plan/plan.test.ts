import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { JsonObject } from '../../../../src/json/json.ts';
import { anonymizer } from '../../../../src/cli/snapshot/anonymous.ts';
import { VARIANTS } from '../../../../src/preemption/variants.ts';
import { trimmed } from '../../../../src/preemption/read/trim.ts';
import { budget, node, pod, podGang, podGroup, priorityClass } from '../../preemption/small-cluster.ts';
import { muster } from '../fake-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const file = (...objects: unknown[]): string => {
  files += 1;
  const path = join(folder, `${files}.json`);
  writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  return path;
};

const high = priorityClass('high', 100);
const gang = podGang('new', { className: 'high', groups: { worker: 2 } });
const workers = ['w-0', 'w-1'].map((name) =>
  pod({ name, cpu: 2, gang: 'new', spec: { priorityClassName: 'high' } }),
);
const old = (name: string, on: string, more: object = {}) =>
  pod({ name, on, cpu: 2, prio: 10, gang: 'old', labels: { app: 'old' }, ...more });
const cluster: JsonObject[] = [
  node('n1', 2),
  node('n2', 2),
  node('n3', 4, {}, { spec: { unschedulable: true } }),
  high,
  priorityClass('low', 10),
  podGang('old', { className: 'low', mode: 'PodGroup' }),
  old('o-0', 'n1'),
  old('o-1', 'n2'),
  budget('old', 0),
];

const plan = (wanted: readonly unknown[], inside: readonly unknown[], ...flags: string[]) =>
  muster(['plan', '-f', file(...wanted), '--snapshot', file(...inside), ...flags]);

const AWAY_FROM_TRAIN: JsonObject = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'host', labelSelector: { matchLabels: { app: 'train' } } },
      ],
    },
  },
};

describe('muster plan', () => {
  test('names that a snapshot has, whatever they are, reach the terminal as text', async () => {
    const { code, out } = await plan([pod({ name: '\u001b[2Jp', cpu: 1 })], [node('\u202en\n1', 4)]);
    expect(code).toBe(0);
    expect(out).toBe(`Pod ns/\\u{1b}[2Jp (priority 0) fits as it is

POD            NODE
ns/\\u{1b}[2Jp  \\u{202e}n\\u{a}1
`);
  });

  test('fits as it is', async () => {
    const { code, out } = await plan([gang, ...workers], [node('n1', 4), high]);
    expect(code).toBe(0);
    expect(out).toBe(`gang ns/new (priority 100) fits as it is

POD     NODE
ns/w-0  n1
ns/w-1  n1
`);
  });

  test('Pods of the namespaces that the configuration exempts stay, as they do where Muster evicts', async () => {
    const inside = [node('n1', 2), high, pod({ namespace: 'team', name: 'a', on: 'n1', cpu: 2, prio: 10 })];
    const alone = pod({ name: 'alone', cpu: 2, spec: { priorityClassName: 'high' } });
    const asked = [podGang('new', { className: 'high', groups: { worker: 1 } }), workers[0]];
    expect((await plan(asked, inside)).out).toContain('Pod team/a');
    const config = join(folder, 'config.yaml');
    const head = 'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n';
    writeFileSync(config, `${head}preemption: { exemptNamespaces: [team] }\n`);
    const spared = await plan(asked, inside, '--config', config);
    expect({ ...spared, out: '' }).toEqual({ code: 1, out: '', err: '' });
    expect(spared.out).not.toContain('team/a');
    // What a scheduler takes it takes wherever it is.
    const scheduler = await plan([alone], inside, '--config', config, '--variant', 'kube-1.36');
    expect(scheduler.code).toBe(4);
  });

  test('fits if one unit makes room: who, why, and what it breaks', async () => {
    const { code, out } = await plan([gang, ...workers], cluster);
    expect(code).toBe(4);
    expect(out)
      .toBe(`gang ns/new (priority 100) would fit if 2 Pods of gang ns/old (priority 10) made room; nothing else is touched

VICTIM          PRIORITY  PODS  AGE  PDB     NODES  WHY
PodGang ns/old  10        2     -    broken  n1,n2  with it in place ns/w-0 does not fit on n1: Insufficient cpu

POD     NODE
ns/w-0  n1
ns/w-1  n2
`);
  });

  test('does not fit: which predicate rejects which node, what is short, what would fit', async () => {
    const inside = [node('n1', 2), node('n2', 1), high, priorityClass('low', 10)];
    const { code, out } = await plan([gang, ...workers], inside, '--priority-class', 'low');
    expect(code).toBe(1);
    expect(out)
      .toBe(`gang ns/new (priority 10) does not fit, and nothing that runs has a priority below 10: 0/2 nodes are available: 2 Insufficient cpu; short of 1 cpu
the largest gang of this shape that fits now: worker 1

NODE  PREDICATE         WHY
n1    NodeResourcesFit  Insufficient cpu
n2    NodeResourcesFit  Insufficient cpu
`);
  });

  const gpus = (name: string, count: number, more: object = {}) =>
    pod({ name, ask: { 'nvidia.com/gpu': String(count) }, gang: 'new', prio: 100, ...more });
  const eights = ['n1', 'n2'].map((name) => node(name, 8, { 'nvidia.com/gpu': '8' }));
  const low = old('o-0', 'n1', { cpu: 8 });
  const packed = {
    ...gang,
    spec: {
      ...(gang['spec'] as JsonObject),
      topologyConstraint: { packConstraint: { required: 'kubernetes.io/hostname' } },
    },
  };
  const refusedBy = 'gang ns/new (priority 100) does not fit, and ';
  const TOO_LARGE = `${refusedBy}no node is large enough for a Pod of group worker that asks for 16 nvidia.com/gpu`;
  const INSUFFICIENT = '0/2 nodes are available: 2 Insufficient nvidia.com/gpu';
  test.each<[string, readonly unknown[], readonly unknown[], string]>([
    [
      'one Pod asks for more than any node has: more nodes of that size would not help',
      [gang, gpus('w-0', 16), gpus('w-1', 16)],
      eights,
      `${TOO_LARGE}: the largest that it may use, n1, has 8: ${INSUFFICIENT}`,
    ],
    [
      'the same with somebody below it',
      [gang, gpus('w-0', 16), gpus('w-1', 16)],
      [...eights, low],
      `${TOO_LARGE}: the largest that it may use, n1, has 8: ${INSUFFICIENT}`,
    ],
    [
      'of nodes that it may not use nothing is said',
      [gang, gpus('w-0', 16), gpus('w-1', 16)],
      [...eights, node('n3', 8, { 'nvidia.com/gpu': '16' }, { spec: { unschedulable: true } })],
      `${TOO_LARGE}: the largest that it may use, n1, has 8: 0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient nvidia.com/gpu`,
    ],
    [
      'no node has any',
      [gang, gpus('w-0', 16), gpus('w-1', 16)],
      [node('n1', 8), node('n2', 8)],
      `${TOO_LARGE}: none that it may use has any: ${INSUFFICIENT}`,
    ],
    [
      'in a domain',
      [packed, gpus('w-0', 16), gpus('w-1', 16)],
      ['n1', 'n2'].map((name) =>
        node(name, 8, { 'nvidia.com/gpu': '8' }, { labels: { 'kubernetes.io/hostname': name } }),
      ),
      `${TOO_LARGE}: the largest that it may use, n1, has 8: 0/2 nodes are available: 2 node(s) in a domain of kubernetes.io/hostname without room for the whole gang`,
    ],
    [
      'a Pod alone',
      [gpus('w', 16, { gang: undefined })],
      eights,
      `Pod ns/w (priority 100) does not fit, and no node is large enough for a Pod that asks for 16 nvidia.com/gpu: the largest that it may use, n1, has 8: ${INSUFFICIENT}`,
    ],
    [
      'each Pod has a node that is large enough: all of it is short',
      [gang, gpus('w-0', 8), gpus('w-1', 8)],
      eights.slice(0, 1),
      `${refusedBy}nothing that runs has a priority below 100: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu; short of 8 nvidia.com/gpu`,
    ],
    [
      'a label of another group',
      [gang, gpus('w-0', 8, { group: 'wroker' }), gpus('w-1', 8, { group: 'wroker' })],
      [...eights, low],
      `${refusedBy}of 2 Pods that group worker still needs 0 wait for a node`,
    ],
  ])('why it does not fit: %s', async (_, wanted, inside, told) => {
    const { code, out } = await plan(wanted, [...inside, high]);
    expect([code, out.split('\n')[0]]).toEqual([1, told]);
  });

  test("a larger Pod that its group does not need is in nobody's way", async () => {
    const wanted = [gang, gpus('w-0', 16), gpus('w-1', 8), gpus('w-2', 8)];
    const { out } = await plan(wanted, [...eights, high]);
    expect(out).not.toContain('large enough');
  });

  test('units that may stay are counted, and shown on demand', async () => {
    const spare = pod({ name: 'spare', on: 'n4', cpu: 1, prio: 5 });
    const inside = [...cluster, node('n4', 1), spare];
    const { out } = await plan([gang, ...workers], inside);
    expect(out).toContain('\n1 unit below it may stay (--reprieved shows them)\n');
    const { out: shown } = await plan([gang, ...workers], inside, '--reprieved');
    expect(shown).toContain('MAY STAY      PRIORITY  PODS  AGE  PDB   NODES  WHY\nPod ns/spare  5  ');
  });

  test('Pods on their way out are waited for', async () => {
    const inside = [node('n1', 4), high, old('o-0', 'n1', { leaving: true })];
    const { code, out } = await plan([gang, ...workers], inside);
    expect(code).toBe(4);
    expect(out).toContain('fits once 1 Pod on the way out is gone; nothing else is touched');
  });

  test('a Pod alone, and one victim by its name', async () => {
    const inside = [node('n1', 2), old('o-0', 'n1')];
    const { code, out } = await plan([pod({ name: 'w', cpu: 1, prio: 100 })], inside);
    expect(code).toBe(4);
    expect(out).toContain(
      'Pod ns/w (priority 100) would fit if 1 Pod (ns/o-0, priority 10) made room; nothing else is touched\n',
    );
  });

  test('Pods alone: the gang is made of their labels, and all of it has to start', async () => {
    const { code, out } = await plan(workers, [node('n1', 2), node('n2', 2), high, old('o-0', 'n1')]);
    expect(code).toBe(4);
    expect(out).toContain(
      'gang ns/new (priority 100) would fit if 1 Pod (ns/o-0, priority 10) made room; nothing else is touched\n',
    );
  });

  test.each(VARIANTS)(
    '%s: a PodGroup of Kubernetes with its Pods, and its own topology constraint',
    async (variant) => {
      const label = 'acme.example/rack';
      const made = podGroup('train', { prio: 100, min: 2 });
      const group = {
        ...made,
        spec: { ...(made['spec'] as JsonObject), schedulingConstraints: { topology: [{ key: label }] } },
      };
      const pods = ['t-0', 't-1'].map((name) => pod({ name, cpu: 2, prio: 100, podGroup: 'train' }));
      const racks = ['a', 'b', 'b'].map((rack, at) => node(`n${at}`, 2, {}, { labels: { [label]: rack } }));
      const fits = await plan([group, ...pods], racks, '--variant', variant);
      expect(fits.out).toBe(`gang ns/train (priority 100) fits as it is

TOGETHER        LABEL              DOMAIN  ASKED
the whole gang  acme.example/rack  b       required

POD     NODE
ns/t-0  n1
ns/t-1  n2
`);
      const full = await plan([group, ...pods], [...racks, old('o-0', 'n1')], '--variant', variant);
      expect([full.code, full.out.split('\n')[0]]).toEqual(
        variant !== 'kube-1.36'
          ? [
              4,
              'gang ns/train (priority 100) would fit if 1 Pod (ns/o-0, priority 10) made room; nothing else is touched',
            ]
          : [
              1,
              'gang ns/train (priority 100) does not fit, and kube-scheduler 1.36 preempts for no gang with a topology constraint: 0/3 nodes are available: 3 node(s) in a domain of acme.example/rack without room for the whole gang',
            ],
      );
    },
  );

  test('on a terminal a long line goes on below: that of a reason under the reason', async () => {
    const args = ['plan', '-f', file(gang, ...workers), '--snapshot', file(...cluster)];
    const { out } = await muster(args, { columns: 80 });
    expect(out).toBe(`gang ns/new (priority 100) would fit if 2 Pods of gang ns/old (priority 10) made
  room; nothing else is touched

VICTIM          PRIORITY  PODS  AGE  PDB     NODES  WHY
PodGang ns/old  10        2     -    broken  n1,n2  with it in place ns/w-0 does
                                                      not fit on n1:
                                                      Insufficient cpu

POD     NODE
ns/w-0  n1
ns/w-1  n2
`);
    const short = await muster(
      ['plan', '-f', file(gang, ...workers), '--snapshot', file(node('n1', 1), high)],
      {
        columns: 60,
      },
    );
    expect(Math.max(...short.out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(60);
  });

  test('for programs', async () => {
    const { code, out } = await plan([gang, ...workers], cluster, '-o', 'json');
    expect(code).toBe(4);
    expect(JSON.parse(out)).toEqual({
      variant: 'kep',
      fits: false,
      feasible: true,
      placement: { 'ns/w-0': 'n1', 'ns/w-1': 'n2' },
      victims: [
        {
          unit: 'PodGang',
          namespace: 'ns',
          name: 'old',
          priority: 10,
          pods: ['ns/o-0', 'ns/o-1'],
          violatesPDB: true,
          why: 'with it in place ns/w-0 does not fit on n1: Insufficient cpu',
        },
      ],
      reprieved: [],
      awaited: [],
      rejected: [],
      shortfall: {},
    });
    const short = await plan([gang, ...workers], [node('n1', 3), high], '-o', 'json');
    expect(JSON.parse(short.out)).toMatchObject({
      feasible: false,
      rejected: [{ node: 'n1', predicate: 'NodeResourcesFit', message: 'Insufficient cpu' }],
      shortfall: { cpu: '1' },
      refusal: 'nothing that runs has a priority below 100',
      largest: { worker: 1 },
    });
  });

  test('which domain was chosen for whom, and which wish was not kept', async () => {
    const label = 'acme.example/rack';
    const nodes = ['a', 'b', 'b'].map((rack, index) =>
      node(`n${index}`, 2, {}, { labels: { [label]: rack } }),
    );
    const spec = gang['spec'] as JsonObject & { readonly podgroups: readonly JsonObject[] };
    const packed = (pack: JsonObject) => ({
      ...gang,
      spec: {
        ...spec,
        topologyConstraint: { packConstraint: pack },
        podgroups: spec.podgroups.map((group) => ({
          ...group,
          topologyConstraint: { packConstraint: { preferred: 'kubernetes.io/hostname' } },
        })),
      },
    });
    const wanted = [packed({ required: label }), ...workers];
    const { code, out } = await plan(wanted, [...nodes, high]);
    expect(code).toBe(0);
    expect(out).toBe(`gang ns/new (priority 100) fits as it is

TOGETHER        LABEL                   DOMAIN  ASKED
the whole gang  acme.example/rack       b       required
group worker    kubernetes.io/hostname  -       preferred: not kept

POD     NODE
ns/w-0  n1
ns/w-1  n2
`);
    const json = await plan(wanted, [...nodes, high], '-o', 'json');
    expect(JSON.parse(json.out)).toMatchObject({
      domains: [
        { groups: null, key: label, domain: 'b', required: true },
        { groups: ['worker'], key: 'kubernetes.io/hostname', domain: null, required: false },
      ],
    });
    const none = await plan(wanted, [...nodes.slice(0, 1), node('bare', 9), high]);
    expect(none.code).toBe(1);
    expect(none.out).toContain(
      '0/2 nodes are available: 1 node(s) in a domain of acme.example/rack without room for the whole gang, 1 node(s) in no domain of acme.example/rack that the gang may use\n',
    );
  });

  test('a snapshot is any kubectl List, also of lists, of lists of one kind, and in a folder', async () => {
    const bare = ({ metadata, spec = null, status = null }: JsonObject) => ({ metadata, spec, status });
    const nodes = cluster.filter(({ kind }) => kind === 'Node').map(bare);
    const others = cluster.filter(({ kind }) => kind !== 'Node');
    const list = (kind: string, items: readonly unknown[]) => ({ apiVersion: 'v1', kind, items });
    const wanted = file(gang, ...workers);
    const usual = await muster(['plan', '-f', wanted, '--snapshot', file(...cluster), '-o', 'json']);
    const nested = file(list('NodeList', nodes), list('List', [list('List', others)]));
    expect(await muster(['plan', '-f', wanted, '--snapshot', nested, '-o', 'json'])).toEqual(usual);
    const parts = mkdtempSync(join(folder, 'parts-'));
    writeFileSync(join(parts, 'nodes.json'), JSON.stringify(list('NodeList', nodes)));
    writeFileSync(join(parts, 'rest.yaml'), others.map((one) => JSON.stringify(one)).join('\n---\n'));
    expect(await muster(['plan', '-f', wanted, '--snapshot', parts, '-o', 'json'])).toEqual(usual);
    const piped = JSON.stringify(list('List', cluster));
    const read = await muster(['plan', '-f', wanted, '--snapshot', '-', '-o', 'json'], { stdin: piped });
    expect(read).toEqual(usual);
    const torn = JSON.stringify(list('List', [...cluster, 7]));
    const refused = await muster(['plan', '-f', wanted, '--snapshot', '-'], { stdin: torn });
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain(
      `<stdin>: error: items[${cluster.length}]: a Kubernetes object is needed, found 7`,
    );
  });

  test('what kube-scheduler 1.36 would do: it knows no PodGang', async () => {
    const { out } = await plan([gang, ...workers], cluster, '--variant', 'kube-1.36');
    expect(out).toContain('would fit if 2 Pods of 2 units made room');
  });

  test('where there are native PodGroups it says which variant tells what their scheduler does', async () => {
    const of = (version: string, ...flags: string[]) =>
      plan(
        [gang, ...workers],
        [...cluster, { ...podGroup('other', { prio: 1 }), apiVersion: `scheduling.k8s.io/${version}` }],
        ...flags,
      );
    const told = (version: string, variant: string): string =>
      `warning: there are PodGroups of scheduling.k8s.io/${version}, for which kube-scheduler preempts by itself: --variant ${variant} tells what it does\n`;
    for (const version of ['v1alpha3', 'v1beta1'])
      expect((await of(version)).err).toBe(told(version, 'kube-1.37'));
    expect((await of('v1alpha2')).err).toBe(told('v1alpha2', 'kube-1.36'));
    expect((await of('v1beta1', '--variant', 'kube-1.36')).err).toBe(told('v1beta1', 'kube-1.37'));
    expect((await of('v1beta1', '--variant', 'kube-1.37')).err).toBe('');
  });

  test('what kube-scheduler 1.37 would evict in vain is shown, and that nothing comes of it', async () => {
    const loner = pod({ name: 'loner', on: 'n', cpu: 1, prio: 20, spec: AWAY_FROM_TRAIN });
    const low = pod({ name: 'low', on: 'n', cpu: 1, prio: 10 });
    const host = node('n', 3, {}, { labels: { host: 'n' } });
    const labels = { app: 'train' };
    const wanting = pod({ name: 't-0', cpu: 2, prio: 100, podGroup: 'train', labels });
    const group = podGroup('train', { prio: 100, min: 1 });
    const { code, out } = await plan([group, wanting], [host, loner, low], '--variant', 'kube-1.37');
    expect(code).toBe(1);
    expect(out).toContain(
      "gang ns/train (priority 100) does not fit, and kube-scheduler 1.37 would evict 1 Pod in vain: with it in place ns/t-0 does not fit on n: node(s) didn't satisfy existing pods anti-affinity rules\n",
    );
    expect(out).toMatch(/^Pod +ns\/low .*10/m);
  });

  test('the Pods of a workload are made, and those of the cluster that wait are taken where none are given', async () => {
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'train', namespace: 'ns' },
      spec: {
        parallelism: 2,
        completions: 2,
        template: {
          metadata: { labels: { 'grove.io/podgang': 'new', 'grove.io/podclique': 'worker' } },
          spec: { priorityClassName: 'high', containers: [{ name: 'c', resources: { limits: { cpu: 2 } } }] },
        },
      },
    };
    const made = await plan([gang, job], [node('n1', 4), high]);
    expect(made.out).toContain('ns/train-0  n1\nns/train-1  n1\n');
    const waiting = await plan([gang], [node('n1', 4), high, ...workers]);
    expect(waiting.out).toContain('ns/w-0  n1\nns/w-1  n1\n');
  });
});

describe('what cannot be planned', () => {
  test.each<[string, unknown[], unknown[], string]>([
    [
      'no Pod',
      [gang],
      [node('n1', 4), high],
      'error[INPUT_UNREADABLE]: the PodGang has no Pod that waits for a node\nfix: give the Pods of the gang, or the workload that makes them, after -f as well\n',
    ],
    [
      'nothing',
      [high],
      [node('n1', 4)],
      'error[INPUT_UNREADABLE]: there is no Pod in it that waits for a node\nfix: give the Pods of the gang, or the workload that makes them, after -f as well\n',
    ],
    [
      'two gangs',
      [pod({ name: 'a', gang: 'x' }), pod({ name: 'b', gang: 'y' })],
      [node('n1', 4)],
      'error[INPUT_UNREADABLE]: room is planned for one gang or one Pod at a time; found ns/x, ns/y\nfix: give one of them after -f\n',
    ],
    [
      'no node',
      [pod({ name: 'a' })],
      [high],
      'error[SNAPSHOT_INVALID]: there is no Node in the snapshot\nfix: give one that holds the nodes: muster snapshot > cluster.json, or kubectl get nodes,pods -A -o json\n',
    ],
    [
      'no node, nor the class of the gang',
      [gang, ...workers],
      [],
      'error[SNAPSHOT_INVALID]: there is no Node in the snapshot\n',
    ],
    [
      'no node but one with a Pod that cannot be counted',
      [pod({ name: 'a' })],
      [node('n1', 4), pod({ name: 'b', on: 'n1', cpu: '-1' })],
      'error[SNAPSHOT_INVALID]: Pod ns/b: spec.containers[0].resources.requests.cpu: "-1" must be from 0 to',
    ],
    [
      'amounts that are none',
      [pod({ name: 'a', cpu: 'x' })],
      [node('n1', 'y')],
      'error[SNAPSHOT_INVALID]: Node n1: status.allocatable.cpu: "y" is no quantity; write it as 500m, 2 or 12Gi\n',
    ],
  ])('%s', async (_, wanted, inside, told) => {
    const { code, err } = await plan(wanted, inside);
    expect([code, err.replaceAll(/ +/g, ' ')]).toEqual([2, expect.stringContaining(told)]);
  });

  test('standard input for both', async () => {
    expect(await muster(['plan', '-f', '-', '--snapshot', '-'])).toEqual({
      code: 2,
      out: '',
      err: 'error[USAGE]: -f and --snapshot both ask for standard input, which can be read but once\nfix: give one of them as a file\n',
    });
  });

  test('an odd node is a warning', async () => {
    const bare = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } };
    const { code, err } = await plan([pod({ name: 'a' })], [node('n1', 4), bare]);
    expect([code, err]).toEqual([0, 'warning: node n2 has no status.allocatable: no Pod fits it\n']);
  });
});

describe('what is wrong with objects of others stops no plan', () => {
  const gone = podGang('old', { className: 'gone', mode: 'PodGroup' });
  const unknown =
    'PodGang ns/old: spec.priorityClassName: there is no PriorityClass "gone" among what was given; add it; until then its Pods are left alone here';
  const inside = (...more: JsonObject[]) => [node('n1', 2), node('n2', 2), high, ...more];
  test('a class that is gone: the Pods of the gang are left alone, as they are by what is carried out', async () => {
    const running = [old('o-0', 'n1'), old('o-1', 'n2', { prio: 20 })];
    const { code, out, err } = await plan([gang, ...workers], inside(gone, ...running), '-o', 'json');
    expect([code, err]).toEqual([1, `warning: ${unknown}\n`]);
    expect(JSON.parse(out)).toMatchObject({
      victims: [],
      refusal: 'nothing that runs below priority 100 may be touched',
      warnings: [unknown],
    });
  });

  test('of the gang that is asked about it is an error, given or stored', async () => {
    const ours = podGang('new', { className: 'gone', groups: { worker: 2 } });
    const told =
      'error[SNAPSHOT_INVALID]: PodGang ns/new: spec.priorityClassName: there is no PriorityClass "gone" among what was given; add it\nfix: correct these objects, or take the snapshot again: without them there is nothing to plan\n';
    expect(await plan([ours, ...workers], inside())).toEqual({ code: 2, out: '', err: told });
    expect(await plan(workers, inside(ours))).toEqual({ code: 2, out: '', err: told });
    // Who gives it corrected asks about that one.
    expect(await plan([gang, ...workers], inside(ours))).toMatchObject({ code: 0, err: '' });
    const group = { ...podGroup('g', { prio: 1 }), spec: { priority: 'high' } };
    const member = pod({ name: 'm', cpu: 1, prio: 1, podGroup: 'g' });
    const { code, err } = await plan([member], inside(group));
    expect(code).toBe(2);
    expect(err).toContain('PodGroup ns/g: spec.priority: "high" is no integer');
  });

  const selector = { matchExpressions: [{ key: 'a', operator: 'Near', values: [] }] };
  test.each<[string, JsonObject, string]>([
    [
      'a Pod: nobody knows what is left on its node',
      pod({ name: 'p', on: 'n1', cpu: 'lots', prio: 1 }),
      'Pod ns/p: spec.containers[0].resources.requests.cpu: "lots" is no quantity; write it as 500m, 2 or 12Gi; until then its node takes nobody here',
    ],
    [
      'a node',
      node('n1', 'many'),
      'Node n1: status.allocatable.cpu: "many" is no quantity; write it as 500m, 2 or 12Gi; until then it takes nobody here',
    ],
    [
      'a node of another version',
      { ...node('n1', 9), apiVersion: 'v2' },
      'Node n1: apiVersion: version v2 is not read; take the snapshot as v1; until then it takes nobody here',
    ],
    [
      'a budget',
      { ...budget('old', 0), spec: { selector } },
      'PodDisruptionBudget ns/old: spec.selector.matchExpressions[0].operator: "Near" must be In, NotIn, Exists or DoesNotExist; until then nobody of its namespace is touched here',
    ],
    [
      'a mode',
      podGang('g', { annotations: { 'muster.dev/disruption-mode': 'All' } }),
      'PodGang ns/g: metadata.annotations[muster.dev/disruption-mode]: "All" must be Pod or PodGroup; until then its Pods are left alone here',
    ],
    [
      'a PodGroup of another version',
      { apiVersion: 'scheduling.k8s.io/v9', kind: 'PodGroup', metadata: { name: 'g', namespace: 'ns' } },
      'PodGroup ns/g: apiVersion: version scheduling.k8s.io/v9 is not read; take the snapshot as one of scheduling.k8s.io/v1alpha2, scheduling.k8s.io/v1alpha3, scheduling.k8s.io/v1beta1, scheduling.k8s.io/v1; until then its Pods are left alone here',
    ],
    [
      'a class',
      { ...priorityClass('odd', 1), value: 'much' },
      'PriorityClass odd: value: "much" is no integer; until then it counts as not there',
    ],
  ])('%s', async (_, object, told) => {
    const one = pod({ name: 'w', cpu: 1, prio: 100 });
    const { code, out, err } = await plan([one], [node('n2', 2), object], '-o', 'json');
    expect([code, err]).toEqual([0, `warning: ${told}\n`]);
    expect(JSON.parse(out)).toMatchObject({ placement: { 'ns/w': 'n2' }, warnings: [told] });
  });

  test('a node with such a Pod is not used, whatever else it seems to have', async () => {
    const odd = pod({ name: 'p', on: 'n1', cpu: 'lots', prio: 1 });
    const { code, out } = await plan([gang, ...workers], inside(odd), '-o', 'json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ victims: [], largest: { worker: 1 } });
  });

  test('many are told of in a few lines, and none can speak to the terminal', async () => {
    const odd = Array.from({ length: 7 }, (_, at) => podGang(`g${at}`, { className: '\u001b[2J' }));
    const { code, err } = await plan([gang, ...workers], inside(...odd));
    const lines = err.trim().split('\n');
    expect([code, lines.length, err.includes('\u001b')]).toEqual([0, 6, false]);
    expect(lines[5]).toBe('warning: 2 more objects that cannot be counted with, treated alike');
  });

  test('a Pod that waits and is of another gang is nobody here', async () => {
    const waiting = pod({ name: 'other', cpu: 'lots', gang: 'other' });
    expect(await plan([gang, ...workers], inside(waiting))).toMatchObject({ code: 0, err: '' });
  });

  test('a PodGang that names no namespace finds its waiting Pods in the one of -n', async () => {
    const found = await plan([{ ...gang, metadata: { name: 'new' } }], inside(...workers), '-n', 'ns');
    expect(found).toMatchObject({ code: 0, err: '' });
  });
});

describe('a snapshot', () => {
  const full: JsonObject = pod({
    name: 'secretive',
    on: 'n1',
    cpu: 1,
    labels: { app: 'apollo', 'topology.kubernetes.io/zone': 'z1' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'registry/apollo',
          env: [{ name: 'TOKEN', value: 'x' }],
          resources: { requests: { cpu: '1' } },
        },
      ],
      volumes: [
        { name: 'v', ephemeral: { volumeClaimTemplate: {} } },
        { name: 's', secret: { secretName: 'token' } },
      ],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: 'acme.example/rank',
              labelSelector: {},
              mismatchLabelKeys: ['acme.example/tenant'],
            },
          ],
        },
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'acme.example/rank', operator: 'Gt', values: ['4'] }] },
            ],
          },
        },
      },
    },
  });

  test('has nothing but what decides', () => {
    const text = JSON.stringify(trimmed(full));
    for (const kept of ['secretive', 'apollo', '"cpu":"1"']) expect(text).toContain(kept);
    for (const gone of ['TOKEN', 'registry', 'token']) expect(text).not.toContain(gone);
  });

  test('anonymous: no name of anybody, the same hash for the same name, another salt another hash', () => {
    const hide = anonymizer(Buffer.from('salt'));
    const text = JSON.stringify([
      hide(trimmed(full)),
      hide(trimmed(node('n1', 2, {}, { labels: { 'acme.example/rank': '5' } }))),
    ]);
    for (const gone of ['secretive', 'apollo', '"ns"', 'n1', 'acme', 'z1']) expect(text).not.toContain(gone);
    for (const kept of ['topology.kubernetes.io/zone', '"cpu":"1"', '"Gt"', '"4"'])
      expect(text).toContain(kept);
    const [one, two] = JSON.parse(text) as { metadata: { name: string }; spec: { nodeName?: string } }[];
    expect(one?.spec.nodeName).toBe(two?.metadata.name);
    const other = anonymizer(Buffer.from('pepper'))(trimmed(full));
    expect(JSON.stringify(other)).not.toContain(String(one?.metadata.name));
  });

  test('anonymous or not, the plan is the same but for names', async () => {
    const hide = anonymizer();
    const all = [...cluster, gang, ...workers].map(trimmed);
    const shape = (text: string): unknown => {
      const { placement, victims, ...rest } = JSON.parse(text) as {
        placement: object;
        victims: { priority: number; pods: string[]; violatesPDB: boolean }[];
      };
      return {
        ...rest,
        placed: Object.keys(placement).length,
        victims: victims.map(({ priority, pods, violatesPDB }) => [priority, pods.length, violatesPDB]),
      };
    };
    const open = await plan([trimmed(gang)], all, '-o', 'json');
    const hidden = await plan([hide(trimmed(gang))], all.map(hide), '-o', 'json');
    expect(hidden.code).toBe(4);
    expect(shape(hidden.out)).toEqual(shape(open.out));
  });
});

describe('a workload whose Pods ask for a gang', () => {
  const T =
    '{metadata: {labels: {muster.dev/gang: "true"}}, spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}}';
  const workload = (title: string, spec: string): JsonObject => {
    const [apiVersion = '', kind = '', name = ''] = title.split(' ');
    const body = parse(`{${spec.replaceAll(/\bT\b/g, T)}}`) as JsonObject;
    return { apiVersion, kind, metadata: { name, namespace: 'ml' }, spec: body };
  };
  const replicas = (count: number, template = 'T'): string => `{replicas: ${count}, template: ${template}}`;
  const KINDS: readonly (readonly [string, string, string, string[]])[] = [
    ['batch/v1 Job j', 'parallelism: 3, template: T', 'job-j', ['main']],
    ['batch/v1 CronJob c', 'jobTemplate: {spec: {parallelism: 3, template: T}}', 'job-c-0', ['main']],
    [
      'apps/v1 StatefulSet s',
      'replicas: 3, podManagementPolicy: Parallel, template: T',
      'statefulset-s',
      ['main'],
    ],
    ['apps/v1 Deployment d', 'replicas: 3, template: T', 'replicaset-d-hash', ['main']],
    [
      'jobset.x-k8s.io/v1alpha2 JobSet s',
      'replicatedJobs: [{name: a, replicas: 1, template: {spec: {template: T}}}, {name: b, replicas: 2, template: {spec: {template: T}}}]',
      'jobset-s',
      ['a', 'b'],
    ],
    [
      'leaderworkerset.x-k8s.io/v1 LeaderWorkerSet l',
      'replicas: 2, startupPolicy: LeaderCreated, leaderWorkerTemplate: {size: 3, workerTemplate: T}',
      'lws-l--0',
      ['leader', 'worker'],
    ],
    [
      'kubeflow.org/v1 PyTorchJob p',
      `pytorchReplicaSpecs: {Master: ${replicas(1)}, Worker: ${replicas(2)}}`,
      'pytorchjob-p',
      ['master', 'worker'],
    ],
    [
      'batch.volcano.sh/v1alpha1 Job v',
      'tasks: [{name: a, replicas: 1, template: T}, {name: b, replicas: 2, template: T}]',
      'vcjob-v',
      ['a', 'b'],
    ],
    [
      'ray.io/v1 RayJob r',
      'rayClusterSpec: {headGroupSpec: {template: T}, workerGroupSpecs: [{groupName: gpu, replicas: 2, template: T}]}',
      'raycluster-r-hash',
      ['ray-head', 'gpu'],
    ],
  ];
  const three = [node('n1', 2), node('n2', 1)];

  test.each(KINDS)('%s is planned for as its gang', async (title, spec, gang) => {
    const given = workload(title, spec);
    const whole = await plan([given], three);
    expect([whole.err, whole.code]).toEqual(['', 0]);
    expect(whole.out).toContain(`gang ml/${gang} (priority 0) fits as it is\n`);
    expect(whole.out.match(/^ml\/\S+ +n\d$/gm)).toHaveLength(3);
    // All or none.
    const short = await plan([given], [node('n1', 2)]);
    expect([short.code, short.out]).toEqual([
      1,
      expect.stringContaining(`gang ml/${gang} (priority 0) does not fit`),
    ]);
  });

  test.each(KINDS)('%s as muster review writes it', async (title, spec, gang) => {
    const reviewed = await muster(['review', '-f', '-', '-o', 'yaml'], {
      stdin: JSON.stringify(workload(title, spec)),
    });
    expect(reviewed.code).toBe(0);
    const snapshot = file(...three);
    const found = await muster(['plan', '-f', '-', '--snapshot', snapshot], { stdin: reviewed.out });
    expect([found.err, found.code]).toEqual(['', 0]);
    expect(found.out).toContain(`gang ml/${gang} (priority 0) fits as it is\n`);
    expect(found.out.match(/^ml\/\S+ +n\d$/gm)).toHaveLength(3);
  });

  test('somebody’s own PodGang counts', async () => {
    const own = podGang('job-j', { groups: { main: 2 } });
    const moved = { ...own, metadata: { ...(own['metadata'] as JsonObject), namespace: 'ml' } };
    const { code, out } = await plan(
      [moved, workload('batch/v1 Job j', 'parallelism: 3, template: T')],
      [node('n1', 2)],
    );
    expect([code, out]).toEqual([0, expect.stringContaining('gang ml/job-j')]);
  });

  test('one that is refused is not planned for', async () => {
    const { code, err } = await plan([workload('apps/v1 StatefulSet s', 'replicas: 3, template: T')], three);
    expect(code).toBe(2);
    expect(err).toMatch(
      /^error\[INPUT_UNREADABLE\]: StatefulSet ml\/s: spec\.podManagementPolicy: .*\[PodsOneByOne\]\n/,
    );
    expect(err).toContain(
      'fix: correct the workload: as it stands it is refused, and there is no gang to plan for\n',
    );
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { notices } from '../../../../src/cli/gangs/notices.ts';
import { muster } from '../fake-io.ts';

const verbs = ['review', 'validate'] as const;

/** What is said of the whole: `line:column severity rule`. */
async function told(verb: string, stdin: string): Promise<string[]> {
  const { out } = await muster([verb, '-f', '-'], { stdin });
  return out
    .split('\n')
    .flatMap(
      (line) => /^<stdin>:(\d+:\d+): (warning|note): .*\[(\w+)\]$/.exec(line)?.slice(1).join(' ') ?? [],
    )
    .filter((line) => Object.hasOwn(notices, line.split(' ')[2] ?? ''));
}

const gang = (groups: string, name = 'train'): string =>
  `apiVersion: scheduler.grove.io/v1alpha1\nkind: PodGang\nmetadata: {name: ${name}}\nspec: {podgroups: [${groups}]}\n---\n`;
const labels = (clique = 'workers'): string =>
  `labels: {grove.io/podgang: train, grove.io/podclique: ${clique}}`;
const pod = (name: string, metadata = labels()): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, ${metadata}}\nspec: {}\n---\n`;
const workload = (kind: string, spec: string, clique = 'workers', at = 'template'): string =>
  `apiVersion: ${kind.split(' ')[0] ?? ''}\nkind: ${kind.split(' ')[1] ?? ''}\nmetadata: {name: x}\nspec:\n  ${spec}\n  ${at}: {metadata: {${labels(clique)}}, spec: {containers: []}}\n---\n`;
describe.each(verbs)('%s holds everything against everything', (verb) => {
  test.each<[string, string, string[]]>([
    ['two Pods for two', gang('{name: workers, minReplicas: 2}') + pod('a') + pod('b'), []],
    [
      'the gang that can never start: a Job of two and a misspelt group',
      gang('{name: workers, minReplicas: 8}') + workload('batch/v1 Job', 'parallelism: 2', 'wrokers'),
      ['11:59 warning GroupUnknown', '4:36 warning GroupTooSmall'],
    ],
    [
      'a Job that completes fewer than run',
      gang('{name: workers, minReplicas: 4}') + workload('batch/v1 Job', 'parallelism: 4\n  completions: 3'),
      ['4:36 warning GroupTooSmall'],
    ],
    [
      'a JobSet',
      `${gang('{name: workers, minReplicas: 6}')}apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: x}
spec:
  replicatedJobs:
    - replicas: 2
      template: {spec: {parallelism: 3, template: {metadata: {${labels()}}, spec: {containers: []}}}}
`,
      [],
    ],
    [
      'a LeaderWorkerSet: one leader and size - 1 workers of each replica',
      `${gang('{name: leader, minReplicas: 2}, {name: workers, minReplicas: 7}')}apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: x}
spec:
  replicas: 2
  startupPolicy: LeaderReady
  leaderWorkerTemplate:
    size: 4
    leaderTemplate: {metadata: {${labels('leader')}}, spec: {containers: []}}
    workerTemplate: {metadata: {${labels()}}, spec: {containers: []}}
`,
      ['4:68 warning GroupTooSmall', '11:3 warning PodsOneByOne'],
    ],
    [
      'a StatefulSet makes one after the other',
      gang('{name: workers, minReplicas: 3}') + workload('apps/v1 StatefulSet', 'replicas: 3'),
      ['9:1 warning PodsOneByOne'],
    ],
    [
      'unless it is told otherwise',
      gang('{name: workers, minReplicas: 3}') +
        workload('apps/v1 StatefulSet', 'replicas: 3\n  podManagementPolicy: Parallel'),
      [],
    ],
    [
      'how many Pods a DaemonSet has nobody knows',
      gang('{name: workers, minReplicas: 30}') + workload('apps/v1 DaemonSet', 'x: 1'),
      [],
    ],
    [
      'of an unknown kind the number beside the template counts',
      gang('{name: workers, minReplicas: 3}') + workload('kubeflow.org/v1 OtherJob', 'replicas: 2'),
      ['4:36 warning GroupTooSmall'],
    ],
    ['a PodGang that is not given', pod('a') + pod('b'), ['3:30 note GangNotGiven']],
    [
      'the same twice',
      gang('{name: workers, minReplicas: 1}') + pod('a') + pod('a'),
      ['13:12 warning GivenTwice'],
    ],
    [
      'an exempt namespace',
      pod('a', `namespace: kube-system, ${labels()}`),
      ['3:54 warning NamespaceExempt'],
    ],
    [
      'a label key of another case, without its prefix, with a hyphen',
      pod('a', 'labels: {grove.io/podGang: x, podclique: y, grove.io/base-pod-gang: z, app: w}'),
      ['3:30 warning LabelMisspelt', '3:51 warning LabelMisspelt', '3:65 warning LabelMisspelt'],
    ],
    [
      'labels of Grove and of others are theirs',
      pod(
        'a',
        `labels: {grove.io/podcliquescalinggroup: x, grove.io/podclique-pod-index: "0", example.com/pod: y, ${labels().slice(9)}`,
      ),
      ['3:120 note GangNotGiven'],
    ],
    ['an annotation', pod('a', 'annotations: {grove.io/podgang: train}'), ['3:35 warning LabelAsAnnotation']],
    [
      'a label of the workload only',
      `apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, ${labels()}}\nspec: {template: {spec: {}}}\n`,
      ['3:30 warning LabelOnWorkload'],
    ],
    ['kind: pod', 'apiVersion: v1\nkind: pod\n', ['2:1 warning KindMisspelt']],
    ['kind: Jobs', 'apiVersion: batch/v1\nkind: Jobs\n', ['2:1 warning KindMisspelt']],
    ['a Node is no misspelt Pod', 'apiVersion: v1\nkind: Node\nmetadata: {name: n}\n', []],
    ['a Pod of another version', 'apiVersion: v2\nkind: Pod\n', ['1:1 warning KindMisspelt']],
    ['no kind', '{"foo":1}', ['1:1 warning KindMissing']],
    ['name: 5', 'apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\nspec: {}\n', ['3:12 warning NameNotText']],
    ['no name', 'apiVersion: v1\nkind: Pod\nspec: {}\n', ['1:1 warning NameMissing']],
    ['no spec', 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n', ['1:1 warning SpecMissing']],
  ])('%s', async (_, stdin, expected) => expect(await told(verb, stdin)).toEqual(expected));

  test('--strict makes warnings fail, and notes not', async () => {
    const run = async (stdin: string, ...more: string[]): Promise<number> =>
      (await muster([verb, '-f', '-', ...more], { stdin })).code;
    const broken = gang('{name: workers, minReplicas: 2}') + pod('a');
    expect([await run(broken), await run(broken, '--strict')]).toEqual([0, 1]);
    expect([await run(pod('a')), await run(pod('a'), '--strict')]).toEqual([0, 0]);
  });

  test('of a slip that comes again and again twenty are shown, and how many there are', async () => {
    const stdin = Array.from({ length: 50 }, (_, index) => pod(`p-${index}`, 'labels: {podgang: x}')).join(
      '',
    );
    const { out } = await muster([verb, '-f', '-'], { stdin });
    expect(out.match(/\[LabelMisspelt\]/g)).toHaveLength(20);
    expect(out).toContain('<stdin>: note: not shown: 30 more of LabelMisspelt\n');
  });
});

test('each message says what is wrong, the rule and the way out', async () => {
  const stdin = gang('{name: workers, minReplicas: 8}') + pod('a', labels('wrokers'));
  const { out } = await muster(['review', '-f', '-'], { stdin });
  expect(out).toContain(
    '<stdin>:8:55: warning: metadata.labels[grove.io/podclique]: "wrokers" (did you mean "workers"?), PodGang default/train has workers: the PodGang has no such group, so its Pods never count; name one of its spec.podgroups, or add the group there [GroupUnknown]\n',
  );
  const named = await muster(['review', '-f', '-'], {
    stdin: 'apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\n',
  });
  expect(named.out).toContain(
    'metadata.name: 5 is a number in YAML: quote it: "5": must be a string, or no API server takes the object; correct it [NameNotText]\n',
  );
});

test('docs/cli.md lists every rule', () => {
  const text = readFileSync('docs/cli.md', 'utf8');
  const listed = [...text.matchAll(/^\| `(\w+)` +\| (warning|note) +\|/gm)].map(([, rule]) => rule);
  expect(listed).toEqual(Object.keys(notices));
});

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

describe('labels and annotations of ours that nobody reads where they are', () => {
  const NO_GANG = 'the workload has it and its Pods have not: they belong to no gang';
  const TO_POD = 'put it into metadata.labels of the Pod template [LabelOnWorkload]';
  const UNKNOWN =
    'nobody reads this key, and the prefix muster.dev/ is Muster’s own; correct it, or leave it out';
  const job = (metadata: string, template = '', more = ''): string =>
    `apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, ${metadata}}\nspec: {${more}template: {metadata: {${template}}, spec: {containers: []}}}\n`;
  const meta = (kind: string, metadata: string): string =>
    `apiVersion: ${kind.split(' ')[0] ?? ''}\nkind: ${kind.split(' ')[1] ?? ''}\nmetadata: {name: x, ${metadata}}\nspec: {podgroups: [{name: a, minReplicas: 0}, {name: b, minReplicas: 1}]}\n`;
  test.each<[string, string, string[]]>([
    [
      'the label of the workload only',
      job('labels: {muster.dev/gang: "true"}'),
      [`3:30: warning: metadata.labels[muster.dev/gang]: muster.dev/gang: ${NO_GANG}; ${TO_POD}`],
    ],
    [
      'an annotation of the workload',
      job('annotations: {muster.dev/gang: "true"}'),
      [`3:35: warning: metadata.annotations[muster.dev/gang]: muster.dev/gang: ${NO_GANG}; ${TO_POD}`],
    ],
    [
      'the same, misspelt',
      job('labels: {muster.dev/gnag: "true"}'),
      [
        `3:30: warning: metadata.labels[muster.dev/gnag]: "muster.dev/gnag" (did you mean "muster.dev/gang"?): ${NO_GANG}; ${TO_POD}`,
      ],
    ],
    [
      'on both it does what it should',
      job('labels: {muster.dev/gang: "true"}', 'labels: {muster.dev/gang: "true"}'),
      [],
    ],
    [
      'misspelt',
      job('', 'labels: {muster.dev/gnag: "true"}'),
      [
        '4:39: warning: spec.template.metadata.labels[muster.dev/gnag]: "muster.dev/gnag" (did you mean "muster.dev/gang"?): is no label that Muster reads; correct the key, or the Pod belongs to no gang [LabelMisspelt]',
      ],
    ],
    [
      'with another prefix',
      job('', 'labels: {muster.io/gang: "true"}'),
      [
        '4:39: warning: spec.template.metadata.labels[muster.io/gang]: "muster.io/gang" (did you mean "muster.dev/gang"?): is no label that Muster reads; correct the key, or the Pod belongs to no gang [LabelMisspelt]',
      ],
    ],
    ['a word without a prefix is anybody’s', job('', 'labels: {gang: "true", example.com/gang: "true"}'), []],
    [
      'the label as an annotation',
      job('', 'annotations: {muster.dev/gang: "true"}'),
      [
        '4:44: warning: spec.template.metadata.annotations[muster.dev/gang]: muster.dev/gang: is read as a label only; move it to metadata.labels [LabelAsAnnotation]',
      ],
    ],
    [
      'an annotation as a label',
      job('', 'labels: {muster.dev/gang: "true", muster.dev/gang-size: main}'),
      [
        '4:64: warning: spec.template.metadata.labels[muster.dev/gang-size]: muster.dev/gang-size: is read as an annotation only; move it to metadata.annotations [AnnotationAsLabel]',
      ],
    ],
    [
      'a key that there is not, and one that nearly is',
      job('annotations: {muster.dev/foo: x, muster.dev/fleet-queu: y}'),
      [
        `3:35: warning: metadata.annotations[muster.dev/foo]: "muster.dev/foo": ${UNKNOWN} [KeyUnknown]`,
        `3:54: warning: metadata.annotations[muster.dev/fleet-queu]: "muster.dev/fleet-queu" (did you mean "muster.dev/fleet-queue"?): ${UNKNOWN} [KeyUnknown]`,
      ],
    ],
    [
      'between a workload and its Pods',
      `apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {jobTemplate: {metadata: {labels: {muster.dev/gang: "true"}}, spec: {template: {spec: {containers: []}}}}}\n`,
      [
        `4:42: warning: spec.jobTemplate.metadata.labels[muster.dev/gang]: muster.dev/gang: ${NO_GANG}; ${TO_POD}`,
      ],
    ],
    [
      'in a list',
      `apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s}\nspec: {replicatedJobs: [{name: a, template: {metadata: {labels: {muster.dev/gang: "true"}}, spec: {template: {spec: {containers: []}}}}}]}\n`,
      [
        `4:66: warning: spec.replicatedJobs[0].template.metadata.labels[muster.dev/gang]: muster.dev/gang: ${NO_GANG}; ${TO_POD}`,
      ],
    ],
    [
      'a workload that keeps its templates elsewhere',
      `apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: t, labels: {muster.dev/gang: "true"}}\nspec: {}\n`,
      [`3:30: warning: metadata.labels[muster.dev/gang]: muster.dev/gang: ${NO_GANG}; ${TO_POD}`],
    ],
    [
      'annotations of a PodGang',
      meta('scheduler.grove.io/v1alpha1 PodGang', 'annotations: {muster.dev/expected-pod: "a=1"}'),
      [
        `3:35: warning: metadata.annotations[muster.dev/expected-pod]: "muster.dev/expected-pod" (did you mean "muster.dev/expected-pods"?): ${UNKNOWN} [KeyUnknown]`,
      ],
    ],
    [
      'its label',
      meta('scheduler.grove.io/v1alpha1 PodGang', 'labels: {grove.io/schedulername: volcano}'),
      [
        '3:30: warning: metadata.labels[grove.io/schedulername]: "grove.io/schedulername" (did you mean "grove.io/scheduler-name"?): is no label that Muster reads; correct the key, or the gang is of the default backend [SchedulerMisspelt]',
      ],
    ],
    [
      'its label as an annotation',
      meta('scheduler.grove.io/v1alpha1 PodGang', 'annotations: {grove.io/scheduler-name: volcano}'),
      [
        '3:35: warning: metadata.annotations[grove.io/scheduler-name]: grove.io/scheduler-name: is read as a label only; move it to metadata.labels [LabelAsAnnotation]',
      ],
    ],
    [
      'of what has no Pods',
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: n, labels: {muster.dev/metric: allowed}}\n',
      [
        `3:30: warning: metadata.labels[muster.dev/metric]: "muster.dev/metric" (did you mean "muster.dev/metrics"?): ${UNKNOWN} [KeyUnknown]`,
      ],
    ],
  ])('%s', async (_, stdin, expected) => {
    for (const verb of verbs) {
      const { out, code } = await muster([verb, '-f', '-', '--strict'], { stdin });
      const lines = out.split('\n').filter((line) => /\[[A-Z]\w+\]$/.test(line));
      expect([verb, ...lines]).toEqual([verb, ...expected.map((line) => `<stdin>:${line}`)]);
      expect([verb, code]).toEqual([verb, expected.length === 0 ? 0 : 1]);
    }
  });

  test('what comes with Muster has none', async () => {
    const { out } = await muster(['validate', '-f', 'manifests', '-f', 'demo', '-f', 'docs/examples']);
    expect(out).not.toMatch(
      /\[(LabelMisspelt|SchedulerMisspelt|LabelAsAnnotation|AnnotationAsLabel|LabelOnWorkload|KeyUnknown)\]/,
    );
    expect(out).toMatch(/checked/);
  });
});

describe('--strict fails where a gang cannot start', () => {
  const T = '{metadata: {labels: {muster.dev/gang: "true"}}, spec: {containers: []}}';
  const U = '{spec: {containers: []}}';
  const workers = '{replicas: 2, template: T}';
  const torch = (master: string): string =>
    `apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: bert}\nspec: {pytorchReplicaSpecs: {Master: ${master}, Worker: ${workers}}}\n---\n`
      .replaceAll(/\bT\b/g, T)
      .replaceAll(/\bU\b/g, U);
  const jobs = (leader: string): string =>
    `apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s}\nspec: {replicatedJobs: [{name: a, template: {spec: {template: ${leader}}}}, {name: b, template: {spec: {template: ${T}}}}]}\n---\n`;
  const prepared =
    'apiVersion: scheduler.grove.io/v1alpha1\nkind: PodGang\nmetadata: {name: g, annotations: {muster.dev/hpc-policy: p}}\nspec: {podgroups: [{name: a, minReplicas: 0}, {name: b, minReplicas: 1}]}\n---\n';
  const flux = (name: string, namespace = 'default'): string =>
    `apiVersion: muster.dev/v1alpha1\nkind: HPCPolicy\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {hpc: {manager: flux}}\n---\n`;
  const group = '{name: worker, minReplicas: 2}';
  const pods =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: g-b-0, labels: {grove.io/podgang: g, grove.io/podclique: b}}\nspec: {hostname: g-b-0, containers: [{name: a, image: x, command: [a]}]}\n---\n';
  const MISSING =
    'metadata.annotations[muster.dev/hpc-policy]: Invalid value: "p": the namespace of the gang does not have this HPCPolicy; create the HPCPolicy there, or correct the annotation muster.dev/hpc-policy [HpcPolicyMissing]';
  test.each<[string, string, boolean, string]>([
    [
      'a PyTorchJob whose Master has no label',
      torch('{replicas: 1, template: U}'),
      true,
      'spec.pytorchReplicaSpecs.Master.template.metadata.labels[muster.dev/gang]: the gang waits for Pods of "master": give these the label as well',
    ],
    ['with the label', torch('{replicas: 1, template: T}'), false, ''],
    ['without a Master to wait for', torch('{replicas: 0, template: U}'), false, ''],
    [
      'where somebody wrote the PodGang and left the group out',
      torch('{replicas: 1, template: U}') + gang(group, 'pytorchjob-bert'),
      false,
      '',
    ],
    [
      'unless that has more than there are Pods',
      torch('{replicas: 1, template: U}') + gang('{name: worker, minReplicas: 3}', 'pytorchjob-bert'),
      true,
      '"worker" needs 3, the input has 2: fewer Pods than minReplicas',
    ],
    ['a JobSet likewise', jobs(U), true, 'the gang waits for Pods of "a": give these the label as well'],
    ['a JobSet with all labels', jobs(T), false, ''],
    ['an HPCPolicy that is missing', prepared + pods, true, MISSING],
    ['that is in another namespace', prepared + pods + flux('p', 'other'), true, '(there is one in other)'],
    ['that is there', flux('p') + prepared + pods, false, ''],
  ])('%s', async (_, stdin, fails, says) => {
    for (const verb of verbs) {
      const strict = await muster([verb, '-f', '-', '--strict'], { stdin });
      expect([verb, strict.code]).toEqual([verb, fails ? 1 : 0]);
      expect(strict.out).toContain(says);
    }
  });
});

describe('a workload with the label and without Pods is no mistake', () => {
  const T = '{metadata: {labels: {muster.dev/gang: "true"}}, spec: {containers: []}}';
  const NOTE =
    'muster.dev/gang: the workload has no Pods now, and so no PodGang: it gets one with its first Pods; leave it so, or raise their number [NoPodsYet]';
  test.each([
    ['apps/v1 Deployment', 'replicas: 0, template: T'],
    ['batch/v1 Job', 'parallelism: 0, template: T'],
    ['batch/v1 CronJob', 'jobTemplate: {spec: {parallelism: 0, template: T}}'],
    ['apps/v1 StatefulSet', 'replicas: 0, template: T'],
    [
      'jobset.x-k8s.io/v1alpha2 JobSet',
      'replicatedJobs: [{name: a, replicas: 0, template: {spec: {template: T}}}]',
    ],
    [
      'leaderworkerset.x-k8s.io/v1 LeaderWorkerSet',
      'replicas: 0, leaderWorkerTemplate: {size: 2, workerTemplate: T}',
    ],
  ])('%s', async (title, spec) => {
    const [apiVersion, kind] = title.split(' ');
    const stdin = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x}\nspec: {${spec.replace(/\bT\b/, T)}}\n`;
    for (const verb of verbs) {
      const { code, out } = await muster([verb, '-f', '-', '--strict'], { stdin });
      expect([verb, code]).toEqual([verb, 0]);
      expect(out).toContain(NOTE);
      expect(out).not.toContain('PodGang default/');
    }
  });
});

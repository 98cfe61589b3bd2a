import { describe, expect, test } from '@jest/globals';
import { muster } from '../fake-io.ts';

const GANG_POD = `apiVersion: v1
kind: Pod
metadata:
  name: w-0
  namespace: research
  labels:
    grove.io/podgang: train
    grove.io/podclique: workers
spec:
  containers: [{name: w}]
`;
const GANG = `apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata: {name: train, labels: {grove.io/scheduler-name: kai-scheduler, kai.scheduler/queue: research}}
spec:
  podgroups: [{name: workers, minReplicas: 2}]
`;
const DENIED = `apiVersion: v1
kind: Pod
metadata:
  name: w-1
  labels: {grove.io/podgang: train}
spec:
  nodeName: node-7
`;
const PLAIN = 'apiVersion: v1\nkind: Pod\nmetadata: {name: plain}\nspec: {}\n';
const SERVICE = 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n';

const review = (stdin: string, ...args: string[]) => muster(['review', '-f', '-', ...args], { stdin });

interface JsonResult {
  ref: { kind: string; name: string; namespace: string; template?: string };
  reviewed: boolean;
  allowed: boolean;
  code: number;
  message: string;
  causes: { field: string; line: number; column: number }[];
  warnings: string[];
  backend: string | null;
  gang: string | null;
  patch: { op: string; path: string; value: unknown }[];
}
const json = async (stdin: string, ...args: string[]): Promise<JsonResult[]> =>
  JSON.parse((await review(stdin, '-o', 'json', ...args)).out) as JsonResult[];

describe('text', () => {
  test('a gang Pod: its diff, with the reason of each change', async () => {
    expect(await review(GANG_POD, '--backend', 'kai-scheduler')).toEqual({
      code: 0,
      err: '',
      out: `changed Pod research/w-0 <stdin>:1:1 (backend kai-scheduler, gang research/train)
  --- as given
  +++ as stored
  @@ -6,6 +6,15 @@
     labels:
       grove.io/podgang: train
       grove.io/podclique: workers
  +    kai.scheduler/subgroup-name: workers  # the sub-group it counts for
  +  annotations:
  +    kai.scheduler/podgang: train  # its gang, for people
  +    kai.scheduler/podgroup: workers  # its group, for people
  +    kai.scheduler/skip-podgrouper: "true"  # KAI must not group it by its owner
  +    pod-group-name: research.train  # the PodGroup it joins, unique in the cluster
   spec:
     containers:
       - name: w
  +  schedulerName: kai-scheduler  # the gang is served by KAI
  +  schedulingGates:  # the Pod waits until its gang is complete
  +    - name: grove.io/podgang-pending-creation

<stdin>:7:5: note: metadata.labels[grove.io/podgang]: PodGang research/train: not in the input, so the groups and counts of their Pods were not compared; give the PodGangs as well to have that done [GangNotGiven]

1 review: 1 changed, 0 unchanged, 0 denied, 0 skipped; of the whole: 0 errors, 0 warnings, 1 note
`,
    });
  });

  test('a gate of somebody else stays, and ours is appended', async () => {
    const { out } = await review(
      GANG_POD.replace('spec:', 'spec:\n  schedulingGates: [{name: example.com/quota}]'),
    );
    expect(out).toContain(
      '       - name: example.com/quota\n  +    - name: grove.io/podgang-pending-creation  # the Pod waits until its gang is complete\n',
    );
  });

  test('a refusal: every fault with its line, and 1', async () => {
    const { code, out, err } = await review(DENIED);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out.split('\n').map((line) => line.slice(0, 86))).toEqual([
      'denied Pod default/w-1 <stdin>:1:1 (422, backend default-scheduler, gang default/train',
      '  <stdin>:5:3: error: metadata.labels[grove.io/podclique]: Required value: a gang Pod ',
      '  <stdin>:7:3: error: spec.nodeName: Forbidden: "node-7": gang pods must not set nodeN',
      '',
      '1 review: 0 changed, 0 unchanged, 1 denied, 0 skipped',
      '',
    ]);
  });

  test('what is left as it is, and what there is nothing to say of', async () => {
    const stdin = [PLAIN, SERVICE, SERVICE, 'kind: Pod\napiVersion: v2\n', 'replicas: 3\n'].join('---\n');
    expect(await review(stdin)).toEqual({
      code: 0,
      err: '',
      out: `unchanged Pod default/plain <stdin>:1:1

skipped, with nothing to review in them: Service × 2, Pod, object

<stdin>:15:1: warning: apiVersion: "v2" for a Pod (did you mean "v1"?): no such kind is known; correct it: as it stands nothing in it was looked at [KindMisspelt]
<stdin>:17:1: warning: an object without apiVersion and kind, which no API server takes; add both, or leave the file out [KindMissing]

5 reviews: 0 changed, 1 unchanged, 0 denied, 4 skipped; of the whole: 0 errors, 2 warnings
`,
    });
  });

  test('a workload is not changed, its Pods are', async () => {
    const job = `apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: research}
spec:
  template:
    metadata: {labels: {grove.io/podgang: train, grove.io/podclique: workers}}
    spec: {containers: [{name: w}]}
`;
    const { code, out } = await review(job);
    expect(code).toBe(0);
    expect(out)
      .toContain(`changed Pods of Job research/train at spec.template <stdin>:1:1 (backend default-scheduler, gang research/train)
  the Job is stored as it is; its Pods are prepared when they are created:
  --- as given
  +++ as stored
  @@ -10,3 +10,5 @@
     containers:
       - name: w
     schedulerName: default-scheduler
  +  schedulingGates:  # the Pod waits until its gang is complete
  +    - name: grove.io/podgang-pending-creation
`);
    const denied = await json(job.replace('spec: {', 'spec: {nodeName: n1, '));
    expect(denied[0]).toMatchObject({
      ref: {
        apiVersion: 'batch/v1',
        kind: 'Job',
        namespace: 'research',
        name: 'train',
        template: 'spec.template',
      },
      allowed: false,
      causes: [{ field: 'spec.nodeName', line: 7, column: 12 }],
      message: expect.stringMatching(/^Pod train-\*: spec\.nodeName: Forbidden: /),
    });
  });

  test('a field of a PodGang that the API server would drop is a warning', async () => {
    const { code, out } = await review(GANG.replace('podgroups', 'podGroups'), '--backend', 'kai-scheduler');
    expect(code).toBe(1);
    expect(out).toContain(
      '  warning: spec.podGroups: unknown field "podGroups" (did you mean "podgroups"?): the API server would drop it\n',
    );
  });
});

describe('colour', () => {
  const coloured = (args: string[], isTerminal: boolean, env: Record<string, string> = {}) =>
    muster(['review', '-f', '-', ...args], { stdin: GANG_POD, isTerminal, env }).then(({ out }) =>
      out.includes('\u001b['),
    );
  test.each([
    [[], true, {}, true],
    [[], false, {}, false],
    [[], true, { NO_COLOR: '1' }, false],
    [[], true, { NO_COLOR: '' }, true],
    [[], true, { TERM: 'dumb' }, false],
    [['--color', 'always'], false, { NO_COLOR: '1' }, true],
    [['--color', 'never'], true, {}, false],
    [['--color', 'always', '-o', 'json'], true, {}, false],
    [['--color', 'always', '-o', 'yaml'], true, {}, false],
  ])('%j at a terminal: %j with %j', async (args, isTerminal, env, expected) => {
    expect(await coloured(args, isTerminal, env as Record<string, string>)).toBe(expected);
  });

  test('marks lines, reasons and verdicts', async () => {
    const { out } = await review(GANG_POD, '--color', 'always');
    expect(out).toContain('\u001b[32mchanged\u001b[39m \u001b[1mPod research/w-0\u001b[22m');
    expect(out).toContain('  \u001b[36m@@ -9,3 +9,6 @@\u001b[39m\n');
    expect(out).toContain(
      '\u001b[32m+  schedulingGates:\u001b[39m\u001b[2m  # the Pod waits until its gang is complete\u001b[22m',
    );
  });
});

describe('json', () => {
  test('all that is known of each object, in order', async () => {
    const [pod, gang, denied, service] = await json([GANG_POD, GANG, DENIED, SERVICE].join('---\n'));
    expect(pod).toEqual({
      ref: { apiVersion: 'v1', kind: 'Pod', namespace: 'research', name: 'w-0' },
      source: { file: '<stdin>', line: 1, column: 1 },
      reviewed: true,
      allowed: true,
      code: 200,
      message: '',
      causes: [],
      warnings: [],
      backend: 'default-scheduler',
      gang: 'research/train',
      patch: [
        { op: 'add', path: '/spec/schedulerName', value: 'default-scheduler' },
        { op: 'add', path: '/spec/schedulingGates', value: [{ name: 'grove.io/podgang-pending-creation' }] },
      ],
    });
    expect(gang).toMatchObject({
      allowed: false,
      code: 422,
      causes: [{ field: 'metadata.labels[grove.io/scheduler-name]', line: 14, column: 34 }],
    });
    expect(denied?.causes).toHaveLength(2);
    expect(denied).toMatchObject({ allowed: false, code: 422, patch: [], gang: 'default/train' });
    expect(service).toMatchObject({
      reviewed: false,
      allowed: true,
      code: 200,
      message: 'nothing to review: no Pod template in this Service',
      backend: null,
      gang: null,
      patch: [],
    });
  });

  test('the namespace of what names none, and who creates it', async () => {
    const [first] = await json(GANG_POD.replace('  namespace: research\n', ''), '-n', 'lab');
    expect(first).toMatchObject({ ref: { namespace: 'lab' }, gang: 'lab/train' });
    const [exempt] = await json(GANG_POD.replace('research', 'kube-system'));
    expect(exempt).toMatchObject({ allowed: true, patch: [], gang: null });
  });

  test('a PodGang that may only be made by a trusted account', async () => {
    const initialized = (operation: string) =>
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        request: {
          uid: 'u',
          kind: { group: '', version: 'v1', kind: 'Pod' },
          resource: { group: '', version: 'v1', resource: 'pods' },
          name: 'p',
          namespace: 'lab',
          operation,
          userInfo: { username: 'someone' },
          object: { metadata: { labels: { 'grove.io/podgang': 'g', 'grove.io/podclique': 'c' } }, spec: {} },
          oldObject: {
            metadata: { labels: { 'grove.io/podgang': 'g', 'grove.io/podclique': 'c' } },
            spec: { schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }] },
          },
        },
      });
    const [update] = await json(initialized('UPDATE'));
    expect(update).toMatchObject({
      ref: { apiVersion: 'v1', kind: 'Pod', namespace: 'lab', name: 'p' },
      allowed: false,
      code: 403,
      causes: [{ field: 'spec.schedulingGates', line: 1 }],
    });
    const [remove] = await json(initialized('DELETE'));
    expect(remove).toMatchObject({ reviewed: true, allowed: true, patch: [] });
  });
});

describe('AdmissionReviews', () => {
  const reviewOf = (request: unknown) =>
    JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });

  test('about a kind that Muster is not asked about', async () => {
    const kind = { group: 'apps', version: 'v1', kind: 'Deployment' };
    const [result] = await json(reviewOf({ uid: 'u', kind, operation: 'CREATE', object: {} }));
    expect(result).toMatchObject({
      ref: { apiVersion: 'apps/v1', kind: 'Deployment' },
      reviewed: false,
      message: 'nothing to review: Muster is not asked about a Deployment',
    });
  });

  test('that cannot be decided are 400, as from the server', async () => {
    const [result] = await json(reviewOf({ uid: 'u', kind: {}, operation: 'DANCE' }));
    expect(result).toMatchObject({ allowed: false, code: 400, causes: [] });
    expect(result?.message).toContain('request.operation: "DANCE" is none of');
    const [empty] = await json(reviewOf(null));
    expect(empty).toMatchObject({ allowed: false, code: 400, message: 'request: an object is needed' });
    const text = await review(reviewOf(null));
    expect(text.code).toBe(1);
    expect(text.out).toContain('  <stdin>:1:1: error: request: an object is needed\n');
    const [old] = await json(reviewOf({}).replace('k8s.io/v1', 'k8s.io/v1beta1'));
    expect(old).toMatchObject({ allowed: false, code: 400 });
    expect(old?.message).toContain('admission.k8s.io/v1 AdmissionReview is needed');
    const [labels] = await json('apiVersion: v1\nkind: Pod\nmetadata: {labels: {a: yes}}\n');
    expect(labels).toMatchObject({ allowed: false, code: 400 });
  });
});

describe('yaml and patch', () => {
  test('hold what is stored, line for document; refusals and warnings go to standard error', async () => {
    const stdin = [PLAIN, DENIED, GANG, SERVICE].join('---\n');
    const yaml = await review(stdin, '-o', 'yaml', '--backend', 'kai-scheduler');
    expect(yaml.code).toBe(1);
    expect(yaml.out).toBe(`---
apiVersion: v1
kind: Pod
metadata:
  name: plain
spec: {}
---
apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata:
  name: train
  labels:
    grove.io/scheduler-name: kai-scheduler
    kai.scheduler/queue: research
spec:
  podgroups:
    - name: workers
      minReplicas: 2
      podReferences: []
---
apiVersion: v1
kind: Service
metadata:
  name: web
`);
    expect(yaml.err.split('\n').map((line) => line.slice(0, 50))).toEqual([
      '<stdin>:10:3: error: metadata.labels[grove.io/podc',
      '<stdin>:12:3: error: spec.nodeName: Forbidden: "no',
      '',
    ]);
    const patch = await review(stdin, '-o', 'patch', '--backend', 'kai-scheduler');
    expect(patch.out).toBe('[]\n[{"op":"add","path":"/spec/podgroups/0/podReferences","value":[]}]\n[]\n');
    expect(patch).toMatchObject({ code: 1, err: yaml.err });
  });

  test('warnings name their object', async () => {
    const { err } = await review(
      GANG.replace('labels: {grove.io/scheduler-name: kai-scheduler, kai.scheduler/queue: research}', ''),
      '-o',
      'yaml',
    );
    expect(err).toMatch(/^<stdin>:1:1: warning: PodGang default\/train: default-scheduler has no gang/);
  });
});

describe('hostile input', () => {
  test('nothing in an object moves a cursor, in any format', async () => {
    const evil = '\u001b]0;owned\u0007\u009b31m\u202e\u200b';
    const stdin = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: evil,
        labels: { 'grove.io/podgang': 'g', 'grove.io/podclique': evil, [evil]: evil },
        annotations: { a: evil },
      },
      spec: { nodeSelector: { [evil]: evil } },
    });
    for (const format of ['text', 'json', 'yaml', 'patch']) {
      const { out, err } = await review(stdin, '-o', format, '--backend', 'kai-scheduler');
      expect(`${out}${err}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/);
    }
    const { out } = await review(stdin, '-o', 'json');
    expect((JSON.parse(out) as JsonResult[])[0]?.ref.name).toBe(evil);
  });

  test('keys of the language stay keys', async () => {
    const stdin = GANG_POD.replace('labels:', 'labels:\n    __proto__: x\n    constructor: z');
    const { out, code } = await review(stdin, '-o', 'yaml');
    expect(code).toBe(0);
    expect(out).toContain('    __proto__: x\n    constructor: z\n');
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test('an alias is not changed where the other is', async () => {
    const { out } = await review(
      `apiVersion: v1
kind: List
items:
  - &pod {apiVersion: v1, kind: Pod, metadata: &m {name: a, labels: {grove.io/podgang: g, grove.io/podclique: c}}, spec: {}}
  - {apiVersion: v1, kind: ConfigMap, metadata: *m}
`,
      '-o',
      'yaml',
      '--backend',
      'kai-scheduler',
    );
    expect(out.split('---\n')[2]).not.toContain('kai.scheduler');
  });
});

describe('what cannot be reviewed', () => {
  test.each([
    [
      '',
      [],
      '<stdin>: error: there is no object in it\nerror[INPUT_UNREADABLE]: one place of the input cannot be read\n',
    ],
    ['a: [', [], '<stdin>:1:5: error: '],
    [
      PLAIN,
      ['--backend', 'nope'],
      'error[USAGE]: --backend: there is no backend "nope" (there are: default-scheduler, kai-scheduler',
    ],
    [
      PLAIN,
      ['--backend', 'kai'],
      'error[USAGE]: --backend: there is no backend "kai" (did you mean "kai-scheduler"?) (there are: ',
    ],
    [
      PLAIN,
      ['--config', 'no-such-file'],
      'error[CONFIG_UNREADABLE]: cannot read the configuration file no-such-file: ',
    ],
  ])('%j %j', async (stdin, args, message) => {
    const { code, out, err } = await review(stdin, ...args);
    expect(out).toBe('');
    expect(err.startsWith(message)).toBe(true);
    expect(err).toContain('\nfix: ');
    expect(code).toBe(2);
  });
});

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { quoted } from '../../../../src/text/printable.ts';
import { writeFiles } from '../../../../src/cli/hpc/hpc.ts';
import { muster } from '../fake-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'hpc-'));
afterAll(() => rmSync(folder, { recursive: true }));

const EXAMPLE = 'docs/examples/hpc-gang.yaml';
const KEYS = [
  'init.sh',
  'entrypoint.sh',
  'broker.toml',
  'hostlist',
  'hosts',
  'lead',
  'quorum',
  'resources',
  'tasks-per-node',
  'cores-per-task',
  'gpus-per-task',
  'exclusive',
  'cpu-affinity',
  'gpu-affinity',
  'pmi',
];

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
}

const policy = (settings = '{}', metadata = '{name: flux, namespace: ml}'): string =>
  `apiVersion: muster.dev/v1alpha1
kind: HPCPolicy
metadata: ${metadata}
spec:
  hpc:
    manager: flux
    settings: ${settings}
`;
const gang = (metadata = '{name: g, namespace: ml, annotations: {muster.dev/hpc-policy: flux}}'): string =>
  `apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata: ${metadata}
spec:
  podgroups:
    - {name: g-worker, minReplicas: 4, podReferences: []}
`;
const statefulSet = (): string => `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: crew, namespace: ml}
spec:
  replicas: 3
  serviceName: crew
  podManagementPolicy: Parallel
  template:
    metadata: {labels: {app: crew, muster.dev/gang: 'true'}, annotations: {muster.dev/hpc-policy: flux}}
    spec: {containers: [{name: a, image: i, command: [run], resources: {limits: {cpu: '2'}}}]}
`;
const render = (documents: readonly string[], ...flags: string[]) =>
  muster(['hpc', 'render', '-f', '-', ...flags], { stdin: documents.join('---\n') });
const objectsOf = (out: string): Rendered[] =>
  parseAllDocuments(out).map((document) => document.toJS() as Rendered);
const named = (objects: readonly Rendered[]): string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);

describe('muster hpc render', () => {
  test('prints the objects as a stream of YAML', async () => {
    const { code, out, err } = await muster(['hpc', 'render', '-f', EXAMPLE, '-o', 'yaml']);
    expect([code, err]).toEqual([0, '']);
    const objects = objectsOf(out);
    expect(named(objects)).toEqual([
      'ConfigMap ml/lammps-flux-entrypoint',
      'Secret ml/lammps-flux-curve',
      'Service ml/lammps',
    ]);
    expect(Object.keys(objects[0]?.data ?? {})).toEqual(KEYS);
    expect(objects[0]?.data).toMatchObject({
      hostlist: 'lammps-lead-0,lammps-worker-[0-3]\n',
      'tasks-per-node': '4\n',
    });
  });

  test('YAML is the default; JSON is a list', async () => {
    const { out } = await muster(['hpc', 'render', '-f', EXAMPLE]);
    const json = await muster(['hpc', 'render', '-f', EXAMPLE, '-o', 'json']);
    const list = JSON.parse(json.out) as { kind: string; items: Rendered[] };
    expect(list.kind).toBe('List');
    expect(list.items[0]).toEqual(objectsOf(out)[0]);
    // The certificate is another one each time.
    expect(list.items[1]).not.toEqual(objectsOf(out)[1]);
  });

  test('writes each key of the ConfigMap to a file', async () => {
    const out = join(folder, 'new', 'flux');
    const { code, out: said } = await muster(['hpc', 'render', '-f', EXAMPLE, '--out', out]);
    expect([code, said]).toEqual([0, KEYS.map((key) => `${join(out, key)}\n`).join('')]);
    expect(readdirSync(out).sort()).toEqual([...KEYS].sort());
    expect(statSync(join(out, 'init.sh')).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(out, 'lead'), 'utf8')).toBe('lammps-lead-0\n');
  });

  test.each(['../ESCAPED.sh', '/etc/x', '..', '..data', '.', 'a/b', '\u001b[2Jx', ''])(
    'writes nothing where a key is no file name: %j',
    async (key) => {
      const out = join(folder, 'inner', 'flux');
      const map = { apiVersion: 'v1', kind: 'ConfigMap', data: { 'good.sh': 'true', [key]: 'touch /tmp/x' } };
      const written = writeFiles(out, [[map]], { stdout: () => undefined });
      await expect(written).rejects.toMatchObject({
        code: 'USAGE',
        message: `a preparation makes a ConfigMap with the key ${quoted(key)}, which is no file name and no key that an API server takes`,
        fix: 'have the preparation name its keys with letters, digits, "-", "_" and "." alone, and not begin one with ".."',
      });
      expect(existsSync(join(folder, 'inner'))).toBe(false);
    },
  );

  test('finds gang and policy in folders, lists and standard input, in any order', async () => {
    writeFileSync(join(folder, 'policy.yaml'), policy());
    const { out } = await muster(['hpc', 'render', '-f', '-', '-f', join(folder, 'policy.yaml')], {
      stdin: gang(),
    });
    expect(named(objectsOf(out))).toHaveLength(3);
    const items = [gang(), policy()].map((one) => parseAllDocuments(one)[0]?.toJS() as object);
    const list = await render([JSON.stringify({ apiVersion: 'v1', kind: 'List', items })]);
    expect(objectsOf(list.out)[0]).toEqual(objectsOf(out)[0]);
  });

  test('several gangs one after the other, and a namespace for what names none', async () => {
    const bare = '{name: a, annotations: {muster.dev/hpc-policy: flux}}';
    const { out } = await render([gang(), policy(), gang(bare), policy('{}', '{name: flux}')], '-n', 'ours');
    expect(named(objectsOf(out)).filter((name) => name.startsWith('Service'))).toEqual([
      'Service ml/g',
      'Service ours/a',
    ]);
  });

  test('a subdomain of the Pods is kept: its Service is not made', async () => {
    const pod = `apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml, labels: {grove.io/podgang: g}}
spec: {subdomain: theirs, containers: [{name: a, image: i}]}
`;
    const { out } = await render([pod, gang(), policy()]);
    expect(named(objectsOf(out))).toEqual(['ConfigMap ml/g-flux-entrypoint', 'Secret ml/g-flux-curve']);
    expect(objectsOf(out)[0]?.data?.['broker.toml']).toContain('tcp://%h.theirs.ml.svc.cluster.local:%p');
  });
});

describe('muster hpc render of a workload whose template names an HPCPolicy', () => {
  const told = (out: string): (string | undefined)[][] =>
    objectsOf(out).map(({ kind, metadata, data }) => [kind, metadata.name, data?.['hostlist']]);

  test('prints what its Pods get with the hosts that its controller names', async () => {
    expect(told((await muster(['hpc', 'render', '-f', 'docs/examples/hpc-job.yaml'])).out)).toEqual([
      ['ConfigMap', 'job-hello-flux-entrypoint', 'hello-[0-3]\n'],
      ['Secret', 'job-hello-flux-curve', undefined],
      ['Service', 'job-hello', undefined],
    ]);
    const { code, out, err } = await render([statefulSet(), policy()]);
    expect([code, err]).toEqual([0, '']);
    // The Service is its owner's.
    expect(told(out)).toEqual([
      ['ConfigMap', 'statefulset-crew-flux-entrypoint', 'crew-[0-2]\n'],
      ['Secret', 'statefulset-crew-flux-curve', undefined],
    ]);
    expect(objectsOf(out)[0]?.data).toMatchObject({ quorum: '3\n', resources: 'crew-[0-2] 3 2 0\n' });
  });

  test('goes by the PodGang of the input where that has been written', async () => {
    const annotations = `{muster.dev/hpc-policy: flux, muster.dev/hosts: 'main=crew-[0-3]'}`;
    const written = gang(`{name: statefulset-crew, namespace: ml, annotations: ${annotations}}`);
    const { out, err } = await render([statefulSet(), written.replace('g-worker', 'main'), policy()]);
    expect(err).toBe('');
    expect(told(out)[0]).toEqual(['ConfigMap', 'statefulset-crew-flux-entrypoint', 'crew-[0-3]\n']);
  });
});

describe('muster hpc render of a gang of PyTorch', () => {
  const torch = policy().replace(/ {2}hpc:[^]*/, '  torch: {procPerNode: 2}\n');

  test('prints the Service, and nothing where the Pods have one', async () => {
    const { code, out, err } = await muster(['hpc', 'render', '-f', 'docs/examples/torch-gang.yaml']);
    expect([code, err]).toEqual([0, '']);
    expect(objectsOf(out)).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          namespace: 'ml',
          name: 'llm',
          labels: { 'app.kubernetes.io/managed-by': 'muster', 'grove.io/podgang': 'llm' },
        },
        spec: {
          clusterIP: 'None',
          publishNotReadyAddresses: true,
          selector: { 'grove.io/podgang': 'llm' },
          ports: [{ name: 'torch', protocol: 'TCP', port: 29500, targetPort: 29500 }],
        },
      },
    ]);
    const pod = `apiVersion: v1
kind: Pod
metadata: {name: g-worker-0, namespace: ml, labels: {grove.io/podgang: g, grove.io/podclique: g-worker}}
spec: {subdomain: theirs, containers: [{name: a, image: i}]}
`;
    expect(await render([pod, gang(), torch])).toEqual({ code: 0, out: '', err: '' });
  });

  test('has no files to write', async () => {
    expect(await render([gang(), torch], '--out', join(folder, 'torch'))).toEqual({
      code: 1,
      out: '',
      err: 'error[HPC_NOTHING]: no ConfigMap is made for this gang, so there are no files: PyTorch is told by the environment of the Pods\nfix: leave out --out to see what is made, and see the Pods with muster review\n',
    });
  });

  test('names what is wrong with its Pods', async () => {
    const pod = `apiVersion: v1
kind: Pod
metadata: {name: g-worker-0, namespace: ml, labels: {grove.io/podgang: g, grove.io/podclique: g-worker}}
spec: {containers: [{name: a, image: i, env: [{name: RANK, value: '1'}]}]}
`;
    const { code, err } = await render([pod, gang(), torch]);
    expect(code).toBe(1);
    expect(err).toMatch(/^<stdin>:4:47: error: spec\.containers\[0\]\.env\[0\]: .*\[TorchVariableTaken\]\n$/);
  });
});

describe('muster hpc render says of bad input', () => {
  const wrong: [string, string[], string, number][] = [
    [
      'no policy',
      [gang()],
      '<stdin>:3:50: error: metadata.annotations[muster.dev/hpc-policy]: Invalid value: "flux": the namespace of the gang does not have this HPCPolicy; create the HPCPolicy there, or correct the annotation muster.dev/hpc-policy [HpcPolicyMissing]\n',
      1,
    ],
    [
      'a policy of another namespace',
      [gang(), policy('{}', '{name: flux, namespace: other}')],
      '<stdin>:3:50: error: metadata.annotations[muster.dev/hpc-policy]: Invalid value: "flux": the namespace of the gang does not have this HPCPolicy (there is one in other); create the HPCPolicy there, or correct the annotation muster.dev/hpc-policy [HpcPolicyMissing]\n',
      1,
    ],
    [
      'an unknown setting',
      [gang(), policy('{tasks-per-nod: "4"}')],
      '<stdin>:14:16: error: spec.hpc.settings[tasks-per-nod]: Unsupported value: is no setting of flux (did you mean "tasks-per-node"?); correct it or remove it; docs/hpc.md lists the settings [HpcSettingUnknown]\n',
      1,
    ],
    [
      'a quorum that is never reached, where the policy has it',
      [gang(), policy('{quorum: "5"}')],
      '<stdin>:14:16: error: spec.hpc.settings[quorum]: Invalid value: "5": the quorum is at most the number of Pods that are expected (4 are expected); lower it, raise muster.dev/expected-pods of the gang, or leave it out [HpcQuorumTooLarge]\n',
      1,
    ],
    [
      'a group name of 63 characters, where the gang has it',
      [gang().replace('g-worker', 'w'.repeat(63)), policy()],
      `<stdin>:6:8: error: spec.podgroups[0].name: Invalid value: "${'w'.repeat(63)}-3": its Pods are called group-0 and so on: at most 63 of a-z, 0-9 and "-" (65 characters); rename the group, and the workload that its Pods are of [HpcHostNameInvalid]\n`,
      1,
    ],
    [
      'no gang under Flux at all',
      [gang('{name: g}'), policy()],
      'error[HPC_NOTHING]: no PodGang and no workload of the input names an HPCPolicy\nfix: annotate the PodGang, or a Pod template that has the label muster.dev/gang, with muster.dev/hpc-policy: NAME, and give it with -f\n',
      1,
    ],
    [
      'a workload whose policy is not there',
      [statefulSet(), policy('{}', '{name: other, namespace: ml}')],
      '<stdin>:9:76: error: spec.template.metadata.annotations[muster.dev/hpc-policy]: Invalid value: "flux": the namespace of the gang does not have this HPCPolicy; create the HPCPolicy there, or correct the annotation muster.dev/hpc-policy [HpcPolicyMissing]\n',
      1,
    ],
  ];
  test.each(wrong)('%s', async (_what, documents, says, exitCode) => {
    expect(await render(documents)).toEqual({ code: exitCode, out: '', err: says });
  });

  test('a Pod whose GPUs its tasks cannot share, and one that is in order', async () => {
    const job = (gpus: number): string => `apiVersion: batch/v1
kind: Job
metadata: {name: g-worker, namespace: ml}
spec:
  completionMode: Indexed
  template:
    metadata: {labels: {grove.io/podgang: g, grove.io/podclique: g-worker}}
    spec:
      containers:
        - {name: main, image: i, command: [run], resources: {limits: {nvidia.com/gpu: ${gpus}}}}
`;
    const documents = [gang(), policy('{tasks-per-node: "4"}')];
    expect(await render([...documents, job(6)])).toEqual({
      code: 1,
      out: '',
      err: '<stdin>:25:71: error: spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: 6: the GPUs of a Pod are shared out evenly among its tasks (tasks-per-node is 4); ask for a multiple of the setting tasks-per-node of the HPCPolicy [HpcGpusUneven]\n',
    });
    expect(await render([...documents, job(8)])).toMatchObject({ code: 0, err: '' });
  });

  test('what is wrong with gang and policy, all at once', async () => {
    const { code, err } = await render([
      gang('{name: G.x, namespace: ml, annotations: {muster.dev/hpc-policy: flux}}').replace('4', '-4'),
      policy('{quorum: 4, network: ib}'),
    ]);
    expect(code).toBe(1);
    expect([...err.matchAll(/\[(\w+)\]\n/g)].map(([, rule]) => rule)).toEqual([
      'MinReplicasInvalid',
      'FieldType',
      'HpcSettingInvalid',
      'HpcHostsNone',
      'HpcServiceNameInvalid',
    ]);
  });

  test('files of two gangs in one folder, and a folder that cannot be one', async () => {
    const two = await render([gang(), policy(), gang().replace('name: g,', 'name: h,')], '--out', folder);
    expect(two).toMatchObject({ code: 2, out: '' });
    expect(two.err).toContain(
      'error[USAGE]: --out takes the files of one gang, and the input has 2\nfix: give',
    );
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const none = await render([gang(), policy()], '--out', file);
    expect(none).toMatchObject({ code: 2, out: '' });
    expect(none.err).toMatch(
      /^error\[USAGE\]: --out .*a-file: .*\nfix: name a folder that you may write to\n$/,
    );
  });

  test('what it cannot read, and what it does not do', async () => {
    expect(await render(['{'])).toMatchObject({ code: 2, out: '' });
    const unknown = await muster(['hpc', 'rendr', '-f', EXAMPLE]);
    expect(unknown).toMatchObject({ code: 2, out: '' });
    expect(unknown.err).toContain("'rendr' is invalid for argument 'what'");
  });
});

describe('muster validate', () => {
  const validate = (documents: readonly string[]) =>
    muster(['validate', '-f', '-'], { stdin: documents.join('---\n') });

  test('knows HPCPolicies', async () => {
    expect(await validate([policy()])).toMatchObject({
      code: 0,
      out: '1 object checked, 0 skipped: 0 errors, 0 warnings\n',
    });
    const { code, out } = await validate([policy('{flux-queue-polcy: easy, interactive: yes}')]);
    expect(code).toBe(1);
    expect(out.split('\n').map((line) => line.replace(/\w+ value:.*/, ''))).toEqual([
      '<stdin>:7:16: error: spec.hpc.settings[flux-queue-polcy]: ',
      '<stdin>:7:40: error: spec.hpc.settings[interactive]: ',
      '1 object checked, 0 skipped: 2 errors, 0 warnings',
      '',
    ]);
  });

  test('holds a gang against its policy where both are given, and asks for neither', async () => {
    const { code, out } = await validate([gang(), policy('{lead-group: lead}')]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /\n<stdin>:14:16: error: spec\.hpc\.settings\[lead-group\]: .*\[HpcLeadGroupUnknown\]\n/,
    );
    expect((await validate([gang()])).code).toBe(0);
  });

  test('takes each HPCPolicy that docs/hpc.md shows', async () => {
    const page = readFileSync('docs/hpc.md', 'utf8');
    const shown = [...page.matchAll(/```yaml\n([^]*?)```/g)]
      .map(([, text = '']) => text)
      .filter((text) => text.includes('kind: HPCPolicy'));
    expect(shown.length).toBeGreaterThanOrEqual(1);
    for (const text of shown) {
      expect((await validate([text])).out).toBe('1 object checked, 0 skipped: 0 errors, 0 warnings\n');
    }
  });

  test('warns of a gang of PyTorch that starts with fewer Pods than it waits for', async () => {
    const torch = policy().replace(/ {2}hpc:[^]*/, '  torch: {}\n');
    const late = gang(
      '{name: g, namespace: ml, annotations: {muster.dev/hpc-policy: flux, muster.dev/expected-pods: g-worker=6}}',
    );
    const { code, out } = await validate([late, torch]);
    expect(code).toBe(0);
    expect(out).toContain(
      'warning: the gang starts with 4 Pods, and PyTorch waits for all 6 that are expected',
    );
  });

  test('warns of Pods of one group that ask for different amounts, which a cluster holds; those that agree are told to Flux', async () => {
    const pod = (name: string, cpu: string): string =>
      `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: ml
  labels: {grove.io/podgang: g, grove.io/podclique: g-worker}
spec:
  containers:
    - {name: main, image: i, command: [lmp], resources: {limits: {cpu: '${cpu}', nvidia.com/gpu: 1}}}
`;
    const pods = [pod('g-worker-0', '4'), pod('g-worker-1', '2')];
    const differ = [gang(), policy(), ...pods];
    const { code, out } = await validate(differ);
    expect(code).toBe(0);
    expect(out).toContain(
      'warning: spec.podgroups: Pods of group g-worker ask for different amounts (2 cores and 1 GPU; 4 cores and 1 GPU): Flux is told of a group, not of a Pod',
    );
    const torch = policy().replace(/ {2}hpc:[^]*/, '  torch: {}\n');
    expect((await validate([gang(), torch, ...pods])).out).not.toContain('Flux is told');
    const resources = async (documents: readonly string[]) =>
      objectsOf((await render(documents)).out)[0]?.data?.['resources'];
    expect(await resources(differ)).toBe('g-worker-[0-3] 4 - -\n');
    expect(await resources([...differ.slice(0, 3), pod('g-worker-1', '4')])).toBe('g-worker-[0-3] 4 4 1\n');
  });

  test('names the kind that was meant, and leaves other kinds of the group alone', async () => {
    const { out } = await validate([policy().replace('HPCPolicy', 'HpcPolcy')]);
    expect(out).toContain('unknown kind "HpcPolcy" (did you mean "HPCPolicy"?)');
    expect(await validate([policy().replace('HPCPolicy', 'SchedulerBackend')])).toMatchObject({ code: 0 });
    const version = await validate([policy().replace('v1alpha1', 'v1')]);
    expect(version.out).toContain('unknown apiVersion "muster.dev/v1" (did you mean "muster.dev/v1alpha1"?)');
  });
});

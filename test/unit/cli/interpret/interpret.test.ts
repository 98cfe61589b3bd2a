import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { customizationOf } from '../../../../src/fleet/lua/customization.ts';
import type { WorkloadKind } from '../../../../src/workloads/workload-kind.ts';
import { workloadKinds } from '../../../../src/workloads/kinds.ts';
import { muster } from '../fake-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'interpret-'));
afterAll(() => rmSync(folder, { recursive: true }));

const EXAMPLE = 'docs/examples/volcano-job.yaml';
const deployment = (name: string, replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas },
});
const read = (stdin: object | string, ...flags: string[]) =>
  muster(['interpret', '-f', '-', ...flags], {
    stdin: typeof stdin === 'string' ? stdin : JSON.stringify(stdin),
  });

describe('muster interpret', () => {
  test('for people', async () => {
    const { code, out } = await muster(['interpret', '-f', EXAMPLE]);
    expect(code).toBe(0);
    expect(out).toBe(`Job ml/train: 5 Pods, healthy
  COMPONENT  PODS  MINIMUM  EACH NEEDS
  master     1     1        cpu 1
  worker     4     2        cpu 8, memory 32Gi, nvidia.com/gpu 4
  beside it: ConfigMap hyper-parameters
`);
  });

  test('for programs', async () => {
    const { code, out } = await muster(['interpret', '-f', EXAMPLE, '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      object: { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', namespace: 'ml', name: 'train' },
      components: [
        { name: 'master', replicas: 1, minAvailable: 1, requirements: { resourceRequest: { cpu: '1' } } },
        {
          name: 'worker',
          replicas: 4,
          minAvailable: 2,
          requirements: { resourceRequest: { cpu: '8', memory: '32Gi', 'nvidia.com/gpu': '4' } },
        },
      ],
      replicas: 5,
      healthy: true,
      dependencies: [{ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ml', name: 'hyper-parameters' }],
    });
  });

  test('folders, lists and standard input; what is no workload is passed over', async () => {
    writeFileSync(
      join(folder, 'all.json'),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [deployment('a', 1), { apiVersion: 'v1', kind: 'Service' }, deployment('b', 2)],
      }),
    );
    const { code, out, err } = await muster(['interpret', '-f', folder]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^Deployment a: 1 Pod, not healthy\n[^]*\n\nDeployment b: 2 Pods, not healthy\n/);
    const many = await muster(['interpret', '-f', folder, '-o', 'json']);
    expect((JSON.parse(many.out) as { replicas: number }[]).map(({ replicas }) => replicas)).toEqual([1, 2]);
    const one = await read(deployment('c', 3), '-o', 'json');
    expect(JSON.parse(one.out)).toMatchObject({
      object: { name: 'c' },
      replicas: 3,
      components: [{ requirements: null }],
    });
  });

  test('a workload that cannot be counted is named with its place, and the others are shown', async () => {
    const { code, out, err } = await read(
      `${JSON.stringify(deployment('a', 1))}\n---\n${JSON.stringify(deployment('b', -1))}\n`,
    );
    expect(code).toBe(1);
    expect(out).toMatch(/^Deployment a: 1 Pod/);
    expect(err).toMatch(
      /^<stdin>:3:77: error: spec\.replicas: -1 is no number of Pods; .*; correct it, and apply it again \[WORKLOAD_INVALID\]/,
    );
    const json = await read(deployment('b', -1), '-o', 'json');
    expect([json.code, json.out]).toEqual([1, '']);
  });

  test('nothing that it knows, and nothing that can be read', async () => {
    const unknown = await read({ apiVersion: 'example.com/v1', kind: 'Trainer' });
    expect(unknown.code).toBe(1);
    expect(unknown.err).toMatch(
      /^error\[WORKLOAD_UNKNOWN\]: "example\.com\/v1 Trainer" is no workload[^]*\nfix: tell in/,
    );
    expect(await read('{')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/error\[INPUT_UNREADABLE\]/),
    });
  });
});

describe('muster interpret --lua', () => {
  test('prints what Karmada takes, for one kind', async () => {
    const { code, out } = await muster(['interpret', '--lua', 'PyTorchJob', '-o', 'json']);
    const kind = workloadKinds.find((one) => one.kind === 'PyTorchJob') as WorkloadKind;
    expect([code, JSON.parse(out)]).toEqual([0, customizationOf(kind)]);
    const yaml = await muster(['interpret', '--lua', 'Job.batch.volcano.sh']);
    expect(yaml.out).toContain('kind: ResourceInterpreterCustomization\n');
    expect(yaml.out).toContain('function GetComponents(obj)\n');
  });

  test.each(workloadKinds.map(({ kind, group }) => `${kind}.${group}`))('%s', async (name) => {
    const { code, out } = await muster(['interpret', '--lua', name]);
    expect([code, out]).toEqual([0, expect.stringMatching(/function (GetComponents|GetReplicas)\(obj\)\n/)]);
  });

  test.each([
    [['--lua', 'Job'], '--lua Job could be Job.batch.volcano.sh or Job.batch\nfix: write one of them\n', 2],
    [
      ['--lua', 'TFJobs.kubeflow.org'],
      'there is no kind "TFJobs.kubeflow.org" (did you mean "TFJob.kubeflow.org"?)',
      2,
    ],
    [
      ['--lua', 'PyTorchJob', '-f', 'x.yaml'],
      "error[USAGE]: option '--lua <kind>' cannot be used with option '-f, --filename <file...>'\nfix: see \"muster interpret --help\"\n",
      2,
    ],
    [[], 'error[USAGE]: what is to be interpreted?\nfix: give -f with files, or --lua with a kind\n', 2],
  ])('%j', async (flags, says, code) => {
    const ran = await muster(['interpret', ...flags]);
    expect(ran).toMatchObject({ code, out: '', err: expect.stringContaining(says) as unknown });
  });
});

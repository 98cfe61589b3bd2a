import { describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { muster } from '../fake-io.ts';

const validate = (stdin: string, ...args: string[]) => muster(['validate', '-f', '-', ...args], { stdin });

const GANG = `apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata: {name: train, labels: {grove.io/scheduler-name: kai-scheduler, kai.scheduler/queue: research}}
spec:
  podgroups:
    - {name: workers, minReplicas: 2, podReferences: []}
`;
const CONFIG = 'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n';

/** What each line says up to its message, and how it ends. */
const places = (out: string): string[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^(<stdin>:\d+:\d+: \w+: [\w.[\]/-]*).*$/, '$1'));

describe('PodGangs', () => {
  test('a sound one', async () => {
    expect(await validate(GANG)).toEqual({
      code: 0,
      out: '1 object checked, 0 skipped: 0 errors, 0 warnings\n',
      err: '',
    });
  });

  test('all faults at once, in the order of the file, each with line, column and field', async () => {
    const { code, out, err } = await validate(`apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata: {name: Train, namespace: research}
spec:
  priorityClass: high
  podgroups:
    - {name: a b, minReplicas: -1}
    - name: x
      minReplica: 2
      podReferences: [{namespace: other, name: p, uid: u}]
    - {name: x, minReplicas: 1}
  topologyConstraintGroupConfigs:
    - {name: c, podGroupNames: [nope]}
`);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(places(out)).toEqual([
      '<stdin>:1:1: warning: default-scheduler',
      '<stdin>:3:12: error: metadata.name',
      '<stdin>:5:3: error: spec.priorityClass',
      '<stdin>:7:8: error: spec.podgroups[0].name',
      '<stdin>:7:19: error: spec.podgroups[0].minReplicas',
      '<stdin>:8:7: error: spec.podgroups[1].minReplicas',
      '<stdin>:9:7: error: spec.podgroups[1].minReplica',
      '<stdin>:10:24: error: spec.podgroups[1].podReferences[0].namespace',
      '<stdin>:10:51: error: spec.podgroups[1].podReferences[0].uid',
      '<stdin>:11:8: error: spec.podgroups[2].name',
      '<stdin>:13:33: error: spec.topologyConstraintGroupConfigs[0].podGroupNames[0]',
      '1 object checked, 0 skipped: 10 errors, 1 warning',
    ]);
    expect(out).toContain(
      'spec.priorityClass: unknown field "priorityClass" (did you mean "priorityClassName"?): the API server would drop it\n',
    );
    expect(out).toContain('(did you mean "minReplicas"?)');
  });

  test('podGroups is an error, since the API server would drop it without a word', async () => {
    const { code, out } = await validate(GANG.replace('podgroups', 'podGroups'));
    expect(code).toBe(1);
    expect(out).toContain(
      '<stdin>:5:3: error: spec.podGroups: unknown field "podGroups" (did you mean "podgroups"?): the API server would drop it\n',
    );
  });

  test.each([
    ['metadata: {name: train, labels', 'metadata: {generateName: t-, labels', 0],
    ['metadata: {name: train, labels', 'metadata: {labels', 1],
    ['name: train', 'name: train.x', 0],
    ['name: train', `name: ${'x'.repeat(64)}`, 1],
    ['name: train', 'name: train_x', 1],
    ['kai-scheduler', 'volcano-of-mine', 1],
    ['spec:', 'statuss: {}\nspec:', 1],
    ['spec:', 'status: {anything: 1}\nspec:', 0],
    ['spec:', 'spec: 7\nx:', 1],
  ])('%j as %j ends with %d', async (from, to, code) => {
    const result = await validate(GANG.replace(from, to));
    expect(result.code).toBe(code);
    expect(result.out).toMatch(code === 0 ? /: 0 errors, 0 warnings\n$/ : /^<stdin>:\d+:\d+: error: /);
  });

  test('against a configuration, only its backends count as enabled', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-validate-'));
    try {
      const file = join(folder, 'config.yaml');
      await writeFile(file, CONFIG);
      const { code, out } = await validate(GANG, '--config', file);
      expect(code).toBe(1);
      expect(out).toContain('metadata.labels[grove.io/scheduler-name]: Unsupported value: "kai-scheduler"');
      await writeFile(file, `${CONFIG}schedulerName: kai-scheduler\n`);
      expect(await validate(GANG, '--config', file)).toMatchObject({ code: 0 });
      await writeFile(file, `${CONFIG}schedulerNme: x\n`);
      const broken = await validate(GANG, '--config', file);
      expect(broken).toMatchObject({ code: 1, out: '' });
      expect(broken.err).toContain(`${file}:3:1: error: schedulerNme: unknown key`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('configurations', () => {
  test('all faults at once, on the lines they have in the file', async () => {
    const { code, out } = await validate(`${GANG}---
${CONFIG}logLevel: loud
servr: {}
controllers:
  podGang: {concurrentSyncs: 0}
`);
    expect(code).toBe(1);
    expect(places(out)).toEqual([
      '<stdin>:10:11: error: logLevel',
      '<stdin>:11:1: error: servr',
      '<stdin>:13:30: error: controllers.podGang.concurrentSyncs',
      '2 objects checked, 0 skipped: 3 errors, 0 warnings',
    ]);
    expect(out).toContain('did you mean "server"');
  });

  test('inside a list as well', async () => {
    const { out } = await validate(`kind: List
items:
  - apiVersion: operator.config.grove.io/v1alpha1
    kind: OperatorConfiguration
    logLevel: loud
`);
    expect(places(out)[0]).toBe('<stdin>:5:5: error: logLevel');
  });
});

describe('config of a profile whose backend comes with Muster', () => {
  const profiles = (text: string): string => `${CONFIG}scheduler:\n  profiles:\n${text}`;

  test('every key that is unknown or wrong, at its place', async () => {
    const { code, out } = await validate(
      profiles(`    - name: default-scheduler
    - name: kai-scheduler
      config:
        quue: research
        topologyName: Data Centre
    - name: volcano
      config:
        tiers:
          rack: {tier: -1}
`),
    );
    expect(code).toBe(1);
    expect(out.trimEnd().split('\n')).toEqual([
      '<stdin>:8:9: error: scheduler.profiles[1].config.quue: unknown key (did you mean "queue"?); keys: schedulerName, queue, requireExternalPodGroups, topologyName',
      '<stdin>:9:9: error: scheduler.profiles[1].config.topologyName: must be a lower-case DNS name of at most 253 characters, not "Data Centre"',
      '<stdin>:13:11: error: scheduler.profiles[2].config.tiers["rack"]: must be {name: <tier name>} or {tier: <whole number from 0>}, one of the two',
      '1 object checked, 0 skipped: 3 errors, 0 warnings',
    ]);
  });

  test('against the levels of the same file', async () => {
    const { out } = await validate(`${profiles(`    - name: kai-scheduler
      config: {topologyName: dc}
`)}topologyAwareScheduling:
  enabled: true
  levels:
    - {domain: host, key: kubernetes.io/hostname}
    - {domain: rack, key: example.com/rack}
`);
    expect(out).toContain(
      'error: topologyAwareScheduling.levels[0].key: KAI allows kubernetes.io/hostname only as the last level; move it, or leave config.topologyName out',
    );
  });

  test('a module of somebody else’s is not run, and what is right is right', async () => {
    const module = '    - name: mine\n      module: ./no-such-file.js\n      config: {anything: 1}\n';
    const right = '    - name: volcano\n      config: {queue: research}\n';
    const said = { code: 0, out: '1 object checked, 0 skipped: 0 errors, 0 warnings\n', err: '' };
    expect(await validate(profiles(module + right))).toEqual(said);
  });
});

describe('apiVersion and kind', () => {
  const header = (apiVersion: string, kind: string): string =>
    `${apiVersion === '' ? '' : `apiVersion: ${apiVersion}\n`}${kind === '' ? '' : `kind: ${kind}\n`}spec: {}\n`;
  test.each([
    [
      'scheduler.grove.io/v1alpha2',
      'PodGang',
      '1:1: error: apiVersion: unknown apiVersion "scheduler.grove.io/v1alpha2" (did you mean "scheduler.grove.io/v1alpha1"?)',
    ],
    [
      'scheduler.grove.io',
      'PodGang',
      '1:1: error: apiVersion: unknown apiVersion "scheduler.grove.io" (did you mean "scheduler.grove.io/v1alpha1"?)',
    ],
    [
      'schedular.grove.io/v1alpha1',
      'PodGang',
      '1:1: error: apiVersion: unknown apiVersion "schedular.grove.io/v1alpha1" (did you mean "scheduler.grove.io/v1alpha1"?)',
    ],
    [
      'scheduler.grove.io/v1alpha1',
      'podgang',
      '2:1: error: kind: unknown kind "podgang" (did you mean "PodGang"?)',
    ],
    [
      'scheduler.grove.io/v1alpha1',
      'Elephant',
      '2:1: error: kind: unknown kind "Elephant" (did you mean "PodGang"?)',
    ],
    ['scheduler.grove.io/v1alpha1', '', '1:1: error: kind: must be given: "PodGang"'],
    ['', 'PodGang', '1:1: error: apiVersion: must be given: "scheduler.grove.io/v1alpha1"'],
    [
      'operator.config.grove.io/v1',
      'OperatorConfiguration',
      '1:1: error: apiVersion: unknown apiVersion "operator.config.grove.io/v1" (did you mean "operator.config.grove.io/v1alpha1"?)',
    ],
    [
      'operator.config.grove.io/v1alpha1',
      'OperatorConfig',
      '2:1: error: kind: unknown kind "OperatorConfig" (did you mean "OperatorConfiguration"?)',
    ],
  ])('%j %j', async (apiVersion, kind, message) => {
    expect(await validate(header(apiVersion, kind))).toEqual({
      code: 1,
      err: '',
      out: `<stdin>:${message}\n1 object checked, 0 skipped: 1 error, 0 warnings\n`,
    });
  });

  test.each([
    ['v1', 'Service'],
    ['kai.example.com/v1', 'PodGroup'],
    ['other.example.com/v1', 'PodGang'],
  ])('%j %j is another program’s', async (apiVersion, kind) => {
    expect(await validate(header(apiVersion, kind))).toEqual({
      code: 0,
      err: '',
      out: '0 objects checked, 1 skipped: 0 errors, 0 warnings\n',
    });
  });
});

describe('output', () => {
  test('json', async () => {
    const { code, out } = await validate(GANG.replace('podgroups', 'podGroups'), '-o', 'json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      checked: 1,
      skipped: 0,
      findings: [
        expect.objectContaining({
          file: '<stdin>',
          line: 4,
          column: 1,
          severity: 'error',
          path: 'spec.podgroups',
        }),
        {
          file: '<stdin>',
          line: 5,
          column: 3,
          severity: 'error',
          path: 'spec.podGroups',
          message: 'unknown field "podGroups" (did you mean "podgroups"?): the API server would drop it',
          rule: 'FieldUnknown',
        },
      ],
    });
  });

  test('colour at a terminal', async () => {
    const args = ['validate', '-f', '-'];
    const { out } = await muster(args, { stdin: GANG.replace('podgroups', 'podGroups'), isTerminal: true });
    expect(out).toContain(': \u001b[1;31merror:\u001b[22;39m spec.podgroups');
  });

  test('unreadable input is 2, wherever it is', async () => {
    const { code, out, err } = await validate(`${GANG}---\na: [\n`);
    expect({ code, out }).toEqual({
      code: 2,
      out: '1 object checked, 0 skipped: 0 errors, 0 warnings\n',
    });
    expect(err).toMatch(
      /^<stdin>:\d+:\d+: error: .*\nerror\[INPUT_UNREADABLE\]: one place of the input cannot be read\nfix: /,
    );
  });

  test('a key that would move a cursor is escaped', async () => {
    const { out } = await validate(`${GANG}  "\\e[2J\\u202e": 1\n`);
    expect(out).toContain('spec[\\u{1b}[2J\\u{202e}]: unknown field "\\u{1b}[2J\\u{202e}"');
    expect(out).not.toMatch(/[\u001b\u202e]/);
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { asGithub, asSarif, type Finding } from '../../../../src/cli/output/findings.ts';
import { musterVersion } from '../../../../src/cli/version.ts';
import { muster } from '../fake-io.ts';

const finding = (more: Partial<Finding>): Finding => ({
  file: 'a/b.yaml',
  line: 3,
  column: 7,
  severity: 'error',
  path: 'spec.x',
  message: 'is wrong',
  rule: 'SomeRule',
  ...more,
});

describe('workflow commands of GitHub', () => {
  test.each<[Partial<Finding>, string]>([
    [{}, '::error file=a/b.yaml,line=3,col=7,title=SomeRule::spec.x: is wrong\n'],
    [{ severity: 'warning', path: '' }, '::warning file=a/b.yaml,line=3,col=7,title=SomeRule::is wrong\n'],
    [{ severity: 'note', line: 0, column: 0 }, '::notice file=a/b.yaml,title=SomeRule::spec.x: is wrong\n'],
    [
      { file: 'a,b:c%.yaml', message: '100 %\nof it' },
      '::error file=a%2Cb%3Ac%25.yaml,line=3,col=7,title=SomeRule::spec.x: 100 %25%0Aof it\n',
    ],
  ])('%j', (more, line) => expect(asGithub([finding(more)])).toBe(line));
});

describe('SARIF', () => {
  test('is a log of version 2.1.0', () => {
    const log = JSON.parse(
      asSarif(
        [finding({}), finding({ line: 0, column: 0, severity: 'note', rule: 'Other', file: '/x y.yaml' })],
        '1.2',
      ),
    ) as unknown;
    expect(log).toEqual({
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'Muster', version: '1.2', rules: [{ id: 'Other' }, { id: 'SomeRule' }] } },
          columnKind: 'utf16CodeUnits',
          results: [
            {
              ruleId: 'SomeRule',
              ruleIndex: 1,
              level: 'error',
              message: { text: 'spec.x: is wrong' },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'a/b.yaml' },
                    region: { startLine: 3, startColumn: 7 },
                  },
                },
              ],
            },
            {
              ruleId: 'Other',
              ruleIndex: 0,
              level: 'note',
              message: { text: 'spec.x: is wrong' },
              locations: [{ physicalLocation: { artifactLocation: { uri: 'file:///x%20y.yaml' } } }],
            },
          ],
        },
      ],
    });
  });

  test('holds what a verb refuses, warns of and cannot read, and nothing else is printed', async () => {
    for (const verb of ['review', 'validate']) {
      const stdin = `apiVersion: scheduler.grove.io/v1alpha1\nkind: PodGang\nmetadata: {name: a}\nspec: {}\n---\na: [\n---\nkind: pod\napiVersion: v1\n`;
      const { code, out } = await muster([verb, '-f', '-', '-o', 'sarif'], { stdin });
      expect(code).toBe(2);
      const { runs } = JSON.parse(out) as {
        runs: { tool: { driver: { version: string } }; results: { ruleId: string; level: string }[] }[];
      };
      expect(runs[0]?.tool.driver.version).toBe(musterVersion());
      const found = runs[0]?.results.map(({ ruleId, level }) => `${level} ${ruleId}`);
      expect(found).toEqual(
        expect.arrayContaining(['error GroupsRequired', 'error INPUT_UNREADABLE', 'warning KindMisspelt']),
      );
    }
  });
});

describe('what YAML took for no text', () => {
  const job = `apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  template:
    metadata:
      labels:
        grove.io/podgang: train
        grove.io/podclique: yes
    spec: {}
`;
  test('the line of the label, the rule, and to quote it', async () => {
    const { code, out } = await muster(['review', '-f', '-'], { stdin: job });
    expect(code).toBe(1);
    expect(out).toContain(
      '  <stdin>:9:9: error: metadata.labels[grove.io/podclique]: Invalid value: true: has the wrong type (yes is true in YAML: quote it: "yes"); correct it [FieldType]\n',
    );
  });

  test.each([
    ['5', '5 is a number in YAML: quote it: "5"'],
    [
      '{{ .Values.group }}',
      'it is a template of Helm: render it first, helm template <chart> | muster … -f -',
    ],
  ])('%s', async (value, says) => {
    const { out } = await muster(['review', '-f', '-'], { stdin: job.replace('yes', value) });
    expect(out).toContain(says);
  });
});

describe('a folder with a bad file', () => {
  test('everything else is looked at, and it ends with 2', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-folder-'));
    try {
      const pod = (name: string): string =>
        `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {}\n`;
      for (const name of ['a', 'c', 'e']) await writeFile(join(folder, `${name}.yaml`), pod(name));
      await writeFile(join(folder, 'b.yaml'), 'a: [\n');
      await writeFile(join(folder, 'd.yaml'), '{{ .x }}: [\n');
      const { code, out, err } = await muster(['review', '-f', folder]);
      expect(code).toBe(2);
      expect(out).toContain('3 reviews: 0 changed, 3 unchanged, 0 denied, 0 skipped\n');
      expect(err.replaceAll(folder, '').split('\n')).toEqual([
        expect.stringMatching(/^\/b\.yaml:\d+:\d+: error: /),
        expect.stringMatching(/^\/d\.yaml:\d+:\d+: error: /),
        'error[INPUT_UNREADABLE]: 2 places of the input cannot be read',
        'fix: correct the YAML or JSON at this place; "-f -" reads standard input',
        'fix: it is a template of Helm: render it first, helm template <chart> | muster … -f -',
        '',
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('a configuration inside of a ConfigMap', () => {
  const map = (text: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: muster-config}\ndata:\n  other.txt: x\n  config.yaml: ${text}`;
  const lines =
    '|\n    apiVersion: operator.config.grove.io/v1alpha1\n    kind: OperatorConfiguration\n    logLevel: loud\n';

  test('is checked, on the lines that it has in the file', async () => {
    const { code, out } = await muster(['validate', '-f', '-'], { stdin: map(lines) });
    expect(code).toBe(1);
    expect(out).toMatch(/^<stdin>:9:15: error: data\[config\.yaml\]\.logLevel: unsupported value "loud" /);
    expect(out).toContain('1 object checked, 0 skipped: 1 error, 0 warnings\n');
  });

  test('with the config of its profiles', async () => {
    const profile = `${lines.replace('loud', 'info')}    scheduler:
      profiles:
        - name: volcano
          config: {quue: research}
`;
    const { code, out } = await muster(['validate', '-f', '-'], { stdin: map(profile) });
    expect(code).toBe(1);
    expect(out).toMatch(
      /^<stdin>:13:20: error: data\[config\.yaml\]\.scheduler\.profiles\[0\]\.config\.quue: unknown key \(did you mean "queue"\?\)/,
    );
  });

  test('in quotes at its key; and one without any is another program’s', async () => {
    const quoted = await muster(['validate', '-f', '-'], {
      stdin: map(
        '"apiVersion: operator.config.grove.io/v1alpha1\\nkind: OperatorConfiguration\\nlogLevel: loud\\n"\n',
      ),
    });
    expect(quoted.out).toMatch(/^<stdin>:6:3: error: data\[config\.yaml\]\.logLevel: /);
    const sound = await muster(['validate', '-f', '-'], { stdin: map(lines.replace('loud', 'info')) });
    expect(sound).toMatchObject({ code: 0, out: '1 object checked, 0 skipped: 0 errors, 0 warnings\n' });
    const other = await muster(['validate', '-f', '-'], { stdin: map('x\n') });
    expect(other.out).toBe('0 objects checked, 1 skipped: 0 errors, 0 warnings\n');
  });
});

describe('review goes by what the server would go by', () => {
  const stdin =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {grove.io/podgang: g, grove.io/podclique: c}}\nspec: {}\n';
  const backend = async (env: Record<string, string>, ...more: string[]): Promise<string | undefined> =>
    /backend ([\w-]+)/.exec((await muster(['review', '-f', '-', ...more], { stdin, env })).out)?.[1];

  test('a file in $MUSTER_CONFIG, variables before it, a flag in its place', async () => {
    expect(await backend({})).toBe('default-scheduler');
    expect(await backend({ MUSTER_CONFIG: 'docs/examples/config.yaml' })).toBe('kai-scheduler');
    expect(await backend({ MUSTER_SCHEDULER_NAME: 'volcano' })).toBe('volcano');
    const both = { MUSTER_CONFIG: 'docs/examples/config.yaml', MUSTER_SCHEDULER_NAME: 'volcano' };
    expect(await backend(both)).toBe('volcano');
    expect(await backend({ MUSTER_CONFIG: 'nowhere.yaml' }, '--config', 'docs/examples/config.yaml')).toBe(
      'kai-scheduler',
    );
  });

  test('a variable that is none is told', async () => {
    const { err } = await muster(['review', '-f', '-'], { stdin, env: { MUSTER_LOGLEVEL: 'x' } });
    expect(err).toBe(
      'MUSTER_LOGLEVEL: warning: unknown environment variable MUSTER_LOGLEVEL (did you mean "MUSTER_LOG_LEVEL"?)\n',
    );
  });
});

/** What is said offline of workloads that ask for a gang: the rules by which the cluster refuses them. */
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { askingWorkload } from '../../support/asking-workloads.ts';
import { review } from '../../support/reviews.ts';
import { muster } from './fake-io.ts';

const SET = 'apps/v1 StatefulSet db';
const ORDERED = 'replicas: 3, podManagementPolicy: OrderedReady, template: T';
const ask = (verb: string, spec: string, ...args: string[]) =>
  muster([verb, '-f', '-', ...args], { stdin: stringify(askingWorkload(SET, spec)) });
const REFUSED =
  'spec.podManagementPolicy: Invalid value: "OrderedReady": the next Pod is made once the one before is placed or ready, and a gated Pod never is (write podManagementPolicy: Parallel); let all Pods be made at once [PodsOneByOne]';

test('review refuses the workload, and shows no Pods of it', async () => {
  const { out, code } = await ask('review', ORDERED);
  expect(out).toBe(
    `denied StatefulSet ml/db <stdin>:1:1 (422)\n  <stdin>:8:3: error: ${REFUSED}\n\n1 review: 0 changed, 0 unchanged, 1 denied, 0 skipped\n`,
  );
  expect(code).toBe(1);
});

test('review shows one that works with its Pods and its PodGang, and no line of its own', async () => {
  const { out, code } = await ask(
    'review',
    'replicas: 3, podManagementPolicy: Parallel, template: T',
    '-o',
    'json',
  );
  const results = JSON.parse(out) as { ref: { kind: string; template?: string } }[];
  const kinds = results.map(({ ref }) => `${ref.kind} ${ref.template ?? ''}`);
  expect([kinds, code]).toEqual([['StatefulSet spec.template', 'PodGang '], 0]);
});

test('review shows a warning of the workload before its Pods', async () => {
  const object = askingWorkload('batch/v1 Job train', 'parallelism: 5, completions: 3, template: T');
  const { out, code } = await muster(['review', '-f', '-'], { stdin: stringify(object) });
  expect(out).toMatch(
    /^unchanged Job ml\/train <stdin>:1:1\n {2}warning: spec\.parallelism: 5 is above completions: [^\n]+\n\nchanged Pods of Job ml\/train/,
  );
  expect(code).toBe(0);
});

test('an AdmissionReview about such a workload is decided, one about another kind is not', async () => {
  const about = async (object: object): Promise<string> => {
    const sent = review('Pod', { object: object as never });
    return (await muster(['review', '-f', '-'], { stdin: JSON.stringify(sent) })).out;
  };
  const set = askingWorkload(SET, ORDERED);
  const sent = review('Pod', { object: set });
  const request = {
    ...(sent['request'] as object),
    kind: { group: 'apps', version: 'v1', kind: 'StatefulSet' },
  };
  const { out } = await muster(['review', '-f', '-'], { stdin: JSON.stringify({ ...sent, request }) });
  expect(out).toContain('denied StatefulSet ml/db');
  expect(await about({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } })).toContain(
    'unchanged Pod ml/a',
  );
});

test('validate tells of both, at their places, and counts the workload', async () => {
  const { out, code } = await ask('validate', ORDERED);
  expect(out).toBe(`<stdin>:8:3: error: ${REFUSED}\n1 object checked, 0 skipped: 1 error, 0 warnings\n`);
  expect(code).toBe(1);
  const job = askingWorkload('batch/v1 Job train', 'parallelism: 5, completions: 3, template: T');
  const warned = await muster(['validate', '-f', '-'], { stdin: stringify(job) });
  expect(warned.out).toMatch(
    /^<stdin>:7:3: warning: spec\.parallelism: 5 is above completions: .*\n1 object checked, 0 skipped: 0 errors, 1 warning\n$/,
  );
  expect(warned.code).toBe(0);
});

test('validate still holds labels of such a workload against each other', async () => {
  const { out } = await ask(
    'validate',
    'podManagementPolicy: Parallel, template: {metadata: {labels: {muster.dev/gang: "true", grove.io/podgangs: x}}, spec: {containers: []}}',
  );
  expect(out).toContain('[LabelMisspelt]');
});

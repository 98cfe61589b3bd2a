/** Inputs that were passed over, or refused without a way on. */
import { expect, test } from '@jest/globals';
import { muster } from './fake-io.ts';

const PCS =
  'apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: p}\nspec: {replicas: 1, template: {cliques: [{name: a, spec: {replicas: 2, podSpec: {containers: []}}}]}}\n';

test('interpret tells of a field that no API server stores, and counts nothing', async () => {
  const stdin =
    'apiVersion: scheduler.grove.io/v1alpha1\nkind: PodGang\nmetadata: {name: x}\nspec: {podGroups: [{name: a, minReplicas: 1}]}\n';
  expect(await muster(['interpret', '-f', '-'], { stdin })).toEqual({
    code: 1,
    out: '',
    err: '<stdin>:4:8: error: spec.podGroups: unknown field "podGroups" (did you mean "podgroups"?): the API server would drop it [FieldUnknown]\n',
  });
});

test('interpret says where a number is wrong, and by what rule', async () => {
  const stdin =
    'apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  parallelism: many\n  template: {spec: {containers: []}}\n';
  expect(await muster(['interpret', '-f', '-'], { stdin })).toEqual({
    code: 1,
    out: '',
    err: '<stdin>:5:3: error: spec.parallelism: "many" is no number of Pods; give a whole number from 0 to 2147483647; correct it, and apply it again [WORKLOAD_INVALID]\n',
  });
});

test('of a PodCliqueSet it is said what to give instead', async () => {
  for (const verb of ['review', 'validate']) {
    const { code, out } = await muster([verb, '-f', '-', '--strict'], { stdin: PCS });
    expect(code).toBe(0);
    expect(out).toContain(
      '<stdin>:2:1: note: kind: PodCliqueSet: the Grove operator makes PodGangs and Pods of it, and only these can be reviewed and planned for; give them: kubectl get podgangs,pods -o yaml [MadeByGrove]\n',
    );
  }
  const snapshot = 'docs/plans/cluster.yaml';
  expect(await muster(['plan', '-f', '-', '--snapshot', snapshot], { stdin: PCS })).toEqual({
    code: 2,
    out: '',
    err: 'error[INPUT_UNREADABLE]: PodCliqueSet p: the Grove operator makes PodGangs and Pods of it, and only these can be planned for\nfix: give one of its PodGangs with its Pods: kubectl get podgangs,pods -o yaml\n',
  });
});

test.each([
  ['without apiVersion and kind inside', 'v1', 'scheduler:\n      profiles: [{name: nope}]'],
  ['by accounts alone', 'v1', 'trustedAccounts: []'],
])('a configuration in a ConfigMap is not passed over: %s', async (_, version, text) => {
  const stdin = `apiVersion: ${version}\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  config.yaml: |\n    ${text}\n`;
  const { code, out } = await muster(['validate', '-f', '-'], { stdin });
  expect(code).toBe(1);
  expect(out).toContain('<stdin>:6:5: error: data[config.yaml].apiVersion: is required\n');
  expect(out).toContain('<stdin>:6:5: error: data[config.yaml].kind: is required\n');
});

test('nor one in a ConfigMap that itself has no apiVersion', async () => {
  const stdin =
    'kind: ConfigMap\nmetadata: {name: c}\ndata:\n  config.yaml: |\n    apiVersion: operator.config.grove.io/v1alpha1\n    kind: OperatorConfiguration\n    logLevel: loud\n';
  const { code, out } = await muster(['validate', '-f', '-'], { stdin });
  expect(code).toBe(1);
  expect(out).toMatch(/^<stdin>:7:\d+: error: data\[config\.yaml\]\.logLevel: /m);
});

test('another ConfigMap is somebody else’s', async () => {
  const stdin =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  config.yaml: |\n    scheduler: {a: 1}\n    trusted: []\n';
  const { code, out } = await muster(['validate', '-f', '-'], { stdin });
  expect([code, out]).toEqual([0, '0 objects checked, 1 skipped: 0 errors, 0 warnings\n']);
});

test.each([
  [['review', '-k', '.'], 'kubectl kustomize . | muster review -f -'],
  [['validate', '--kustomize=overlays/a'], 'kubectl kustomize overlays/a | muster validate -f -'],
  [['review', '-k'], 'kubectl kustomize . | muster review -f -'],
])('%j is told how to go on', async (args, way) => {
  const { code, err } = await muster(args);
  expect([code, err]).toEqual([2, expect.stringMatching(/^error\[USAGE\]: /)]);
  expect(err).toContain(`\nfix: render it first: ${way}\n`);
});

test('a URL is told how to go on', async () => {
  const { code, err } = await muster(['review', '-f', 'https://example.com/x.yaml']);
  expect(code).toBe(2);
  expect(err).toContain('\nfix: fetch it first: curl -sSfL https://example.com/x.yaml | muster … -f -\n');
});

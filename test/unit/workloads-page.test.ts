/** docs/workloads.md: each example is a gang, as `muster review` shows it. */
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { configuredWorkloadRights } from '../../src/cli/doctor/expected-rights.ts';
import { reviewObject } from '../../src/cli/review/review-object.ts';
import { loadConfiguration } from '../../src/config/load.ts';
import { gangKindsWith } from '../../src/workloads/configured-gangs.ts';
import { policy } from '../support/policy.ts';
import { example, exampleNames } from '../support/workloads-page.ts';

const { workloads } = loadConfiguration({
  text: stringify(example('configuration')),
  env: {},
  flags: {},
  supportedSchedulers: ['default-scheduler'],
}).configuration;

test('the rights for kinds of one’s own are those that the program asks for', () => {
  const rules = configuredWorkloadRights(gangKindsWith(workloads));
  expect(example('rights')['rules']).toEqual([
    {
      apiGroups: [...new Set(rules.map(({ group }) => group))],
      resources: rules.flatMap(({ resources }) => resources),
      verbs: rules[0]?.verbs,
    },
  ]);
});

const GANGS = [
  ['trainer', 'trainer-bert', 'driver 1, worker 3'],
  ['job', 'job-train', 'main 4'],
  ['cronjob', 'job-nightly-0', 'main 4'],
  ['statefulset', 'statefulset-db', 'main 3'],
  ['deployment', 'replicaset-web-hash', 'main 3'],
  ['jobset', 'jobset-train', 'leader 1, worker 4'],
  ['leaderworkerset', 'lws-vllm--0', 'leader 1, worker 3'],
  ['pytorchjob', 'pytorchjob-bert', 'master 1, worker 3'],
  ['mpijob', 'mpijob-hpl', 'launcher 1, worker 4'],
  ['volcano', 'vcjob-train', 'ps 1, worker 3'],
  ['runtime', 'jobset-torch-gang', 'node 1'],
  ['raycluster', 'raycluster-ray', 'ray-head 1, gpu 3'],
  ['rayjob', 'raycluster-tune-hash', 'ray-head 1, gpu 3'],
  ['rayservice', 'raycluster-llm-hash', 'ray-head 1, gpu 2'],
] as const;

test('there is no example that nobody tries', () => {
  const others = ['configuration', 'rights'];
  expect(exampleNames().toSorted()).toEqual([...GANGS.map(([name]) => name), ...others].toSorted());
});

test.each(GANGS)('%s is %s', (name, gang, groups) => {
  const source = {
    object: example(name),
    file: `${name}.yaml`,
    locate: () => ({ line: 1, column: 1 }),
    written: () => undefined,
  };
  const context = {
    policy: { ...policy(), gangKinds: gangKindsWith(workloads) },
    namespace: 'default',
    username: 'somebody',
  };
  const results = reviewObject(source as never, context);
  expect(results.filter(({ allowed }) => !allowed)).toEqual([]);
  const made = results.filter((result) => result.made !== undefined);
  expect(made.map(({ ref }) => ref.name)).toEqual([gang]);
  const spec = made[0]?.stored?.['spec'] as { podgroups: { name: string; minReplicas: number }[] };
  expect(spec.podgroups.map((one) => `${one.name} ${one.minReplicas}`).join(', ')).toBe(groups);
});

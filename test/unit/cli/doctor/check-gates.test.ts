/** Feature gates and `--runtime-config` of a control plane, by table. */
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { checkGates } from '../../../../src/cli/doctor/check-gates.ts';
import { found, unread } from '../../../../src/cli/doctor/diagnosis.ts';
import { told } from './told.ts';

const pod = (component: string, ...command: string[]): JsonObject => ({
  metadata: { name: `${component}-1`, labels: { component } },
  spec: { containers: [{ command }] },
});
const ofImage = (tag: string, component: string, flags: string): JsonObject => ({
  metadata: { name: `${component}-1`, labels: { component } },
  spec: { containers: [{ image: `registry.example/${component}:${tag}`, command: [component, flags] }] },
});
const checkOn =
  (kubernetes: string, api: string) =>
  (...pods: JsonObject[]) =>
    told(checkGates({ api, kubernetes, pods: found(pods) }));

const on136 = checkOn('v1.36.3', 'scheduling.k8s.io/v1alpha2');
const on137 = checkOn('v1.37.2', 'scheduling.k8s.io/v1beta1');
const unserved = checkOn('v1.37.2', 'none');
const ON = '--feature-gates=GenericWorkload=true';
const SERVED = '--runtime-config=scheduling.k8s.io/v1beta1=true';

describe('what a program has to go by', () => {
  test.each([
    ['both', ['--feature-gates=GenericWorkload=true,GangScheduling=true']],
    ['in two words', ['--feature-gates', 'GenericWorkload=true,GangScheduling=true']],
    ['in two flags', [ON, '--feature-gates=GangScheduling=true']],
    ['all of a stage', ['--feature-gates=AllAlpha=true']],
  ])('on: %s', (_what, flags) => {
    expect(on136(pod('kube-scheduler', ...flags))).toEqual([
      'ok backends/feature gates: kube-scheduler run with the feature gates of scheduling.k8s.io/v1alpha2',
    ]);
  });
  test('off: one of them, by name, though its stage is on', () => {
    const flags = '--feature-gates=AllAlpha=true,GangScheduling=false,WorkloadAwarePreemption=false';
    expect(on136(pod('kube-scheduler', flags))).toEqual([
      'problem backends/feature gates: the API server has native gangs (scheduling.k8s.io/v1alpha2), and kube-scheduler (Pod kube-scheduler-1) runs without the feature gate GangScheduling: PodGroups are stored and nobody counts by them, so a gang is placed Pod by Pod → add --feature-gates=GangScheduling=true to the flags of kube-scheduler, or set config.api to none in the profile default-scheduler',
    ]);
  });
  test('of 1.37, where one gate is left, and beta', () => {
    for (const on of ['GenericWorkload', 'AllBeta']) {
      expect(on137(pod('kube-scheduler', `--feature-gates=${on}=true`))[0]).toMatch(/^ok /);
    }
    expect(on137(pod('kube-controller-manager', '--v=2'))).toEqual([
      'problem backends/feature gates: the API server has native gangs (scheduling.k8s.io/v1beta1), and kube-controller-manager (Pod kube-controller-manager-1) runs without the feature gate GenericWorkload: PodGroups that are deleted never go, nor do their namespaces → add --feature-gates=GenericWorkload=true to the flags of kube-controller-manager, or set config.api to none in the profile default-scheduler',
    ]);
  });
  test('of its own free will, where the API server keeps what stands on it', () => {
    const more = `${ON},TopologyAwareWorkloadScheduling=true`;
    const scheduler = pod('kube-scheduler', ON);
    expect(on137(pod('kube-apiserver', more, SERVED), scheduler)).toEqual([
      'problem backends/feature gates: kube-apiserver runs with the feature gate TopologyAwareWorkloadScheduling and kube-scheduler (Pod kube-scheduler-1) without: what stands on it is stored, and nothing is placed by it → add --feature-gates=TopologyAwareWorkloadScheduling=true to the flags of kube-scheduler, or take TopologyAwareWorkloadScheduling out of those of kube-apiserver',
    ]);
    expect(on137(pod('kube-apiserver', ON, SERVED), scheduler)[0]).toMatch(/^ok /);
  });
  test('nothing to say without native gangs, or where nobody sees the control plane', () => {
    expect([unserved(pod('kube-scheduler')), on136(), on136(pod('etcd'))]).toEqual([[], [], []]);
    const api = 'scheduling.k8s.io/v1alpha2';
    expect(checkGates({ api, kubernetes: 'v1.36.3', pods: unread('may not') })).toEqual([]);
  });
});

describe('what stops a program as it starts', () => {
  test.each([
    [checkOn('v1.37.2', 'none'), 'GangScheduling=false', 'GangScheduling', '1.37'],
    [checkOn('v1.37.2', 'none'), 'WorkloadAwarePreemption=true', 'WorkloadAwarePreemption', '1.37'],
    [checkOn('v1.36.3', 'none'), 'CompositePodGroup=true', 'CompositePodGroup', '1.36'],
    [
      checkOn('v1.35.4', 'none'),
      'TopologyAwareWorkloadScheduling=true',
      'TopologyAwareWorkloadScheduling',
      '1.35',
    ],
    [checkOn('v1.34.4', 'none'), 'GenericWorkload=true', 'GenericWorkload', '1.34'],
  ])('a gate that its release does not have: %#', (check, flag, name, minor) => {
    expect(check(pod('kube-controller-manager', `--feature-gates=${flag}`))).toEqual([
      `problem backends/feature gates: kube-controller-manager (Pod kube-controller-manager-1) is given the feature gate ${name}, which Kubernetes ${minor} does not have: it does not start again → take ${name} out of the --feature-gates of kube-controller-manager`,
    ]);
  });
  test('by the release of its image, where an upgrade is half done', () => {
    const flags = '--feature-gates=GenericWorkload=true,GangScheduling=true';
    const found = (tag: string) => on137(ofImage(tag, 'kube-scheduler', flags));
    expect(found('v1.36.3')).toEqual([
      'ok backends/feature gates: kube-scheduler run with the feature gates of scheduling.k8s.io/v1beta1',
    ]);
    for (const tag of ['v1.37.0@sha256:00', 'latest']) expect(found(tag)[0]).toMatch(/1\.37 does not have/);
  });
  test('of a release that nobody knows here, nothing is said', () => {
    const check = checkOn('v1.40.0', 'none');
    expect(check(pod('kube-scheduler', '--feature-gates=GangScheduling=true'))).toEqual([]);
  });
  test('a gate without those that it builds on', () => {
    const composite = '--feature-gates=GenericWorkload=true,CompositePodGroup=true';
    expect(unserved(pod('kube-controller-manager', composite))).toEqual([
      'problem backends/feature gates: kube-controller-manager (Pod kube-controller-manager-1) has TopologyAwareWorkloadScheduling off, on which its feature gate CompositePodGroup builds: it does not start again → add --feature-gates=TopologyAwareWorkloadScheduling=true to the flags of kube-controller-manager, or take CompositePodGroup out of them',
    ]);
    // All of alpha, and in 1.37 not what it builds on.
    const alpha = 'TopologyAwareWorkloadScheduling, CompositePodGroup, PodGroupPreemptionPolicy';
    expect(on137(pod('kube-scheduler', '--feature-gates=AllAlpha=true'))).toEqual([
      `problem backends/feature gates: kube-scheduler (Pod kube-scheduler-1) has GenericWorkload off, on which its feature gate ${alpha} builds: it does not start again → add --feature-gates=GenericWorkload=true to the flags of kube-scheduler, or take ${alpha} out of them`,
    ]);
  });
});

describe('a scheduler that waits for what is not served', () => {
  const waits = (name: string, lacks: string): string[] => [
    `problem backends/feature gates: kube-scheduler (Pod kube-scheduler-1) runs with the feature gate ${name}, and kube-apiserver (Pod kube-apiserver-1) without ${lacks}: the scheduler waits for what is not served, and schedules no Pod at all → add ${lacks} to the flags of kube-apiserver, or take ${name} out of those of kube-scheduler`,
  ];
  test.each([
    ['neither gate nor version', [], `${ON} ${SERVED}`],
    ['no version', [ON], SERVED],
    ['no gate', [SERVED], ON],
    ['the other version', [ON, '--runtime-config=scheduling.k8s.io/v1alpha3=true'], SERVED],
    ['switched off again', [ON, '--runtime-config=api/all=true,scheduling.k8s.io/v1beta1=false'], SERVED],
  ])('%s', (_what, flags, lacks) => {
    expect(unserved(pod('kube-apiserver', ...flags), pod('kube-scheduler', ON))).toEqual(
      waits('GenericWorkload', lacks),
    );
  });
  test.each([
    ['--runtime-config', 'scheduling.k8s.io/v1beta1'],
    ['--runtime-config=api/beta=true'],
    ['--runtime-config=api/all=true'],
  ])('not with %s', (...flags) => {
    expect(unserved(pod('kube-apiserver', ON, ...flags), pod('kube-scheduler', ON))).toEqual([]);
  });
  test('CompositePodGroup takes a version of its own', () => {
    const all = `${ON},TopologyAwareWorkloadScheduling=true,CompositePodGroup=true`;
    const [api, scheduler] = [pod('kube-apiserver', all, SERVED), pod('kube-scheduler', all)];
    const more = '--runtime-config=scheduling.k8s.io/v1alpha3=true';
    expect(on137(api, scheduler)).toEqual(waits('CompositePodGroup', more));
    for (const flags of [[SERVED, more], [`${SERVED},scheduling.k8s.io/v1alpha3=true`]]) {
      expect(on137(pod('kube-apiserver', all, ...flags), scheduler)[0]).toMatch(/^ok /);
    }
  });
  test('1.35 reads Workloads by another gate than it serves them', () => {
    const check = checkOn('v1.35.4', 'none');
    const scheduler = pod('kube-scheduler', `${ON},GangScheduling=true`);
    expect(check(pod('kube-apiserver', ON), scheduler)).toEqual(
      waits('GangScheduling', '--runtime-config=scheduling.k8s.io/v1alpha1=true'),
    );
    expect(check(pod('kube-apiserver', ON), pod('kube-scheduler', ON))[0]).toMatch(/^warning /);
  });
});

test('an API server with one half of what it takes', () => {
  const half = (has: string, lacks: string): string[] => [
    `warning backends/feature gates: kube-apiserver (Pod kube-apiserver-1) runs with ${has} and without ${lacks}: one does nothing without the other → add ${lacks} to the flags of kube-apiserver, or take ${has} out of them`,
  ];
  expect(unserved(pod('kube-apiserver', ON))).toEqual(half(ON, SERVED));
  expect(unserved(pod('kube-apiserver', SERVED))).toEqual(half(SERVED, ON));
  // Who switches on all of a stage does not ask for gangs.
  expect(unserved(pod('kube-apiserver', '--feature-gates=AllBeta=true'))).toEqual([]);
  expect(unserved(pod('kube-apiserver', '--runtime-config=api/all=true'))).toEqual([]);
});

/** Pods of plain workloads that name an HPCPolicy: prepared before their gang is made, and alike once it is. */
import { describe, expect, test } from '@jest/globals';
import { decideRequest } from '../../../src/admission/endpoints.ts';
import type { Policy } from '../../../src/admission/policy.ts';
import { parseReview } from '../../../src/admission/review.ts';
import { parsePodGang } from '../../../src/gang/parse-pod-gang.ts';
import { own, ownObject, ownString, type JsonObject } from '../../../src/json/json.ts';
import { previewGang } from '../../../src/workloads/preview-gang.ts';
import { checkFluxGang } from '../../../src/preparers/flux/preparer.ts';
import { hostGroups, hostNames } from '../../../src/preparers/hosts/hosts.ts';
import { settings } from '../../support/hpc.ts';
import { expectSettled, specOf, underHpc } from '../../support/hpc-gangs.ts';
import { podGang } from '../../support/pod-gangs.ts';
import { endpointOf, mutatePod, review, rulesOf, textsOf, validatePod } from '../../support/reviews.ts';
import { workloadPod } from '../../support/workload-pods.ts';
import { preparedBy } from '../api/rule-examples-hpc-pods.ts';

const FLUX_MARK = 'flux@68cf5eaa';
const POLICY = { 'muster.dev/hpc-policy': 'flux' };
const metadata = { labels: { 'muster.dev/gang': 'true' }, annotations: POLICY };
const template = { metadata, spec: {} };
type Given = Parameters<typeof workloadPod>;
const podOf = (given: Given, hostname: string | undefined, subdomain?: string): JsonObject => {
  const [short, name, group, parts] = given;
  const made = workloadPod(short, name, group, { annotations: POLICY, ...parts });
  const containers = [{ name: 'main', image: 'lammps', command: ['lmp'] }];
  return {
    ...made,
    spec: {
      ...(made['spec'] as JsonObject),
      ...(hostname !== undefined && { hostname }),
      ...(subdomain !== undefined && { subdomain }),
      containers,
    },
  };
};
const workload = (apiVersion: string, kind: string, spec: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: 'lammps', namespace: 'ml' },
  spec,
});

const job = workload('batch/v1', 'Job', { parallelism: 3, completions: 3, template });
const jobSet = workload('jobset.x-k8s.io/v1alpha2', 'JobSet', {
  replicatedJobs: [
    { name: 'lead', template: { spec: { template } } },
    { name: 'node', replicas: 2, template: { spec: { parallelism: 2, completions: 2, template } } },
  ],
});
const leaderWorkerSet = workload('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', {
  replicas: 2,
  leaderWorkerTemplate: { size: 3, workerTemplate: template },
});
const statefulSet = workload('apps/v1', 'StatefulSet', { replicas: 2, template });
const NODE = 'jobset.sigs.k8s.io/job-index';

describe('a Pod whose template has label and annotation, of', () => {
  test.each<readonly [string, JsonObject, JsonObject, string, string[]]>([
    [
      'an Indexed Job',
      job,
      podOf(['job', 'lammps'], 'lammps-2'),
      'job-lammps',
      ['lammps-0', 'lammps-1', 'lammps-2'],
    ],
    [
      'a StatefulSet',
      statefulSet,
      podOf(['statefulset', 'lammps'], 'lammps-0', 'svc'),
      'svc',
      ['lammps-0', 'lammps-1'],
    ],
    [
      'a JobSet',
      jobSet,
      podOf(
        ['jobset', 'lammps', 'node', { labels: { [NODE]: '1' }, controller: { name: 'lammps-node-1' } }],
        'lammps-node-1-0',
        'lammps',
      ),
      'lammps',
      ['lammps-lead-0-0', 'lammps-node-0-0', 'lammps-node-0-1', 'lammps-node-1-0', 'lammps-node-1-1'],
    ],
    [
      'a LeaderWorkerSet, its worker',
      leaderWorkerSet,
      podOf(['lws', 'lammps', 'worker', { part: '1' }], 'lammps-1-2', 'lammps'),
      'lammps',
      ['lammps-1', 'lammps-1-1', 'lammps-1-2'],
    ],
    [
      'a LeaderWorkerSet, its leader',
      leaderWorkerSet,
      podOf(['lws', 'lammps', 'leader', { part: '1' }], 'lammps-1', 'lammps'),
      'lammps',
      ['lammps-1', 'lammps-1-1', 'lammps-1-2'],
    ],
  ])(
    '%s, keeps its host name, before its gang and after, which lists all of them',
    (_, object, pod, subdomain, hosts) => {
      const before = underHpc();
      const stored = preparedBy(pod, before);
      const hostname = own(pod['spec'], 'hostname');
      expect(specOf(stored)).toMatchObject({
        ...{ hostname, subdomain, initContainers: [{ name: 'flux-installer' }] },
        containers: [{ command: ['/bin/bash', '/etc/flux-config/entrypoint.sh', '--', 'lmp'] }],
      });
      expect(stored).toMatchObject({
        metadata: { annotations: { 'muster.dev/prepared': FLUX_MARK } },
      });
      expectSettled(stored, before);

      const name = ownString(ownObject(ownObject(stored, 'metadata'), 'labels'), 'grove.io/podgang') ?? '';
      const made = previewGang(stored, object, { namespace: 'ml', name })?.gang;
      expect(made).toMatchObject({ metadata: { annotations: POLICY } });
      const { gang } = parsePodGang(made ?? {}, 'ml');
      expect(checkFluxGang(gang, settings(), subdomain)).toEqual([]);
      expect(hostNames(hostGroups(gang))).toEqual(hosts);
      const after = underHpc({}, { gang: made ?? {} });
      expect(preparedBy(pod, after)).toEqual(stored);
      expectSettled(stored, after);
      const beyond = { ...pod, spec: { ...(pod['spec'] as JsonObject), hostname: `lammps-9-9` } };
      expect(rulesOf(mutatePod({ object: beyond }, after))).toEqual(['HpcHostUnlisted']);
    },
  );
});

describe('a Pod that names an HPCPolicy', () => {
  const refused = (object: JsonObject, under: Policy, rule: string, says: string): void => {
    const decision = mutatePod({ object }, under);
    expect(rulesOf(decision)).toEqual([rule]);
    expect(textsOf(decision).join()).toContain(says);
  };
  const indexed = podOf(['job', 'lammps'], 'lammps-0');

  test('before its gang is refused where its host name is not known, its kind gives none, or the policy is not there', () => {
    refused(podOf(['job', 'lammps'], undefined), underHpc(), 'HpcHostRequired', 'spec.hostname');
    const worker = podOf(['pytorchjob', 'bert', 'worker'], 'bert-worker-0');
    refused(worker, underHpc(), 'HpcGangUnmade', 'a PyTorchJob names no hosts');
    const none = podOf(['job', 'lammps', 'main', { annotations: { 'muster.dev/hpc-policy': 'flx' } }], 'a-0');
    refused(none, underHpc(), 'HpcPolicyMissing', '"flx"');
    const managed = underHpc({}, { spec: { torch: { procPerNode: 2 } } });
    refused(indexed, managed, 'HpcGangUnmade', 'spec.torch tells each Pod the number of all');
  });

  test('is prepared by the PodGang of its name, which is asked for first where no watch has it, and never by another policy', () => {
    const gang = podGang({
      metadata: { name: 'job-lammps' },
      annotations: { 'muster.dev/hpc-policy': 'solo' },
    });
    refused(indexed, underHpc({}, { gang }), 'HpcPolicyForeign', '(it has solo)');
    const read = () => Promise.reject(new Error('only asked for'));
    const watched = underHpc({}, { gang });
    const asking = { ...watched, placement: watched.placement && { ...watched.placement, read } };
    const needs = { needs: { namespace: 'ml', gang: 'job-lammps' } };
    expect(
      decideRequest(endpointOf('mutate', 'Pod'), parseReview(review('Pod', { object: indexed })), asking),
    ).toMatchObject(needs);
    const unnamed = podGang({ metadata: { name: 'job-lammps' } });
    refused(indexed, underHpc({}, { gang: unnamed }), 'HpcPolicyForeign', '(it has none)');
  });

  test('of an earlier workload’s PodGang nothing is taken over', () => {
    const annotations = { 'muster.dev/workload': 'job/lammps', 'muster.dev/workload-uid': 'gone' };
    const earlier = (more: Record<string, string>): JsonObject =>
      podGang({ metadata: { name: 'job-lammps' }, annotations: { ...annotations, ...more } });
    const under = underHpc({}, { gang: earlier({ 'muster.dev/hpc-policy': 'solo' }) });
    expect(specOf(preparedBy(indexed, under))).toMatchObject({ hostname: 'lammps-0' });
    const plain = workloadPod('job', 'lammps');
    expect(specOf(preparedBy(plain, under))).not.toHaveProperty('initContainers');
  });

  test('and its gang itself leaves the choice to the PodGang; one that is prepared by none is told so', () => {
    const named = workloadPod('job', 'lammps', 'main', {
      ...{ annotations: POLICY, labels: { 'muster.dev/gang': undefined, 'grove.io/podgang': 'x' } },
    });
    expect(JSON.stringify(mutatePod({ object: named }, underHpc()))).not.toContain('flux-installer');
    const disabled = { ...underHpc(), hpc: undefined };
    expect(mutatePod({ object: indexed }, disabled)).toMatchObject({
      faults: [],
      warnings: [
        'metadata.annotations[muster.dev/hpc-policy]: nothing is prepared: hpc.enabled is false, tell whoever runs Muster',
      ],
    });
    expect(validatePod({ object: preparedBy(indexed, disabled) }, disabled).faults).toEqual([]);
  });
});

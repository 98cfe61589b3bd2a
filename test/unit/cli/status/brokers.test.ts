import type { HpcStatus } from '../../../../src/status/gang-status.ts';
import { describe, expect, test } from '@jest/globals';
import { hostsText, hpcStatusOf, type FoundPolicy } from '../../../../src/status/brokers.ts';
import { treeLines } from '../../../../src/cli/status/view.ts';
import type { PodRecord } from '../../../../src/gang/records.ts';
import { readPodRecord } from '../../../../src/gang/read-records.ts';
import { preparedMarkOf } from '../../../../src/preparers/registry.ts';
import { parseHpcPolicy } from '../../../../src/preparers/policy/hpc-policy.ts';
import type { Json } from '../../../../src/json/json.ts';
import { hpcPolicy } from '../../../support/hpc.ts';
import { hpcPod } from '../../../support/hpc-gangs.ts';
import { bound, gang, group, NOW, pod, printed, statusOf } from './gangs.ts';

const stored = (spec: Json = { hpc: { manager: 'flux', settings: {} } }): FoundPolicy => {
  const { policy, faults } = parseHpcPolicy(hpcPolicy(spec), 'ml');
  return { policy, wrong: faults[0]?.field };
};
const under = (settings: Json): FoundPolicy => stored({ hpc: { manager: 'flux', settings } });

const HPC = gang({
  annotations: new Map([['muster.dev/hpc-policy', 'flux']]),
  groups: [group('leader', 1), group('workers', 2)],
});
/** Stands for the mark of the policy as it is. */
const AS_NOW = 'flux@';
/** A Pod of an Indexed Job, whose name has five letters more than its host. */
const broker = (host: string, parts: Partial<PodRecord> = {}): PodRecord =>
  bound(`${host}-x7k2p`, {
    group: host.replace(/-\d+$/, ''),
    prepared: AS_NOW,
    hostname: host,
    phase: 'Running',
    ready: true,
    ...parts,
  });

const judged = (given: readonly PodRecord[], found = stored(), of = HPC): HpcStatus => {
  const now = typeof found === 'object' && 'policy' in found ? preparedMarkOf(found.policy) : 'flux@1';
  const pods = given.map((one) => (one.prepared === AS_NOW ? { ...one, prepared: now } : one));
  return hpcStatusOf(of, 'flux', found, { pods, states: statusOf([of], pods).pods });
};
const told = (...given: Parameters<typeof judged>): string => {
  const { why, ...hosts } = judged(...given);
  return [why, hostsText(hosts)].filter((part) => part !== '').join(' | ');
};

const GATED = { gates: ['grove.io/podgang-pending-creation'], nodeName: '', phase: 'Pending', ready: false };

test('of a gang under another manager its policy is told, and what is wrong, but no hosts', () => {
  const { policy } = parseHpcPolicy(hpcPolicy({ hpc: { manager: 'slurm' } }), 'ml', 'any');
  expect(judged([broker('leader-0')], { policy, wrong: undefined })).toEqual({ policy: 'flux', why: '' });
});

describe('the brokers of a gang under Flux', () => {
  test('those that the lead waits for, each with where it is', () => {
    const pods = [broker('leader-0'), broker('workers-0', { ready: false })];
    expect(judged(pods)).toEqual({
      policy: 'flux',
      why: '',
      flux: {
        lead: { host: 'leader-0', pod: 'leader-0-x7k2p', state: 'running' },
        expected: 3,
        there: 2,
        ready: 1,
        quorum: 3,
        waitsFor: [
          { host: 'workers-0', pod: 'workers-0-x7k2p', state: 'starting' },
          { host: 'workers-1', pod: '', state: 'missing' },
        ],
      },
    });
    expect(told(pods)).toBe(
      'Flux: lead leader-0 (running, Pod leader-0-x7k2p); 2 of 3 brokers there, 1 ready, quorum 3; waits for workers-0 (starting), workers-1 (missing)',
    );
  });

  test.each([
    [
      'nobody is there',
      [],
      'Flux: lead leader-0 (missing); 0 of 3 brokers there, 0 ready, quorum 3; waits for leader-0 (missing), workers-0 (missing), workers-1 (missing)',
    ],
    [
      'all are ready',
      ['leader-0', 'workers-0', 'workers-1'].map((host) => broker(host)),
      'Flux: lead leader-0 (running, Pod leader-0-x7k2p); 3 of 3 brokers there, 3 ready, quorum 3',
    ],
    [
      'the program has ended',
      [broker('leader-0', { phase: 'Succeeded', ready: false }), broker('workers-0', { ready: false })],
      'Flux: lead leader-0 (succeeded, Pod leader-0-x7k2p); the program has ended',
    ],
    [
      'the program has failed',
      [broker('leader-0', { phase: 'Failed', ready: false }), broker('workers-0')],
      'Flux: lead leader-0 (failed, Pod leader-0-x7k2p); the program, or the broker that led it, has failed; 2 of 3 brokers there, 1 ready, quorum 3',
    ],
    [
      'its Pod is called as its host',
      [pod('leader-0', { ...GATED, prepared: 'flux@0', hostname: 'leader-0' })],
      'Flux: lead leader-0 (gated); 1 of 3 brokers there, 0 ready, quorum 3; waits for leader-0 (gated), workers-0 (missing), workers-1 (missing)',
    ],
  ])('%s', (_, pods, text) => expect(told(pods)).toBe(text));

  test('with a quorum below the number of hosts it may start without the last', () => {
    const pods = [broker('leader-0'), broker('workers-0')];
    expect(told(pods, under({ quorum: '2' }))).toBe(
      'Flux: lead leader-0 (running, Pod leader-0-x7k2p); 2 of 3 brokers there, 2 ready, quorum 2; may start without workers-1 (missing)',
    );
  });

  test('lead-group leads, and expected Pods are hosts', () => {
    const more = {
      ...HPC,
      annotations: new Map([...HPC.annotations, ['muster.dev/expected-pods', 'workers=3']]),
    };
    expect(judged([], under({ 'lead-group': 'workers' }), more).flux).toMatchObject({
      lead: { host: 'workers-0' },
      expected: 4,
      quorum: 3,
    });
  });

  test('a Pod that follows another one under its name counts, not the one that goes', () => {
    const leaving = broker('leader-0', { name: 'leader-0-aaaaa', deletionTimestamp: '2026-06-01T11:59:59Z' });
    const failed = broker('workers-0', { name: 'workers-0-zzzzz', phase: 'Failed', ready: false });
    const { flux } = judged([leaving, broker('leader-0'), broker('workers-0'), failed]);
    expect(flux).toMatchObject({ lead: { pod: 'leader-0-x7k2p', state: 'running' }, ready: 2, there: 2 });
  });
});

describe('the Pods of a gang of PyTorch', () => {
  const all = ['leader-0', 'workers-0', 'workers-1'];
  const torch = stored({ torch: { procPerNode: 'gpu' } });
  test.each([
    [
      'some are there',
      [broker('leader-0'), broker('workers-1', { ready: false })],
      'PyTorch: first leader-0 (running, Pod leader-0-x7k2p); 2 of 3 Pods there, 1 ready; waits for workers-0 (missing), workers-1 (starting)',
    ],
    [
      'all are ready',
      all.map((host) => broker(host)),
      'PyTorch: first leader-0 (running, Pod leader-0-x7k2p); 3 of 3 Pods there, 3 ready',
    ],
    [
      'the first has ended',
      [broker('leader-0', { phase: 'Succeeded', ready: false }), broker('workers-0')],
      'PyTorch: first leader-0 (succeeded, Pod leader-0-x7k2p); the program has ended there',
    ],
  ])('%s', (_, pods, text) => expect(told(pods, torch)).toBe(text));

  test('are told of by number, and what stops them goes first', () => {
    expect(judged([broker('leader-0')], torch)).toMatchObject({
      why: '',
      torch: { expected: 3, there: 1, ready: 1, waitsFor: [{ host: 'workers-0' }, { host: 'workers-1' }] },
    });
    const wrong = { ...HPC, annotations: new Map([...HPC.annotations, ['muster.dev/expected-pods', 'x=3']]) };
    expect(told([], torch, wrong)).toMatch(/^metadata\.annotations\[.*\[HpcExpectedInvalid\]$/);
  });
});

describe('what stops it', () => {
  test.each([
    [
      'a policy that is not there',
      [],
      'missing' as const,
      'HPCPolicy flux does not exist in namespace ml: Pods of the gang are refused until it is created',
    ],
    [
      'one that was deleted under a running gang',
      [broker('leader-0')],
      'missing' as const,
      'HPCPolicy flux was deleted under its Pods: those that run go on, those with a gate are held, and further ones are refused until it is there again as it was',
    ],
    [
      'one that may not be read',
      [],
      { unread: 'HPCPolicy flux is not known' },
      'HPCPolicy flux is not known',
    ],
    [
      'one with faults',
      [],
      under({ 'flux-queue-policy': 'lifo' }),
      'Invalid value: "flux": the HPCPolicy of its gang has faults (spec.hpc.settings[flux-queue-policy]); correct the HPCPolicy: muster validate lists what is wrong with it [HpcPolicyUnusable]',
    ],
  ])('%s', (_, pods, found, why) => expect(judged(pods, found)).toEqual({ policy: 'flux', why }));

  test('a gang that cannot run so', () => {
    const { why, flux } = judged([], under({ quorum: '9' }));
    expect(why).toMatch(/^spec\.hpc\.settings\[quorum\]: .*3 are expected.*\[HpcQuorumTooLarge\]$/);
    expect(flux).toBeUndefined();
  });

  test('a policy that came back with other settings, for as long as one runs by those before', () => {
    const before = broker('leader-0', { prepared: 'flux@00000000' });
    expect(judged([before]).why).toMatch(
      /^metadata\.annotations\[muster\.dev\/hpc-policy\]: .*\(by 00000000, and it is [0-9a-f]{8}\); create the HPCPolicy as it was, or delete those Pods, so that the gang starts anew \[HpcPolicyReplaced\]$/,
    );
    expect(judged([{ ...before, phase: 'Failed' }, broker('leader-0')]).why).toBe('');
  });

  test('a Pod that was created before its policy is no broker', () => {
    const { why, flux } = judged([broker('leader-0'), pod('workers-0')]);
    expect(why).toBe(
      'Pod workers-0 was not prepared when it was created (is hpc.enabled set, and was the policy there?): delete it, so that it is made anew',
    );
    expect(flux).toMatchObject({ there: 1 });
  });
});

test('both stand under the reason of the gang', () => {
  const pods = [broker('leader-0')];
  const status = statusOf([HPC], pods);
  const hpc = judged(pods);
  const lines = printed(
    treeLines({ ...status, hpc: { ...hpc, why: 'HPCPolicy flux: no\u001b[31m' } }, { now: NOW, width: 100 }),
  );
  expect(lines.slice(1, 5)).toEqual([
    status.why,
    'HPCPolicy flux: no\\u{1b}[31m',
    'Flux: lead leader-0 (running, Pod leader-0-x7k2p); 1 of 3 brokers there, 1 ready, quorum 3; waits',
    'for workers-0 (missing), workers-1 (missing)',
  ]);
});

test('the host of a Pod is its hostname, or its name; of one that nobody prepared it is none', () => {
  const named = { 'muster.dev/prepared': 'flux@00000000' };
  expect(readPodRecord(hpcPod({ annotations: named })).hostname).toBe('worker-0');
  expect(
    readPodRecord(hpcPod({ annotations: named, metadata: { name: 'worker-3' }, spec: { hostname: '' } }))
      .hostname,
  ).toBe('worker-3');
  expect(readPodRecord(hpcPod()).hostname).toBeUndefined();
});

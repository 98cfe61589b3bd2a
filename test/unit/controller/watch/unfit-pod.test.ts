/** Pods that came before their gang, and cannot start with the others: they hold the gang, which says why. */
import { expect, test } from '@jest/globals';
import { GATE_POD_GANG_PENDING } from '../../../../src/api/names.ts';
import { unfitPod } from '../../../../src/controller/watch/unfit-pod.ts';
import type { PodRecord } from '../../../../src/gang/records.ts';
import { gangOf } from '../../../support/hpc.ts';

const MARK = 'flux@1234abcd';
const GANG = { ...gangOf({ main: 2 }), annotations: new Map([['muster.dev/hosts', 'main=ocean-[0-1]']]) };
const POLICY = { name: 'flux', managed: undefined };
const pod = (hostname: string, more: Partial<PodRecord> = {}): PodRecord =>
  ({
    ...{ name: `${hostname}-x`, group: 'main', hostname, prepared: MARK, gates: [GATE_POD_GANG_PENDING] },
    ...more,
  }) as PodRecord;

test.each<[string, readonly PodRecord[], string | undefined]>([
  ['nobody, where all are as the gang says', [pod('ocean-0'), pod('ocean-1')], undefined],
  [
    'one that is stored as it was written',
    [pod('ocean-0'), pod('ocean-1', { prepared: undefined })],
    'Pod ocean-1-x is not prepared by HPCPolicy flux as it is now: delete it, so that it is made anew',
  ],
  [
    'one of which no other Pod is told',
    [pod('ocean-0'), pod('ocean-2')],
    'Pod ocean-2-x has the host name ocean-2, and muster.dev/hosts of the gang says ocean-[0-1] for its group',
  ],
  ['none that has started', [pod('ocean-0'), pod('ocean-2', { gates: [] })], undefined],
])('held by %s', (_, pods, says) => {
  expect(unfitPod(GANG, POLICY, MARK, pods)).toBe(says);
});

test('hosts are known to Muster alone where it prepares the Pods, and where the gang names them', () => {
  const pods = [pod('sea-7')];
  expect(unfitPod(gangOf({ main: 2 }), POLICY, MARK, pods)).toBeUndefined();
  const managed = { manager: 'hostfile', settings: {} };
  expect(unfitPod(GANG, { ...POLICY, managed }, MARK, pods)).toBeUndefined();
});

/** A gang has a backend and is prepared besides: whichever backend that is, its Pods have both parts. */
import { expect, test } from '@jest/globals';
import type { Json } from '../../../src/json/json.ts';
import { group, podGang } from '../../support/pod-gangs.ts';
import { expectSettled, hpcPod, specOf, underHpc } from '../../support/hpc-gangs.ts';
import { preparedBy } from '../api/rule-examples-hpc-pods.ts';

/** By backend: its scheduler, and what it writes into a Pod besides. */
const BACKENDS: readonly (readonly [string, string, RegExp])[] = [
  ['default-scheduler', 'default-scheduler', /"grove.io\/podgang-pending-creation"/],
  ['kai-scheduler', 'kai-scheduler', /"pod-group-name":"ml.train"/],
  ['volcano', 'volcano', /"scheduling.k8s.io\/group-name":"train"/],
  ['coscheduling', 'scheduler-plugins-scheduler', /"scheduling.x-k8s.io\/pod-group":"train"/],
];
const PREPARATIONS: Record<string, { readonly spec: Json; readonly part: RegExp }> = {
  flux: {
    spec: { hpc: { manager: 'flux' } },
    part: /\/etc\/flux-config\/entrypoint.*"name":"flux-installer"/,
  },
  torch: { spec: { torch: { procPerNode: 2 } }, part: /"name":"PET_NPROC_PER_NODE","value":"2"/ },
};

test.each(
  BACKENDS.flatMap(([backend, scheduler, mark]) =>
    Object.keys(PREPARATIONS).map((manager) => ({ backend, scheduler, mark, manager })),
  ),
)('$backend with $manager: a Pod has the parts of both', ({ backend, scheduler, mark, manager }) => {
  const { spec = {}, part } = PREPARATIONS[manager] ?? {};
  const gang = podGang({
    annotations: { 'muster.dev/hpc-policy': 'flux' },
    labels: { 'grove.io/scheduler-name': backend },
    groups: [group('worker', { minReplicas: 4 })],
  });
  const under = underHpc({}, { gang, spec });
  const object = hpcPod({ labels: { 'grove.io/scheduler-name': backend } });
  const stored = preparedBy(object, under);
  expect(specOf(stored)).toMatchObject({ schedulerName: scheduler, subdomain: 'train' });
  expect(JSON.stringify(stored)).toMatch(part ?? /^$/);
  expect(JSON.stringify(stored)).toMatch(mark);
  expect(stored).toMatchObject({
    metadata: { annotations: { 'muster.dev/prepared': expect.stringMatching(/^flux@/) } },
  });
  expectSettled(stored, under);
});

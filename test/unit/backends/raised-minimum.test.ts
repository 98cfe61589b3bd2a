/** A minimum that is raised above the Pods of a gang that was let go: what each scheduler makes of it is told, and let in. */
import { describe, expect, test } from '@jest/globals';
import { builtInBackends } from '../../../src/backends/registry.ts';
import { native } from '../../../src/backends/native/backend.ts';
import { raisedMinimums } from '../../../src/backends/shared-warnings.ts';
import { gangOf, made } from '../../support/made-backend.ts';
import {
  completeGroups,
  condition,
  group,
  INITIALIZED,
  NOT_INITIALIZED,
  podGang,
  references,
  statusOf,
} from '../../support/pod-gangs.ts';
import { policy } from '../../support/policy.ts';
import { validatePodGang } from '../../support/reviews.ts';
import { kubeOn, serving } from './native/served.ts';

const running = { groups: completeGroups(), status: statusOf(INITIALIZED) };
const raised = {
  groups: [
    group('leader', { podReferences: references('leader-0') }),
    group('worker', { minReplicas: 4, podReferences: references('worker-0', 'worker-1') }),
  ],
  status: statusOf(INITIALIZED),
};
const SAID = 'worker 2 to 4 (has 2)';

describe('raised', () => {
  test.each([
    ['above the Pods of a gang that runs', running, raised, SAID],
    [
      'of a gang that was not let go yet',
      { ...running, status: statusOf(NOT_INITIALIZED) },
      raised,
      undefined,
    ],
    ['of a gang without status', { groups: completeGroups() }, raised, undefined],
    ['lowered', raised, running, undefined],
    ['not at all', raised, raised, undefined],
    [
      'to the Pods that are there',
      running,
      {
        ...raised,
        groups: [
          group('leader'),
          group('worker', { minReplicas: 4, podReferences: references('a', 'b', 'c', 'd') }),
        ],
      },
      undefined,
    ],
    [
      'while another condition is True',
      { ...running, status: statusOf(condition('Ready', 'True')) },
      raised,
      undefined,
    ],
  ])('%s', (_what, before, after, expected) => {
    expect(raisedMinimums(gangOf(before), gangOf(after))).toBe(expected);
  });
});

describe('every backend says what it does then', () => {
  test.each(builtInBackends)('$name', (factory) => {
    const [settings = {}] = Object.values(factory.conformance ?? {});
    const backend = made(factory, settings.config);
    const [warning, ...others] = backend.warnOfUpdate?.(gangOf(running), gangOf(raised)) ?? [];
    expect(warning).toContain(SAID);
    expect(warning).toContain(factory.name);
    expect(others).toEqual([]);
    expect(backend.warnOfUpdate?.(gangOf(running), gangOf(running))).toEqual([]);
  });

  test.each([
    ['v1beta1', 'asks for the raised minimum of those that come from now on'],
    ['v1alpha2', 'asks for the raised minimum of those that come from now on'],
    ['v1alpha1', 'Kubernetes changes no minimum of a native gang that Pods count on'],
  ] as const)('default-scheduler with %s', async (version, says) => {
    const backend = await kubeOn(serving(version));
    expect(backend.warnOfUpdate?.(gangOf(running), gangOf(raised))?.[0]).toContain(says);
    expect(made(native).warnOfUpdate?.(gangOf(running), gangOf(raised))?.[0]).toContain('knows no gang here');
  });

  test('and its author hears it', () => {
    const labels = { 'grove.io/scheduler-name': 'kai-scheduler', 'kai.scheduler/queue': 'q' };
    const { faults, warnings } = validatePodGang(
      { oldObject: podGang({ ...running, labels }), object: podGang({ ...raised, labels }) },
      policy({ enabled: ['kai-scheduler'] }),
    );
    expect(faults).toEqual([]);
    expect(warnings).toEqual([
      `kai-scheduler evicts all of a started gang that stays below a minimum for longer than its staleness grace period (60 s unless KAI is told otherwise): ${SAID}; create the Pods first, then raise minReplicas`,
    ]);
  });
});

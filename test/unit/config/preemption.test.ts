import { describe, expect, test } from '@jest/globals';
import { withoutGangPreemption } from '../../../src/backends/registry.ts';
import { formatFault } from '../../../src/config/config-fault.ts';
import { checkConfiguration } from '../../../src/config/load.ts';

const ALL = ['default-scheduler', 'kai-scheduler', 'volcano', 'coscheduling', 'toy'];

/** What is said of a configuration with these settings of preemption, in YAML's short form. */
function told(preemption: object, profiles: readonly string[] = ['kai-scheduler', 'coscheduling']): string[] {
  const text = JSON.stringify({
    apiVersion: 'operator.config.grove.io/v1alpha1',
    kind: 'OperatorConfiguration',
    scheduler: { profiles: profiles.map((name) => ({ name })) },
    preemption,
  });
  return checkConfiguration(text, { supportedSchedulers: ALL, actsFor: withoutGangPreemption() }).map(
    (fault) => formatFault(fault, 'c').replace(/^c:\d+:\d+: /, ''),
  );
}

describe('preemption.profiles', () => {
  test('are those whose scheduler leaves it to others: Kubernetes’ own, and coscheduling', () => {
    expect(withoutGangPreemption()).toEqual(['default-scheduler', 'coscheduling']);
    expect(told({ mode: 'Act', profiles: ['default-scheduler', 'coscheduling'] })).toEqual([]);
    expect(told({ mode: 'Act' })).toEqual([]);
  });

  test.each(['kai-scheduler', 'volcano', 'toy', 'typo'])(
    'not %s, which does it itself or is not known to leave it',
    (name) => {
      expect(told({ mode: 'Act', profiles: [name] })).toEqual([
        `error: preemption.profiles[0]: "${name}" makes room for its gangs itself, or nobody knows whether it does, and two would evict twice as much: take it out (possible: default-scheduler, coscheduling)`,
      ]);
    },
  );

  test('are enabled', () => {
    expect(told({ mode: 'Act', profiles: ['coscheduling'] }, [])).toEqual([
      'error: preemption.profiles[0]: "coscheduling" is not among scheduler.profiles: add it there, or take it out here',
    ]);
  });

  test('say nothing where nothing is done', () => {
    expect(told({ profiles: ['kai-scheduler', 'volcano'] })).toEqual([
      'warning: preemption.profiles: nothing is done: preemption.mode is Off',
    ]);
  });
});

test.each<[object, string]>([
  [{ mode: 'On' }, 'error: preemption.mode: unsupported value "On" (supported: Off, Act)'],
  [{ after: '10' }, 'error: preemption.after: must be a duration such as "15s" or "1m30s"'],
  [{ after: '0s' }, 'error: preemption.after: must be greater than 0'],
  [{ after: '-1s' }, 'error: preemption.after: must be greater than 0'],
  [{ limits: { victimsPerPlan: 0 } }, 'error: preemption.limits.victimsPerPlan: must be at least 1'],
  [{ limits: { victimsPerPlan: 257 } }, 'error: preemption.limits.victimsPerPlan: must be at most 256'],
  [{ limits: { plansPerMinute: 0 } }, 'error: preemption.limits.plansPerMinute: must be at least 1'],
  [{ exemptNamespaces: [''] }, 'error: preemption.exemptNamespaces[0]: must not be empty'],
])('%j: %s', (preemption, expected) => {
  expect(told(preemption)).toEqual([expected]);
});

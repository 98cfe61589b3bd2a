import { builtInBackends, BackendRegistry } from '../../../../src/backends/registry.ts';
import { gangStatus, type GangStatus } from '../../../../src/status/gang-status.ts';
import { painted, type Line } from '../../../../src/cli/status/table.ts';
import { paletteFor } from '../../../../src/cli/output/palette.ts';
import { Cache } from '../../../../src/kube/loop/cache.ts';
import { POD_INDEXERS } from '../../../../src/controller/watch/gang-view.ts';
import { EVERY_GANG } from '../../../../src/gang/gang-selection.ts';
import type { GangRecord, NamespaceRecord, PodRecord } from '../../../../src/gang/records.ts';

export {
  NOW,
  FULL,
  INITIALIZED,
  PODS,
  bound,
  gang,
  group,
  pod,
  running,
} from '../../gang/plan/gang-states.ts';

export const registry = new BackendRegistry(
  builtInBackends.map(({ name }) => ({ name })),
  'default-scheduler',
);

/**
 * What `muster status` makes of these objects; the gang `ml/train` unless another is given.
 * @param defaultBackend what is shown as the default; `configured`: there is a configuration that says it
 */
export function statusOf(
  gangs: readonly GangRecord[],
  pods: readonly PodRecord[],
  [namespace, name]: readonly [string, string] = ['ml', 'train'],
  defaultBackend = '(default)',
): GangStatus {
  const view = {
    gangs: new Cache<GangRecord>(),
    pods: new Cache<PodRecord>(POD_INDEXERS),
    namespaces: new Cache<NamespaceRecord>(),
  };
  const given = defaultBackend === 'configured' ? {} : { defaultBackend };
  for (const one of gangs) view.gangs.put(one);
  for (const one of pods) view.pods.put(one);
  return gangStatus(namespace, name, { view, registry, selectors: EVERY_GANG, ...given });
}

/** A gang for a table, where only these things matter. */
export const row = (parts: Partial<GangStatus> & { readonly phase?: 'Pending' | 'Running' }): GangStatus => {
  const { phase, ...rest } = parts;
  const judged = statusOf([], []);
  return {
    ...judged,
    backend: 'default-scheduler',
    creationTimestamp: '2026-06-01T11:59:15Z',
    summary: phase && {
      namespace: 'ml',
      name: 'train',
      backend: 'default-scheduler',
      phase,
      initialized: phase === 'Running',
      gatesLeft: phase === 'Running' ? 0 : 3,
      why: '',
      groups: [
        {
          name: 'leader',
          minReplicas: 1,
          expected: 1,
          present: 1,
          referenced: 1,
          bound: 1,
          ready: 1,
          gated: 0,
        },
        {
          name: 'worker',
          minReplicas: 2,
          expected: 4,
          present: 5,
          referenced: 2,
          bound: 2,
          ready: 1,
          gated: 3,
        },
      ],
    },
    why: '',
    ...rest,
  };
};

const plain = paletteFor('never', { env: {}, isTerminal: false });
export const printed = (lines: readonly Line[]): string[] => lines.map((line) => painted(line, plain));

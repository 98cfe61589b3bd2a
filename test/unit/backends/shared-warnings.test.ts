/** What a gang says about preemption reaches its scheduler, or its author is told that it does not. */
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import type { Backend, BackendFactory, ConformanceSettings } from '../../../src/backends/backend.ts';
import { builtInBackends } from '../../../src/backends/registry.ts';
import { gangOf, initContext, made } from '../../support/made-backend.ts';
import { group, type PodGangParts } from '../../support/pod-gangs.ts';
import { recordedSync } from '../../support/sync-context.ts';
import { kubeOn, serving } from './native/served.ts';

const COST = 'muster.dev/preemption-priority-class';
const MODE = 'muster.dev/disruption-mode';
const LABELS = { 'kai.scheduler/queue': 'q' };
const classed = (annotations: JsonObject = {}): PodGangParts => ({
  labels: LABELS,
  annotations,
  spec: { priorityClassName: 'low' },
});

const trials = builtInBackends.flatMap((factory): [string, BackendFactory, ConformanceSettings][] =>
  Object.entries(factory.conformance ?? {}).map(([title, settings]) => [
    `${factory.name}, ${title}`,
    factory,
    settings,
  ]),
);

async function looked(factory: BackendFactory, settings: ConformanceSettings): Promise<Backend> {
  const backend = made(factory, settings.config, settings.topology?.keys);
  if (settings.cluster !== undefined) await backend.init(initContext(settings.cluster));
  return backend;
}

/** What the scheduler gets to see of a gang. */
async function objectsOf(backend: Backend, parts: PodGangParts): Promise<string> {
  const { context, applied } = recordedSync({ read: () => Promise.resolve({ status: { state: 'Open' } }) });
  await backend.syncPodGang(context, gangOf(parts));
  return JSON.stringify(applied);
}

describe('of each backend', () => {
  test.each(trials)('%s', async (_name, factory, settings) => {
    const backend = await looked(factory, settings);
    const plain = await objectsOf(backend, classed());
    const heard = async (annotations: JsonObject): Promise<boolean> => {
      const { faults, warnings } = backend.validatePodGang(gangOf(classed(annotations)));
      expect(faults).toEqual([]);
      const [key = ''] = Object.keys(annotations);
      const told = warnings.some((text) => text.includes(`ignores metadata.annotations[${key}]`));
      return told || (await objectsOf(backend, classed(annotations))) !== plain;
    };
    expect(await heard({ [COST]: 'high' })).toBe(true);
    // One of the two modes a scheduler may keep to by itself.
    const modes = [await heard({ [MODE]: 'Pod' }), await heard({ [MODE]: 'PodGroup' })];
    expect(modes).toContain(true);
    // Who names the class that is meant anyway need not be told.
    expect(backend.validatePodGang(gangOf(classed({ [COST]: 'low' })))).toEqual(
      backend.validatePodGang(gangOf(classed())),
    );
    expect(backend.warnOfUpdate?.(gangOf(classed()), gangOf(classed({ [COST]: 'high' })))).toEqual([
      expect.stringContaining(
        `ignores metadata.annotations[${COST}]: it preempts by the scheduling priority`,
      ),
    ]);
    const both = gangOf(classed({ [COST]: 'high' }));
    expect(backend.warnOfUpdate?.(both, both)).toEqual([]);
  });
});

describe('the words', () => {
  const KEEPS = "; Muster's own preemption and muster plan keep to it";
  const mode = (name: string, value: string): readonly string[] => {
    const factory = builtInBackends.find((one) => one.name === name);
    if (factory === undefined) throw new Error(`no ${name}`);
    const { warnings } = made(factory).validatePodGang(gangOf(classed({ [MODE]: value })));
    return warnings.filter((text) => text.includes(MODE));
  };

  test.each([
    ['volcano', 'PodGroup', 'volcano', 'it takes Pods one by one'],
    ['coscheduling', 'PodGroup', 'coscheduling', 'its scheduler preempts Pods one by one'],
    ['default-scheduler', 'PodGroup', 'default-scheduler', 'it preempts Pods one by one here'],
    [
      'kai-scheduler',
      'Pod',
      'kai-scheduler',
      'it evicts what is left of a gang that has fewer Pods than its minimum',
    ],
  ])('%s, %s', (name, value, scheduler, says) => {
    expect(mode(name, value)).toEqual([
      `${scheduler} ignores metadata.annotations[${MODE}]: ${says}${KEEPS}`,
    ]);
    expect(mode(name, value === 'Pod' ? 'PodGroup' : 'Pod')).toEqual([]);
    expect(mode(name, 'All')).toEqual([]);
  });

  test('a native gang for each group is preempted by itself', async () => {
    const kube = await kubeOn(serving('v1alpha2'), { groups: 'per-group' });
    const warningsOf = (groups: JsonObject[] | undefined, value: string): readonly string[] =>
      kube
        .validatePodGang(gangOf({ ...classed({ [MODE]: value }), ...(groups && { groups }) }))
        .warnings.filter((text) => text.includes(MODE));
    expect(warningsOf(undefined, 'PodGroup')).toEqual([
      `default-scheduler ignores metadata.annotations[${MODE}]: it preempts each group by itself (config.groups: per-group)${KEEPS}`,
    ]);
    expect(warningsOf(undefined, 'Pod')).toEqual([]);
    expect(warningsOf([group('a') as JsonObject], 'PodGroup')).toEqual([]);
  });
});

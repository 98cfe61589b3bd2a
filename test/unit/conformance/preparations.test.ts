import { describe, expect, test } from '@jest/globals';
import { expectPage, looked } from '../../support/author-page.ts';
import { hostfile } from '../../../docs/examples/hostfile-preparation.ts';
import {
  preparationChecks,
  preparationRules,
  type PreparationSettings,
} from '../../../src/conformance/preparations.ts';
import type { PreparerFactory } from '../../../src/preparers/preparer-factory.ts';
import { preparerFactoryOf } from '../../../src/preparers/preparation-module.ts';
import { builtInPreparers } from '../../../src/preparers/registry.ts';
import { brokenPreparations, soundPreparation } from '../../support/broken-preparations/broken.ts';

const TORCH: PreparationSettings = { spec: { torch: {} } };

const under = (preparation: PreparerFactory, settings = TORCH) =>
  looked(preparationChecks(preparation, settings));

describe('the kit for preparations', () => {
  test('finds nothing wrong where nothing is', async () => {
    expect(await under(soundPreparation)).toEqual({ failures: [], skipped: [] });
  });

  test('has a broken one for every rule', () => {
    const wanted = preparationRules.map(({ name }) => name).sort();
    expect([...new Set(brokenPreparations.map(({ breaks }) => breaks))].sort()).toEqual(wanted);
  });

  test.each(brokenPreparations)('$breaks: $how', async ({ breaks, says, preparation }) => {
    const { failures, skipped } = await under(preparation);
    expect(failures).toEqual([expect.stringContaining(says)]);
    expect(failures[0]).toMatch(new RegExp(`^${breaks}: `));
    expect(skipped.filter((needs) => needs !== breaks)).toEqual([]);
  });

  test('says so where the policy that it is given is wrong', async () => {
    const { failures } = await under(soundPreparation, { spec: { torch: { procPerNode: 0 } } });
    expect(failures[0]).toMatch(/^name: the HPCPolicy that is given is wrong: spec\.torch\.procPerNode: /);
  });
});

/** Settings that ask for as much as each can do. */
const KNOWN: Readonly<Record<string, readonly PreparationSettings[]>> = {
  flux: [
    { spec: { hpc: { manager: 'flux' } } },
    {
      spec: {
        hpc: {
          settings: {
            'node-affinity': 'a=b,c',
            'one-pod-per-node': 'required',
            'lead-group': 'worker',
            'shm-size': '1Gi',
            'tasks-per-node': '2',
          },
        },
      },
      container: { resources: { limits: { 'nvidia.com/gpu': '4' } } },
    },
  ],
  torch: [TORCH, { spec: { torch: { procPerNode: 4 } } }],
};

describe.each(builtInPreparers)('the preparation $name', (preparation) => {
  test.each(KNOWN[preparation.name] ?? [])('keeps to every rule under %j', async (settings) => {
    expect(await under(preparation, settings)).toEqual({ failures: [], skipped: [] });
  });

  test('is tried out under some settings', () => {
    expect(KNOWN[preparation.name]?.length).toBeGreaterThan(0);
  });
});

describe('docs/preparations.md', () => {
  test('has the example as it is, and all rules', () => {
    expectPage('preparations.md', 'hostfile-preparation.ts', preparationRules);
  });

  test('has an example that keeps to every rule', async () => {
    const spec = { hpc: { manager: 'hostfile', settings: { slots: '4' } } };
    expect(await under(preparerFactoryOf(hostfile), { spec })).toEqual({ failures: [], skipped: [] });
  });
});

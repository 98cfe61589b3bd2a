import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { hostfile } from '../../../docs/examples/hostfile-preparation.ts';
import type { ConformanceCheck } from '../../../src/conformance/conformance.ts';
import {
  preparationChecks,
  preparationRules,
  type PreparationSettings,
} from '../../../src/conformance/preparations.ts';
import { messageOf } from '../../../src/errors.ts';
import type { Preparation } from '../../../src/preparers/preparation.ts';
import { loadedPreparation } from '../../../src/preparers/preparation-module.ts';
import { preparations } from '../../../src/preparers/preparations.ts';
import { brokenPreparations, soundPreparation } from '../../support/broken-preparations/broken.ts';

const TORCH: PreparationSettings = { spec: { torch: {} } };

async function looked(checks: readonly ConformanceCheck[]) {
  const failures: string[] = [];
  const skipped: string[] = [];
  for (const { name, run } of checks) {
    await run().then(
      (outcome) => outcome.state === 'skipped' && skipped.push(outcome.needs),
      (thrown: unknown) => failures.push(`${name}: ${messageOf(thrown)}`),
    );
  }
  return { failures, skipped };
}
const under = (preparation: Preparation, settings = TORCH) =>
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

describe.each(preparations)('the preparation $name', (preparation) => {
  test.each(KNOWN[preparation.name] ?? [])('keeps to every rule under %j', async (settings) => {
    expect(await under(preparation, settings)).toEqual({ failures: [], skipped: [] });
  });

  test('is tried out under some settings', () => {
    expect(KNOWN[preparation.name]?.length).toBeGreaterThan(0);
  });
});

describe('docs/preparations.md', () => {
  const DOCS = join(import.meta.dirname, '../../../docs');

  test('has the example as it is, and all rules', () => {
    const page = readFileSync(join(DOCS, 'preparations.md'), 'utf8');
    const source = readFileSync(join(DOCS, 'examples/hostfile-preparation.ts'), 'utf8');
    const rows = preparationRules.map(({ name, rule }) => `| \`${name}\` | ${rule} |\n`);
    const wanted = page
      .replace(
        /```ts\n[\s\S]*?```/,
        () => `\`\`\`ts\n${source.replace("'../../src/index.ts'", "'muster'")}\`\`\``,
      )
      .replace(
        /<!-- rules -->[\s\S]*<!-- \/rules -->/,
        () => `<!-- rules -->\n| Rule | |\n| --- | --- |\n${rows.join('')}<!-- /rules -->`,
      );
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(DOCS, 'preparations.md'), wanted);
    else expect(page).toBe(wanted);
  });

  test('has an example that keeps to every rule', async () => {
    const spec = { hpc: { manager: 'hostfile', settings: { slots: '4' } } };
    expect(await under(loadedPreparation(hostfile), { spec })).toEqual({ failures: [], skipped: [] });
  });
});

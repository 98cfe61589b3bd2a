import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { cheapest } from '../../../docs/examples/cheapest-strategies.ts';
import type { ConformanceCheck } from '../../../src/conformance/conformance.ts';
import { strategyChecks, strategyChecksOf, strategyRuleTexts } from '../../../src/conformance/strategies.ts';
import { messageOf } from '../../../src/errors.ts';
import { Unplaced } from '../../../src/fleet/assign/candidate.ts';
import { gangStrategies } from '../../../src/fleet/assign/gang-strategies.ts';
import { BROKEN } from '../../support/broken-plugins.ts';

async function looked(checks: readonly ConformanceCheck[]) {
  const failures: string[] = [];
  const skipped: string[] = [];
  for (const { name, run } of checks)
    await run().then(
      (outcome) => void (outcome.state === 'skipped' && skipped.push(outcome.needs)),
      (thrown: unknown) => failures.push(`${name}: ${messageOf(thrown)}`),
    );
  return { failures, skipped };
}

describe('the kit for strategies', () => {
  test('finds nothing wrong with the example of docs/strategies.md', async () => {
    expect(await looked(strategyChecks(cheapest))).toEqual({ failures: [], skipped: [] });
  });

  test.each(gangStrategies.strategies())('nor with %s, which comes with Muster', async (strategy) => {
    const checks = strategyChecksOf({
      name: 'gang',
      // By another name: its own is taken.
      strategies: () => ['mine'],
      deadlineMs: 10_000,
      ask: async (_, { clusters, binding }) => {
        try {
          return await Promise.resolve(gangStrategies.assignReplica(strategy, clusters, binding));
        } catch (thrown) {
          if (thrown instanceof Unplaced && thrown.reason === 'Unschedulable') return [];
          throw thrown;
        }
      },
    });
    expect(await looked(checks)).toEqual({ failures: [], skipped: [] });
  });

  test('has a broken plugin for every rule', () => {
    const wanted = strategyRuleTexts.map(({ name }) => name);
    expect([...new Set(BROKEN.map(({ breaks }) => breaks))].sort()).toEqual([...wanted].sort());
  });

  test.each(BROKEN)('$breaks: $how', async ({ breaks, says, plugin }) => {
    const { failures, skipped } = await looked(strategyChecks(plugin()));
    expect(failures).toEqual([expect.stringContaining(says)]);
    expect(failures[0]).toMatch(new RegExp(`^${breaks}: `));
    // Only for its sake is anything left out.
    expect(skipped.filter((needs) => needs !== breaks)).toEqual([]);
  });

  test('what hung elsewhere is not run again', async () => {
    const { failures, skipped } = await looked(strategyChecks(cheapest, ['in-time']));
    expect(failures).toEqual(['in-time: it does not come to an end']);
    expect(new Set(skipped)).toEqual(new Set(['in-time']));
  });
});

describe('docs/strategies.md', () => {
  const DOCS = join(import.meta.dirname, '../../../docs');

  test('has the example as it is, and all rules', () => {
    const page = readFileSync(join(DOCS, 'strategies.md'), 'utf8');
    const source = readFileSync(join(DOCS, 'examples/cheapest-strategies.ts'), 'utf8');
    const rows = strategyRuleTexts.map(({ name, rule }) => `| \`${name}\` | ${rule} |\n`);
    const wanted = page
      .replace(
        /```ts\n[\s\S]*?```/,
        () => `\`\`\`ts\n${source.replace("'../../src/index.ts'", "'muster'")}\`\`\``,
      )
      .replace(
        /<!-- rules -->[\s\S]*<!-- \/rules -->/,
        () => `<!-- rules -->\n| Rule | |\n| --- | --- |\n${rows.join('')}<!-- /rules -->`,
      );
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(DOCS, 'strategies.md'), wanted);
    else expect(page).toBe(wanted);
  });
});

import { describe, expect, test } from '@jest/globals';
import { expectPage, looked } from '../../support/author-page.ts';
import { cheapest } from '../../../docs/examples/cheapest-strategies.ts';
import { strategyChecks, strategyChecksOf, strategyRuleTexts } from '../../../src/conformance/strategies.ts';
import { Unplaced } from '../../../src/fleet/assign/candidate.ts';
import { gangStrategies } from '../../../src/fleet/assign/gang-strategies.ts';
import { BROKEN } from '../../support/broken-plugins.ts';

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
  test('has the example as it is, and all rules', () => {
    expectPage('strategies.md', 'cheapest-strategies.ts', strategyRuleTexts);
  });
});

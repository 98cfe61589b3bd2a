import { describe, expect, test } from '@jest/globals';
import type { BackendFactory } from '../../../src/backends/backend.ts';
import {
  conformanceChecks,
  conformanceRules,
  type ConformanceOutcome,
} from '../../../src/conformance/conformance.ts';
import { messageOf } from '../../../src/errors.ts';
import { brokenGangs } from '../../support/broken-backends/broken-gangs.ts';
import { brokenIdentity } from '../../support/broken-backends/broken-identity.ts';
import { brokenPrepare } from '../../support/broken-backends/broken-prepare.ts';
import { brokenPriorities } from '../../support/broken-backends/broken-priorities.ts';
import { brokenSync } from '../../support/broken-backends/broken-sync.ts';
import { changed } from '../../support/broken-backends/sound.ts';

const BROKEN = [...brokenIdentity, ...brokenPrepare, ...brokenGangs, ...brokenSync, ...brokenPriorities];

/** Hundreds of Pods are admitted for it: only what breaks it is looked at by it. */
const SPEED = 'prepare-speed';

async function looked(factory: BackendFactory, speed = true) {
  const failures: string[] = [];
  const outcomes = new Map<string, ConformanceOutcome>();
  for (const { name, run } of conformanceChecks(factory)) {
    if (name === SPEED && !speed) continue;
    await run().then(
      (outcome) => outcomes.set(name, outcome),
      (thrown: unknown) => failures.push(`${name}: ${messageOf(thrown)}`),
    );
  }
  const skipped = [...outcomes.values()].flatMap((outcome) =>
    outcome.state === 'skipped' ? [outcome.needs] : [],
  );
  return { failures, skipped };
}

describe('the kit', () => {
  test('finds nothing wrong where nothing is', async () => {
    expect(await looked(changed(() => ({})))).toEqual({ failures: [], skipped: [] });
  });

  test('has a broken backend for every rule', () => {
    const wanted = conformanceRules.map(({ name }) => name);
    expect([...new Set(BROKEN.map(({ breaks }) => breaks))].sort()).toEqual([...wanted].sort());
  });

  test.each(BROKEN)('$breaks: $how', async ({ breaks, says, factory }) => {
    const { failures, skipped } = await looked(factory, breaks === SPEED);
    expect(failures).toEqual([expect.stringContaining(says)]);
    expect(failures[0]).toMatch(new RegExp(`^${breaks}: `));
    // Only for its sake is anything left out.
    expect(skipped.filter((needs) => needs !== breaks)).toEqual([]);
  });

  test('runs a check once, and what it needs first, in any order', async () => {
    let created = 0;
    const factory = changed(() => {
      created += 1;
      return {};
    });
    const checks = conformanceChecks(factory);
    const last = checks.find(({ name }) => name === 'contract-version');
    expect(await last?.run()).toEqual({ state: 'passed' });
    expect(created).toBe(2);
    await last?.run();
    expect(created).toBe(2);
  });
});

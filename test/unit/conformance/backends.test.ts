import { describe, expect, test } from '@jest/globals';
import { line } from '../../../docs/examples/line-backend.ts';
import type { BackendFactory } from '../../../src/backends/backend.ts';
import { builtInBackends } from '../../../src/backends/registry.ts';
import { conformanceChecks, type ConformanceSettings } from '../../../src/conformance/conformance.ts';

/** What a backend's own folder says that it is to be tried with. */
const CASES = [...builtInBackends, line].flatMap((factory) =>
  Object.entries(factory.conformance ?? { 'as it is': {} }).map(
    ([title, settings]): [string, BackendFactory, ConformanceSettings] => [
      `${factory.name}, ${title}`,
      factory,
      settings,
    ],
  ),
);

test.each(builtInBackends)('$name says under which settings it is to be tried', ({ conformance = {} }) => {
  expect(Object.keys(conformance)).not.toEqual([]);
});

describe.each(CASES)('%s', (_name, factory, settings) => {
  test.each(conformanceChecks(factory, settings))('$name', async ({ run }) => {
    expect(await run()).toMatchObject({ state: 'passed' });
  });
});

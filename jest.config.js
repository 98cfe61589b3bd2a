import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

// The program is started a few hundred times from its source: half of such a start is compiling what was compiled before.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '.cache', 'compiled');

// Jest runs the TypeScript as it stands: Node strips the types, nothing is bundled or rewritten, so a stack
// trace and a coverage line name the source. Type errors are the business of `npm run typecheck`.
const common = {
  testEnvironment: '<rootDir>/test/measured-environment.js',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/strip-types.js' },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
};

/** Files of types alone have no line that could run, and would count as lines that no test runs. */
const hasCode = (file) =>
  stripTypeScriptTypes(readFileSync(file, 'utf8'))
    .replace(/\/\*[^]*?\*\/|\/\/.*/g, '')
    .trim() !== '';
const ofTypesAlone = globSync('src/**/*.ts', { cwd: import.meta.dirname }).filter(
  (file) => !hasCode(join(import.meta.dirname, file)),
);

export default {
  projects: [
    { ...common, displayName: 'unit', testMatch: ['<rootDir>/test/{unit,component}/**/*.test.ts'] },
    { ...common, displayName: 'cluster', testMatch: ['<rootDir>/test/cluster/**/*.test.ts'] },
  ],
  coverageProvider: 'v8',
  // The page runs in a browser, where its tests are.
  collectCoverageFrom: ['src/**/*.ts', '!src/dashboard/page/**', ...ofTypesAlone.map((file) => `!${file}`)],
  coverageReporters: ['text-summary', 'json-summary'],
  // A room each, a little below what is measured: one that falls is not hidden by the others.
  coverageThreshold: {
    // What is in no room: src/main.ts, src/index.ts and src/errors.ts.
    global: { lines: 89 },
    './src/admission/': { lines: 97 },
    './src/api/': { lines: 92 },
    './src/backends/': { lines: 97 },
    './src/cli/': { lines: 92 },
    './src/config/': { lines: 95 },
    './src/conformance/': { lines: 96 },
    './src/controller/': { lines: 83 },
    './src/dashboard/': { lines: 92 },
    './src/estimators/': { lines: 95 },
    './src/fleet/': { lines: 95 },
    './src/gang/': { lines: 92 },
    './src/json/': { lines: 97 },
    './src/k8s/': { lines: 97 },
    './src/kube/': { lines: 91 },
    './src/modules/': { lines: 75 },
    './src/preemption/': { lines: 96 },
    './src/preparers/': { lines: 97 },
    './src/preview/': { lines: 85 },
    './src/server/': { lines: 95 },
    './src/status/': { lines: 92 },
    './src/telemetry/': { lines: 85 },
    './src/text/': { lines: 97 },
    './src/tls/': { lines: 97 },
    './src/workloads/': { lines: 92 },
  },
  globalSetup: '<rootDir>/test/temporary-folder.ts',
  globalTeardown: '<rootDir>/test/temporary-folder-removed.ts',
  testSequencer: '<rootDir>/test/longest-first.js',
  reporters: ['default', '<rootDir>/test/wiring/reporter.js', '<rootDir>/test/plain-summary.js'],
  // What is waited for has limits of its own, which say what did not come; this one only ends what hangs.
  testTimeout: 120_000,
  // Two more than there are processors: half of the time a cluster suite waits for something.
  maxWorkers: availableParallelism() + 2,
};

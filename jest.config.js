// Jest runs the TypeScript as it stands: Node strips the types, nothing is bundled or rewritten, so a stack
// trace and a coverage line name the source. Type errors are the business of `npm run typecheck`.
const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/strip-types.js' },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
};

export default {
  projects: [
    { ...common, displayName: 'unit', testMatch: ['<rootDir>/test/{unit,component}/**/*.test.ts'] },
    { ...common, displayName: 'cluster', testMatch: ['<rootDir>/test/cluster/**/*.test.ts'] },
  ],
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/{admission,gang,backends,config,tls}/**/*.ts'],
  coverageReporters: ['text-summary', 'json-summary'],
  coverageThreshold: { global: { lines: 90 } },
  reporters: ['default', '<rootDir>/test/plain-summary.js'],
  testTimeout: 30_000,
  maxWorkers: 2,
};

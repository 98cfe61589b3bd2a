// Jest runs the TypeScript as it stands: Node strips the types, nothing is bundled or rewritten, so a stack
// trace and a coverage line name the source. Type errors are the business of `npm run typecheck`.
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/strip-types.js' },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/{admission,gang,backends,config,tls}/**/*.ts'],
  coverageReporters: ['text-summary', 'json-summary'],
  testTimeout: 30_000,
};

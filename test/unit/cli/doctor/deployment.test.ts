import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { environmentOf } from '../../../../src/cli/doctor/program-objects.ts';

const deployment = (...containers: JsonObject[]): JsonObject => ({
  spec: { template: { spec: { containers } } },
});

test('the environment of Muster’s container is what it says by itself', () => {
  const env = [
    { name: 'MUSTER_TRUSTED_ACCOUNTS', value: 'a,b' },
    { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
  ];
  const sidecar = { name: 'proxy', env: [{ name: 'MUSTER_LOG_LEVEL', value: 'debug' }] };
  expect(environmentOf(deployment(sidecar, { name: 'muster', env }))).toEqual({
    MUSTER_TRUSTED_ACCOUNTS: 'a,b',
  });
  expect(environmentOf(deployment({ name: 'muster' }))).toEqual({});
  expect(environmentOf(undefined)).toEqual({});
});

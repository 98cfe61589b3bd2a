import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { checkRdma } from '../../../../src/preparers/flux/check-pod.ts';
import { settings } from '../../../support/hpc.ts';

const rules = (resources: JsonObject, network: 'device' | 'rdma' = 'rdma'): string[] => {
  const runner = {
    name: 'main',
    path: 'spec.containers[0]',
    container: { resources },
    argv: [],
    wrapped: false,
    gpus: undefined,
  };
  return checkRdma(runner, settings({ network })).map(({ rule }) => rule);
};

test.each([
  [{ limits: { 'rdma/hca_shared_devices_a': '1' } }],
  [{ requests: { 'vpc.amazonaws.com/efa': '4' } }],
  [{ limits: { 'nvidia.com/hostdev': '1' } }],
  [{ claims: [{ name: 'nic' }] }],
])('%j is a way to RDMA', (resources) => expect(rules(resources)).toEqual([]));

test.each([[{}], [{ limits: { cpu: '1', 'nvidia.com/gpu': '8' } }], [{ claims: [] }], [{ limits: null }]])(
  '%j is none, which matters only where the policy asks for it',
  (resources) => {
    expect(rules(resources)).toEqual(['HpcRdmaRequired']);
    expect(rules(resources, 'device')).toEqual([]);
  },
);

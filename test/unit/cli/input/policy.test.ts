import { describe, expect, test } from '@jest/globals';
import { policyFrom } from '../../../../src/cli/input/policy.ts';
import { loadConfiguration } from '../../../../src/config/load.ts';

const configuration = (text?: string) =>
  loadConfiguration({
    ...(text === undefined ? {} : { text }),
    env: {},
    flags: {},
    supportedSchedulers: ['default-scheduler', 'kai-scheduler'],
  }).configuration;

const HEADER = 'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n';

describe('the policy of a configuration', () => {
  test('of the default one', () => {
    const policy = policyFrom(configuration());
    expect(policy.registry.enabled).toEqual(['default-scheduler']);
    expect(policy.registry.default.name).toBe('default-scheduler');
    expect([...policy.exemptNamespaces]).toEqual(['kube-system', 'muster-system']);
    expect([...policy.trustedAccounts]).toEqual(['system:serviceaccount:muster-system:muster']);
    expect(policy.topology).toEqual({ enabled: false, keys: [] });
  });

  test('profiles, accounts, levels, and the namespace it runs in', () => {
    const text = `${HEADER}schedulerName: kai-scheduler
trustedAccounts: [someone]
topologyAwareScheduling:
  enabled: true
  levels: [{domain: zone, key: topology.kubernetes.io/zone}, {domain: host, key: kubernetes.io/hostname}]
`;
    const policy = policyFrom(configuration(text), { ownNamespace: 'elsewhere' });
    expect([...policy.registry.enabled].sort()).toEqual(['default-scheduler', 'kai-scheduler']);
    expect(policy.registry.default.name).toBe('kai-scheduler');
    expect([...policy.exemptNamespaces]).toEqual(['kube-system', 'elsewhere']);
    expect([...policy.trustedAccounts]).toEqual(['someone']);
    expect(policy.topology).toEqual({
      enabled: true,
      keys: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'],
    });
  });

  test('another default backend for a preview, enabled if it is not', () => {
    const policy = policyFrom(configuration(), { defaultBackend: 'kai-scheduler' });
    expect(policy.registry.default.name).toBe('kai-scheduler');
    expect(policy.registry.enabled).toEqual(['default-scheduler', 'kai-scheduler']);
    expect(() => policyFrom(configuration(), { defaultBackend: 'nope' })).toThrow(
      'unsupported scheduler "nope"',
    );
  });
});

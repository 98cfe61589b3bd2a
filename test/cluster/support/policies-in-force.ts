import type { Client } from '../control-plane/client.ts';
import { until } from '../control-plane/until.ts';
import { applyAll } from './apply.ts';
import { MUTATING_POLICIES, shippedPolicies } from './shipped-policies.ts';

const GROUP = 'admissionregistration.k8s.io/v1';
const NAME = 'in-force';
const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME } };
const MATCH = {
  resourceRules: [
    {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['configmaps'],
      resourceNames: [NAME],
    },
  ],
};

/** Two more policies, which make themselves felt: the API server takes policies in the order in which they came. */
const LAST = [
  {
    apiVersion: GROUP,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      matchConstraints: MATCH,
      validations: [
        {
          expression: MUTATING_POLICIES
            ? "'mark' in object.metadata.?annotations.orValue({}) ? false : true"
            : 'false',
          message: 'both are in force',
        },
      ],
    },
  },
  {
    apiVersion: GROUP,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: { policyName: NAME, validationActions: ['Deny'] },
  },
  {
    apiVersion: GROUP,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      matchConstraints: MATCH,
      reinvocationPolicy: 'Never',
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: {
            expression: "Object{metadata: Object.metadata{annotations: {'mark': 'yes'}}}",
          },
        },
      ],
    },
  },
  {
    apiVersion: GROUP,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: { policyName: NAME },
  },
];

/**
 * Stores the policies of `manifests/policies`, and returns when the API server keeps all of them.
 * @param prefix of the names of those that are wanted; default: all
 */
export async function policiesInForce(client: Client, prefix = ''): Promise<void> {
  const wanted = shippedPolicies().filter(({ metadata }) => metadata.name.startsWith(prefix));
  const last = LAST.filter(({ kind }) => MUTATING_POLICIES || !kind.startsWith('Mutating'));
  await applyAll(client, [...wanted, ...last]);
  await until('the policies are in force', async () => {
    const sent = await client.request('POST', '/api/v1/namespaces/default/configmaps', CONFIG_MAP, {
      query: { dryRun: 'All' },
    });
    return sent.body.message?.endsWith('both are in force');
  });
}

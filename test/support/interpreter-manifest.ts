import { stringify } from 'yaml';
import { PATH_INTERPRET, MUSTER_NAMESPACE, MUSTER_SERVICE_ACCOUNT } from '../../src/api/names.ts';
import { operationsToRegister } from '../../src/fleet/registration.ts';
import { isMultiTemplate } from '../../src/workloads/components.ts';
import { workloadKinds } from '../../src/workloads/kinds.ts';

const HEAD = `# Karmada asks Muster what it should know of these workloads. Made from src/workloads by UPDATE_DOCS=1 npm run test:unit.
#
# ReviseReplica is left out for all of them: Karmada would ask for 0 Pods of every gang that it knows by its components, and
# one number does not say of which template. Deployment, StatefulSet and Job are Karmada's own business.
#
# No caBundle here: put in the certificate of the CA that signed Muster's, see docs/fleet.md.
`;

/** `manifests/karmada/interpreter.yaml`, from the table: kinds of a group that are asked for the same stand together. */
export function interpreterManifest(): string {
  const rules = new Map<
    string,
    { operations: readonly string[]; apiGroups: string[]; apiVersions: string[]; kinds: string[] }
  >();
  for (const kind of workloadKinds.filter(isMultiTemplate)) {
    const operations = operationsToRegister(kind);
    const key = `${kind.group} ${operations.length}`;
    const rule = rules.get(key) ?? { operations, apiGroups: [kind.group], apiVersions: ['*'], kinds: [] };
    rules.set(key, { ...rule, kinds: [...rule.kinds, kind.kind] });
  }
  return (
    HEAD +
    stringify(
      {
        apiVersion: 'config.karmada.io/v1alpha1',
        kind: 'ResourceInterpreterWebhookConfiguration',
        metadata: { name: 'muster', labels: { 'app.kubernetes.io/name': 'muster' } },
        webhooks: [
          {
            name: 'gangs.interpreter.muster.dev',
            clientConfig: {
              service: {
                name: MUSTER_SERVICE_ACCOUNT,
                namespace: MUSTER_NAMESPACE,
                port: 443,
                path: PATH_INTERPRET,
              },
            },
            interpreterContextVersions: ['v1alpha1'],
            timeoutSeconds: 5,
            rules: [...rules.values()],
          },
        ],
      },
      { aliasDuplicateObjects: false },
    )
  );
}

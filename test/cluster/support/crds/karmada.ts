import { definition, int32, list, map, object, resources, string } from './definition.ts';

const strings = list(string());

/** Where Karmada is told whom to ask about which workloads. It has no spec: its webhooks stand at the top. */
export const interpreterWebhookConfigurations = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'resourceinterpreterwebhookconfigurations.config.karmada.io' },
  spec: {
    group: 'config.karmada.io',
    scope: 'Cluster',
    names: {
      plural: 'resourceinterpreterwebhookconfigurations',
      singular: 'resourceinterpreterwebhookconfiguration',
      kind: 'ResourceInterpreterWebhookConfiguration',
      listKind: 'ResourceInterpreterWebhookConfigurationList',
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: object(
            {
              apiVersion: string(),
              kind: string(),
              metadata: { type: 'object' },
              webhooks: list(
                object(
                  {
                    name: string(),
                    clientConfig: object({
                      url: string(),
                      caBundle: string({ format: 'byte' }),
                      service: object(
                        { name: string(), namespace: string(), path: string(), port: int32() },
                        { required: ['name', 'namespace'] },
                      ),
                    }),
                    rules: list(
                      object(
                        { operations: strings, apiGroups: strings, apiVersions: strings, kinds: strings },
                        { required: ['operations', 'apiGroups', 'apiVersions', 'kinds'] },
                      ),
                    ),
                    timeoutSeconds: int32(),
                    interpreterContextVersions: strings,
                  },
                  { required: ['name', 'clientConfig', 'interpreterContextVersions'] },
                ),
              ),
            },
            { required: ['webhooks'] },
          ),
        },
      },
    ],
  },
};

const replicaRequirements = object({
  nodeClaim: object({
    nodeSelector: map(string()),
    tolerations: list(object({ key: string(), operator: string(), value: string(), effect: string() })),
    hardNodeAffinity: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }),
  resourceRequest: resources,
  priorityClassName: string(),
});

/** A binding as far as its detector writes what an interpreter says. */
export const resourceBindings = definition({
  group: 'work.karmada.io',
  version: 'v1alpha2',
  kind: 'ResourceBinding',
  plural: 'resourcebindings',
  status: true,
  spec: object(
    {
      resource: object(
        { apiVersion: string(), kind: string(), namespace: string(), name: string() },
        { required: ['apiVersion', 'kind', 'name'] },
      ),
      replicas: int32(),
      components: list(
        object(
          { name: string({ maxLength: 32 }), replicas: int32(), replicaRequirements },
          { required: ['name', 'replicas'] },
        ),
      ),
    },
    { required: ['resource'] },
  ),
  statusSchema: object({}),
});

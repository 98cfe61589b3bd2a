/** A definition that takes any object of a kind. */
export const stubDefinition = (group: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

/** As much of cert-manager as it takes to store its objects: its own definitions are not part of this project. */
export const certManager = ['Issuer', 'Certificate'].map((kind) => stubDefinition('cert-manager.io', kind));

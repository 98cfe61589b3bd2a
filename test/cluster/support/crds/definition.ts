/** One version of a CustomResourceDefinition, from its schema. */
export interface DefinitionParts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly scope?: 'Namespaced' | 'Cluster';
  /** With a status subresource. */
  readonly status?: boolean;
  /** An `*.k8s.io` group needs this, or the API server refuses the definition. */
  readonly approved?: boolean;
  readonly spec: object;
  readonly statusSchema: object;
}

export const definition = (
  parts: DefinitionParts,
): { metadata: { name: string }; [key: string]: unknown } => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${parts.plural}.${parts.group}`,
    ...(parts.approved && {
      annotations: { 'api-approved.kubernetes.io': 'https://example.com/approved-for-tests' },
    }),
  },
  spec: {
    group: parts.group,
    scope: parts.scope ?? 'Namespaced',
    names: {
      plural: parts.plural,
      singular: parts.kind.toLowerCase(),
      kind: parts.kind,
      listKind: `${parts.kind}List`,
      shortNames: parts.shortNames ?? [],
    },
    versions: [
      {
        name: parts.version,
        served: true,
        storage: true,
        ...(parts.status && { subresources: { status: {} } }),
        schema: { openAPIV3Schema: schemaOf(parts) },
      },
    ],
  },
});

const schemaOf = ({ spec, statusSchema }: DefinitionParts): object => ({
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec,
    status: statusSchema,
  },
});

/** A count of Pods and the like. */
export const int32 = (parts: object = {}): object => ({ type: 'integer', format: 'int32', ...parts });
export const string = (parts: object = {}): object => ({ type: 'string', ...parts });
export const list = (items: object, parts: object = {}): object => ({ type: 'array', items, ...parts });
export const object = (properties: object, parts: object = {}): object => ({
  type: 'object',
  properties,
  ...parts,
});
export const map = (additionalProperties: object): object => ({ type: 'object', additionalProperties });

/** `ResourceList`: quantities, as the generators write them. */
export const resources = map({
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  'x-kubernetes-int-or-string': true,
});

export const labelSelector = object({
  matchLabels: map(string()),
  matchExpressions: list(
    object({ key: string(), operator: string(), values: list(string()) }, { required: ['key', 'operator'] }),
  ),
});

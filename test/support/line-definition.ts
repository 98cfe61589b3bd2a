/** The definition of Lines, which the scheduler of docs/examples/line-backend.ts would come with. */
export const lineDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'lines.line.example.com' },
  spec: {
    group: 'line.example.com',
    scope: 'Namespaced',
    names: { kind: 'Line', plural: 'lines', singular: 'line', listKind: 'LineList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['minimum', 'queue'],
                properties: {
                  minimum: { type: 'integer', minimum: 0 },
                  queue: { type: 'string', minLength: 1 },
                  patience: { type: 'integer', default: 60 },
                },
              },
              status: { type: 'object', properties: { message: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
};

import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

/** An estimator of a cluster, with definitions of its own: what Muster sends is read by somebody else's library. */

const field = (id: number, type: string, rule?: 'repeated') => ({ id, type, ...(rule && { rule }) });
const map = (id: number, type: string) => ({ id, type, keyType: 'string' });
const method = (requestType: string) => ({ requestType, responseType: '.Answer', comment: '' });

type NamespaceNested = NonNullable<Parameters<typeof fromJSON>[0]['nested']>;

const definition = fromJSON(
  {
    nested: {
      Quantity: { fields: { string: field(1, 'string') } },
      Toleration: {
        fields: {
          key: field(1, 'string'),
          operator: field(2, 'string'),
          value: field(3, 'string'),
          effect: field(4, 'string'),
          tolerationSeconds: field(5, 'int64'),
        },
      },
      Requirement: {
        fields: {
          key: field(1, 'string'),
          operator: field(2, 'string'),
          values: field(3, 'string', 'repeated'),
        },
      },
      Term: {
        fields: {
          matchExpressions: field(1, 'Requirement', 'repeated'),
          matchFields: field(2, 'Requirement', 'repeated'),
        },
      },
      NodeSelector: { fields: { nodeSelectorTerms: field(1, 'Term', 'repeated') } },
      NodeClaim: {
        fields: {
          nodeAffinity: field(1, 'NodeSelector'),
          tolerations: field(3, 'Toleration', 'repeated'),
          nodeSelector: map(2, 'string'),
          // Bytes that hold the message of that name; for the wire it is the same.
          nodeAffinityBytes: field(4, 'NodeSelector'),
          tolerationsBytes: field(5, 'Toleration', 'repeated'),
        },
      },
      ReplicaRequirements: {
        fields: {
          nodeClaim: field(1, 'NodeClaim'),
          resourceRequest: map(2, 'Quantity'),
          namespace: field(3, 'string'),
          priorityClassName: field(4, 'string'),
          resourceRequestBytes: map(5, 'Quantity'),
        },
      },
      ComponentReplicaRequirements: {
        fields: {
          nodeClaim: field(1, 'NodeClaim'),
          resourceRequest: map(2, 'Quantity'),
          priorityClassName: field(3, 'string'),
          resourceRequestBytes: map(4, 'Quantity'),
        },
      },
      Component: {
        fields: {
          name: field(1, 'string'),
          replicaRequirements: field(2, 'ComponentReplicaRequirements'),
          replicas: field(3, 'int32'),
        },
      },
      ReplicasRequest: {
        fields: { cluster: field(1, 'string'), replicaRequirements: field(2, 'ReplicaRequirements') },
      },
      SetsRequest: {
        fields: {
          cluster: field(1, 'string'),
          components: field(2, 'Component', 'repeated'),
          namespace: field(3, 'string'),
        },
      },
      Answer: { fields: { most: field(1, 'int32') } },
      // The service's name has dots, which are namespaces.
      ...[
        'github',
        'com',
        'karmada_io',
        'karmada',
        'pkg',
        'estimator',
        'service',
      ].reduceRight<NamespaceNested>((nested, name) => ({ [name]: { nested } }), {
        Estimator: {
          methods: {
            MaxAvailableReplicas: method('.ReplicasRequest'),
            MaxAvailableComponentSets: method('.SetsRequest'),
          },
        },
      }),
    },
  },
  { longs: Number, keepCase: true },
);
const service = definition['github.com.karmada_io.karmada.pkg.estimator.service.Estimator'] as never;

export interface Asked {
  readonly method: 'MaxAvailableReplicas' | 'MaxAvailableComponentSets';
  readonly request: unknown;
  /** Where it came from: the same for all that comes over one connection. */
  readonly peer: string;
}

/** What it answers, when it does; what it throws is its failure. */
export type Answering = (asked: Asked) => number | Promise<number>;

export interface Estimator {
  readonly port: number;
  readonly asked: readonly Asked[];
  close(): void;
}

/** @param methods what it knows; an old one knows replicas only */
export async function estimatorAt(
  host: string,
  given: {
    readonly answer: Answering;
    readonly port?: number;
    readonly credentials?: ServerCredentials;
    readonly methods?: readonly Asked['method'][];
  },
): Promise<Estimator> {
  const asked: Asked[] = [];
  const { methods = ['MaxAvailableReplicas', 'MaxAvailableComponentSets'] } = given;
  const handlers = methods.map((method) => [
    method,
    (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
      const one = { method, request: call.request, peer: call.getPeer() };
      asked.push(one);
      (async () => given.answer(one))().then(
        (most) => answer(null, { most }),
        (error: unknown) => answer(error as Error),
      );
    },
  ]);
  const server = new Server();
  server.addService(service, Object.fromEntries(handlers) as never);
  const credentials = given.credentials ?? ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${given.port ?? 0}`, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, asked, close: () => server.forceShutdown() };
}

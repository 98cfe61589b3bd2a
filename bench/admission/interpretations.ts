import { isDeepStrictEqual } from 'node:util';
import { PATH_INTERPRET } from '../../src/api/names.ts';
import { NAMESPACE, reviewOf } from './reviews.ts';

/** What Karmada asks of a gang: how many Pods it has, template by template. */
export const INTERPRET = PATH_INTERPRET;

type Mutable = Record<string, unknown>;

const BYTES = 8 * 1024;
const tolerations = ['not-ready', 'unreachable'].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** What is to be said of it, for the bare server, which reads nothing of it. */
export const fixedComponents = [
  { name: 'master', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '2' } } },
  {
    name: 'worker',
    replicas: 4,
    replicaRequirements: {
      nodeClaim: { tolerations },
      resourceRequest: { cpu: '16', 'nvidia.com/gpu': '8' },
    },
  },
];

export const answerWith = (uid: string): Mutable => ({
  apiVersion: 'config.karmada.io/v1alpha1',
  kind: 'ResourceInterpreterContext',
  response: { uid, successful: true, status: { code: 200 }, components: fixedComponents },
});

/**
 * A ResourceInterpreterContext of 8 KiB to the byte, for a Volcano Job whose workers are the Pods of the reviews. Only uid and
 * a label depend on `variant`.
 */
export function interpretationOf(variant: number): Mutable {
  const { object: pod } = reviewOf({ size: 8, managedFields: false }, variant)['request'] as {
    object: { spec: { containers: { env: unknown[] }[] } };
  };
  const annotations = { 'example.com/note': '' };
  const context = {
    kind: 'ResourceInterpreterContext',
    apiVersion: 'config.karmada.io/v1alpha1',
    request: {
      uid: `705ab4f5-6393-11e8-b7cc-42010a80${String(variant).padStart(4, '0')}`,
      kind: { group: 'batch.volcano.sh', version: 'v1alpha1', kind: 'Job' },
      name: 'llama',
      namespace: NAMESPACE,
      operation: 'InterpretComponent',
      object: {
        apiVersion: 'batch.volcano.sh/v1alpha1',
        kind: 'Job',
        metadata: {
          name: 'llama',
          namespace: NAMESPACE,
          uid: '0e4b1f1c-7c0c-4f4e-9df4-1f3f7d1a2b3c',
          labels: { app: `a${String(variant).padStart(4, '0')}` },
          annotations,
        },
        spec: {
          minAvailable: 3,
          schedulerName: 'volcano',
          tasks: [
            { name: 'master', replicas: 1, template: { spec: { containers: [master] } } },
            { name: 'worker', replicas: 4, minAvailable: 2, template: { spec: pod.spec } },
          ],
        },
      },
      replicas: 0,
    },
  };
  const more = (): number => BYTES - Buffer.byteLength(JSON.stringify(context));
  while (more() < 0 && pod.spec.containers.some(({ env }) => env.pop() !== undefined));
  annotations['example.com/note'] = 'n'.repeat(more());
  return context;
}

const master = {
  name: 'master',
  image: 'registry.example.com/serving/vllm:0.9.1',
  resources: { requests: { cpu: '2' } },
};

/** @throws Error saying what is wrong of an answer */
export function checkInterpretation(context: Mutable, body: string): void {
  const { uid } = context['request'] as { uid: string };
  if (!isDeepStrictEqual(JSON.parse(body), answerWith(uid)))
    throw new Error(`the answer is not the expected one: ${body.slice(0, 1000)}`);
}

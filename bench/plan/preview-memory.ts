// What forecasts keep of each Pod: `node --expose-gc preview-memory.ts PODS` prints JSON. Pods as an API server sends them.
import type { KubeObject } from '../../src/kube/client/resources.ts';
import { Cache } from '../../src/kube/loop/cache.ts';
import { KeptPodReader, type KeptPod } from '../../src/preview/kept-pod.ts';

/** What so many Pods take. */
export interface PreviewCost {
  readonly bytesAPod: number;
}

/** 2,000 templates, fifty Pods of each at most; names, uids and nodes of their own. */
const podAt = (index: number): KubeObject =>
  JSON.parse(
    JSON.stringify({
      metadata: {
        name: `worker-of-a-usual-length-${index}-${(index * 7919).toString(36)}`,
        namespace: `team-${index % 50}`,
        uid: `705ab4f5-6393-11e8-b7cc-${String(index).padStart(12, '0')}`,
        resourceVersion: String(1_000_000 + index),
        labels: { app: `app-${index % 2_000}`, 'pod-template-hash': (index % 2_000).toString(36), tier: 'x' },
      },
      spec: {
        nodeName: `node-${index % 5_000}`,
        priority: index % 40,
        tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
        containers: [
          {
            name: 'c',
            image: 'example.test/a',
            resources: { requests: { cpu: `${(index % 20) + 1}00m`, memory: '2Gi' } },
          },
        ],
        volumes: [{ name: 'token', projected: {} }],
      },
      status: { phase: 'Running', startTime: '2026-01-01T00:00:00Z', conditions: [] },
    }),
  ) as KubeObject;

const collect = globalThis.gc;
if (collect === undefined) throw new Error('start it with --expose-gc');
const count = Number(process.argv[2]);
collect();
const before = process.memoryUsage().heapUsed;
const reader = new KeptPodReader();
const cache = new Cache<KeptPod>();
for (let index = 0; index < count; index += 1) {
  const pod = reader.read(podAt(index));
  if (pod !== undefined) cache.put(pod);
}
collect();
const after = process.memoryUsage().heapUsed;
if (cache.size !== count) throw new Error('some Pods are missing');
process.stdout.write(JSON.stringify({ bytesAPod: (after - before) / count } satisfies PreviewCost));

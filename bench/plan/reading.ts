// What reading 20 MB takes, in a process of its own: `node reading.ts json|yaml ROUNDS` prints JSON. Pods as an API server sends them.
import { toYaml } from '../../src/cli/output/structured.ts';
import { objectsOf } from '../../src/cli/plan/plan-objects.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { readSnapshot } from '../../src/preemption/read/read-snapshot.ts';

/** Seconds of each round. */
export interface ReadingCost {
  readonly seconds: readonly number[];
}

const BYTES = 20_000_000;
const TIME = '2026-01-01T00:00:00Z';

const podAt = (index: number): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    creationTimestamp: TIME,
    name: `worker-of-a-usual-length-${index}`,
    namespace: `team-${index % 50}`,
    uid: `705ab4f5-6393-11e8-b7cc-${String(index).padStart(12, '0')}`,
    labels: { app: `app-${index % 500}`, 'pod-template-hash': `h${index % 500}` },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `app-${index % 500}`, controller: true },
    ],
  },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'registry.example.com/team/app:1.2.3',
        imagePullPolicy: 'IfNotPresent',
        resources: { requests: { cpu: `${(index % 20) + 1}00m`, memory: '2Gi' }, limits: { memory: '2Gi' } },
        volumeMounts: [
          { mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', name: 'token', readOnly: true },
        ],
      },
    ],
    nodeName: `node-${index % 1_000}`,
    priority: index % 40,
    tolerations: [
      {
        effect: 'NoExecute',
        key: 'node.kubernetes.io/not-ready',
        operator: 'Exists',
        tolerationSeconds: 300,
      },
    ],
  },
  status: {
    phase: 'Running',
    startTime: TIME,
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: TIME }],
    containerStatuses: [{ name: 'c', ready: true, restartCount: 0, state: { running: { startedAt: TIME } } }],
  },
});

/** As `kubectl get -o json` prints it, or documents. */
const textOf = (pods: readonly JsonObject[], form: string): string =>
  form === 'json'
    ? JSON.stringify({ apiVersion: 'v1', items: pods, kind: 'List' }, undefined, 4)
    : pods.map((pod) => `---\n${toYaml(pod)}`).join('');

const [form = '', rounds = ''] = process.argv.slice(2);
const each = textOf([podAt(0)], form).length;
const pods = Array.from({ length: Math.ceil(BYTES / each) }, (_, index) => podAt(index));
const text = Buffer.from(textOf(pods, form));
const seconds: number[] = [];
for (let round = 0; round < Number(rounds); round += 1) {
  const since = performance.now();
  const objects = await objectsOf(['-'], { readStdin: () => Promise.resolve(text) });
  const { snapshot, faults } = readSnapshot(objects);
  seconds.push((performance.now() - since) / 1000);
  if (faults.length > 0 || snapshot.pods.length !== pods.length) throw new Error('some Pods were not read');
}
process.stdout.write(JSON.stringify({ seconds } satisfies ReadingCost));

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlane } from '../../test/cluster/control-plane/control-plane.ts';
import { launch, type ManagedProcess } from '../../test/cluster/control-plane/managed-process.ts';
import type { Watchdog } from '../../test/cluster/control-plane/watchdog.ts';

/** How long a Pod runs (ms), and by how much longer at most. */
const RUNS_MS = 5_000;
const LONGER_MS = 5_000;

/** A Lease of a node is renewed four times in this time (seconds). */
const NODE_LEASE = 200;
const AT_ONCE = 16;
/** Pods that kwok writes at a time; with its 4 they end more slowly than 50 a second are created. */
const PODS_AT_ONCE = 64;

const stage = (name: string, phase: string, status: string, delay: string): string => `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: ${name}
spec:
  resourceRef: { apiGroup: v1, kind: Pod }
  selector:
    matchExpressions:
      - { key: .metadata.deletionTimestamp, operator: DoesNotExist }
      - { key: .status.phase, operator: In, values: [${phase}] }
  delay: ${delay}
  next:
    statusTemplate: |
      ${status}
`;

const OPTIONS = `
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  podPlayStageParallelism: ${PODS_AT_ONCE}
  # Given since one of them takes away the defaults of all.
  nodePlayStageParallelism: 4
  nodeLeaseParallelism: 4
  podsOnNodeSyncParallelism: 4
`;

/** A Pod that is bound runs at once, and has ended after some seconds; one that is to be deleted goes at once. */
const STAGES = [
  stage(
    'run',
    'Pending',
    '{phase: Running, startTime: {{ Now | Quote }}, conditions: [{type: Ready, status: "True", lastTransitionTime: {{ Now | Quote }}}]}',
    '{ durationMilliseconds: 100, jitterDurationMilliseconds: 500 }',
  ),
  stage(
    'end',
    'Running',
    '{phase: Succeeded, conditions: [{type: Ready, status: "False", reason: PodCompleted, lastTransitionTime: {{ Now | Quote }}}]}',
    `{ durationMilliseconds: ${RUNS_MS}, jitterDurationMilliseconds: ${RUNS_MS + LONGER_MS} }`,
  ),
  // Without a stage of nodes kwok takes care of no node, and so of no Pod.
  `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: node
spec:
  resourceRef: { apiGroup: v1, kind: Node }
  selector:
    matchExpressions:
      - { key: .status.phase, operator: NotIn, values: [Running] }
  next:
    statusTemplate: '{phase: Running}'
`,
  `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: delete
spec:
  resourceRef: { apiGroup: v1, kind: Pod }
  selector:
    matchExpressions:
      - { key: .metadata.deletionTimestamp, operator: Exists }
  next:
    delete: true
`,
].join('---');

/** Nodes that are there, and kwok in place of all their kubelets. */
export async function startNodes(
  plane: ControlPlane,
  given: {
    readonly kwok: string;
    readonly nodes: number;
    readonly dir: string;
    readonly watchdog: Watchdog;
  },
): Promise<ManagedProcess> {
  const { kwok, nodes, dir, watchdog } = given;
  const names = Array.from({ length: nodes }, (_, index) => `node-${index}`);
  const adding = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await plane.addNode(name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, adding));
  const config = join(dir, 'kwok.yaml');
  await writeFile(config, [OPTIONS, STAGES].join('---'));
  const args = [
    `--kubeconfig=${plane.kubeconfig}`,
    `--config=${config}`,
    '--manage-all-nodes=true',
    `--node-lease-duration-seconds=${NODE_LEASE}`,
    '-v=WARN',
  ];
  return launch({ name: 'kwok', path: kwok, args, dir, watchdog });
}

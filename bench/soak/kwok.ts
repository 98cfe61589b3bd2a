import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlane } from '../../test/cluster/control-plane/control-plane.ts';
import { FRUGAL_GO, launch, type ManagedProcess } from '../../test/cluster/control-plane/managed-process.ts';
import type { NodeSize } from '../../test/cluster/control-plane/nodes.ts';
import type { Watchdog } from '../../test/cluster/control-plane/watchdog.ts';

/** How long a Pod runs (ms), and by how much longer at most. */
const RUNS_MS = 5_000;
const LONGER_MS = 5_000;

/** A Lease of a node is renewed four times in this time (seconds). */
const NODE_LEASE = 200;
const AT_ONCE = 16;
/** Pods that kwok writes at a time; with its 4 they end more slowly than 50 a second are created. */
const PODS_AT_ONCE = 64;

/** A Pod that is not to be deleted, in a phase. */
const alive = (phase: string): string => `
      - { key: .metadata.deletionTimestamp, operator: DoesNotExist }
      - { key: .status.phase, operator: In, values: [${phase}] }`;
/** Judged in 2 µs; for the way of above kwok makes JSON of the Pod, which takes a hundred times as long. */
const PENDING = `
      - { cel: { expression: 'self.status.phase == "Pending"' } }`;

const stage = (name: string, matches: string, status: string, delay: string): string => `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: ${name}
spec:
  resourceRef: { apiGroup: v1, kind: Pod }
  selector:
    matchExpressions:${matches}
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

/** A Pod that is bound runs at once. */
const running = (matches: string): string =>
  stage(
    'run',
    matches,
    '{phase: Running, startTime: {{ Now | Quote }}, conditions: [{type: Ready, status: "True", lastTransitionTime: {{ Now | Quote }}}]}',
    '{ durationMilliseconds: 100, jitterDurationMilliseconds: 500 }',
  );

/** Without a stage of nodes kwok takes care of no node, and so of no Pod. */
const NODE = `
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
`;

/** What runs has ended after some seconds, and what is deleted goes at once. */
const ENDS = [
  stage(
    'end',
    alive('Running'),
    '{phase: Succeeded, conditions: [{type: Ready, status: "False", reason: PodCompleted, lastTransitionTime: {{ Now | Quote }}}]}',
    `{ durationMilliseconds: ${RUNS_MS}, jitterDurationMilliseconds: ${RUNS_MS + LONGER_MS} }`,
  ),
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
];

/** kwok makes JSON of a Pod that it starts, and keeps nothing: on so small a heap Go collects several times a second. */
const SELDOM_COLLECTS = { GOGC: '800', GOMEMLIMIT: '2GiB', GOMAXPROCS: FRUGAL_GO.GOMAXPROCS };

/** @returns what is asked for in place of all bound Pods: those that do not run yet */
export function withoutRunningPods(path: string): string {
  const [resource, query] = path.split('?');
  const asked = new URLSearchParams(query);
  if (resource !== '/api/v1/pods' || asked.get('fieldSelector') !== 'spec.nodeName!=') return path;
  asked.set('fieldSelector', 'spec.nodeName!=,status.phase=Pending');
  return `${resource}?${asked.toString()}`;
}

/** Nodes that are there, and kwok in place of all their kubelets. */
export async function startNodes(
  plane: ControlPlane,
  given: {
    readonly kwok: string;
    readonly nodes: number;
    readonly dir: string;
    readonly watchdog: Watchdog;
    readonly size?: NodeSize;
    /**
     * Whether Pods end and are deleted, under nodes that renew their Leases; default: they do. Where they stay, kwok is
     * shown only those that do not run yet.
     */
    readonly podsEnd?: boolean;
  },
): Promise<ManagedProcess> {
  const { kwok, nodes, dir, watchdog, size, podsEnd = true } = given;
  const names = Array.from({ length: nodes }, (_, index) => `node-${index}`);
  const adding = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await plane.addNode(name, size);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, adding));
  const config = join(dir, 'kwok.yaml');
  await writeFile(
    config,
    [OPTIONS, NODE, ...(podsEnd ? [running(alive('Pending')), ...ENDS] : [running(PENDING)])].join('---'),
  );
  const proxy = podsEnd
    ? undefined
    : fork(join(import.meta.dirname, 'kwok-proxy.ts'), [plane.kubeconfig, dir]);
  try {
    const [kubeconfig] =
      proxy === undefined ? [plane.kubeconfig] : ((await once(proxy, 'message')) as [string]);
    const args = [
      `--kubeconfig=${kubeconfig}`,
      `--config=${config}`,
      '--manage-all-nodes=true',
      // Where no controller judges nodes, Leases only cost: by the clock, and most to whoever takes longest.
      `--node-lease-duration-seconds=${podsEnd ? NODE_LEASE : 0}`,
      '-v=WARN',
    ];
    const env = podsEnd ? {} : SELDOM_COLLECTS;
    const kubelets = await launch({ name: 'kwok', path: kwok, args, dir, watchdog, env });
    void kubelets.exited.then(() => proxy?.disconnect());
    return kubelets;
  } catch (error) {
    proxy?.disconnect();
    throw error;
  }
}

import type { JsonObject } from '../../../src/api/json.ts';
import { pod, podGroup, type RandomCluster } from './random-cluster.ts';

/** A user story of KEP-5710, as a cluster, and who has to go in it. */
export interface Story {
  readonly what: string;
  readonly made: (namespace: string) => RandomCluster;
  readonly victims: readonly string[];
}

/** Two nodes that are full; a gang wants one CPU of one of them. */
function cluster(
  namespace: string,
  groups: readonly JsonObject[],
  running: readonly { name: string; at: number; group: string; priority?: number }[],
): RandomCluster {
  const nodes = [0, 1].map((index): JsonObject => {
    const amounts = { cpu: '3', memory: '64Gi', pods: '110' };
    const labels = { case: namespace };
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `${namespace}-${index}`, labels },
      spec: {},
      status: { capacity: amounts, allocatable: amounts },
    };
  });
  return {
    nodes,
    groups,
    budgets: [],
    running: running.map(({ name, at, group, priority = 10 }, start) =>
      pod(namespace, name, { cpu: 1000, priority, labels: {}, nodeName: `${namespace}-${at}`, group, start }),
    ),
    gang: podGroup(namespace, 'wanting', 100, false, 1),
    wanting: [pod(namespace, 'w-0', { cpu: 1000, priority: 100, labels: {}, group: 'wanting' })],
  };
}

const REPLICAS = [
  { name: 'a-leader', at: 0, group: 'g0' },
  { name: 'a-worker-0', at: 0, group: 'g0' },
  { name: 'a-worker-1', at: 1, group: 'g0' },
  { name: 'b-leader', at: 1, group: 'g1' },
  { name: 'b-worker-0', at: 1, group: 'g1' },
  { name: 'b-worker-1', at: 0, group: 'g1' },
];

export const stories: readonly Story[] = [
  {
    what: 'a training job is never preempted in part: all of it goes, on other nodes too',
    made: (namespace) =>
      cluster(
        namespace,
        [podGroup(namespace, 'g0', 10, true, 6)],
        [0, 1, 2, 3, 4, 5].map((index) => ({ name: `job-${index}`, at: index % 2, group: 'g0' })),
      ),
    victims: [0, 1, 2, 3, 4, 5].map((index) => `job-${index}`),
  },
  {
    what: 'of two replicas of multihost inference one goes as a whole, and the other serves on',
    made: (namespace) =>
      cluster(
        namespace,
        ['g0', 'g1'].map((name) => podGroup(namespace, name, 10, true, 3)),
        REPLICAS,
      ),
    // As important as each other: the one that started later.
    victims: ['b-leader', 'b-worker-0', 'b-worker-1'],
  },
  {
    what: 'inference that may run degraded loses one worker only',
    made: (namespace) =>
      cluster(
        namespace,
        ['g0', 'g1'].map((name) => podGroup(namespace, name, 10, false, 3)),
        REPLICAS,
      ),
    victims: ['b-worker-1'],
  },
];

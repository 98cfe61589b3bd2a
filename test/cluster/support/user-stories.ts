import type { JsonObject } from '../../../src/json/json.ts';
import { SAME_PRIORITY } from './native-gangs.ts';
import type { Ending } from './played-cluster.ts';
import { pod, podGroup, type RandomCluster } from './random-cluster.ts';

/** A user story of KEP-5710, as a cluster, and who has to go in it. */
export interface Story {
  readonly what: string;
  readonly made: (namespace: string) => RandomCluster;
  readonly victims: readonly string[];
  /** `starts` where nothing is said. */
  readonly ends?: Ending;
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
    gang: podGroup(namespace, 'wanting', 100, false, 1),
    wanting: wanting(namespace, 100),
    running: running.map(({ name, at, group, priority = 10 }, start) =>
      pod(namespace, name, { cpu: 1000, priority, labels: {}, nodeName: `${namespace}-${at}`, group, start }),
    ),
  };
}

const wanting = (namespace: string, ...priorities: number[]): JsonObject[] =>
  priorities.map((priority, index) =>
    pod(namespace, `w-${index}`, { cpu: 1000, priority, labels: {}, group: 'wanting' }),
  );

const REPLICAS = [
  { name: 'a-leader', at: 0, group: 'g0' },
  { name: 'a-worker-0', at: 0, group: 'g0' },
  { name: 'a-worker-1', at: 1, group: 'g0' },
  { name: 'b-leader', at: 1, group: 'g1' },
  { name: 'b-worker-0', at: 1, group: 'g1' },
  { name: 'b-worker-1', at: 0, group: 'g1' },
];

const OF_THE_DOCUMENT: readonly Story[] = [
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

const full = (namespace: string): RandomCluster =>
  cluster(
    namespace,
    ['g0', 'g1'].map((name) => podGroup(namespace, name, 10, false, 3)),
    REPLICAS,
  );

/** What kube-scheduler does since 1.37 alone; see "kube-1.37" in docs/preemption-algorithms.md. */
const SINCE_137: readonly Story[] = [
  {
    what: 'Pods beyond the minimum have victims as well',
    made: (namespace) => ({ ...full(namespace), wanting: wanting(namespace, 100, 100) }),
    // One is enough; with nobody there it is one on each node, and on each the last to start goes.
    victims: ['b-worker-0', 'b-worker-1'],
  },
  {
    what: 'a group of which a Pod has another priority is not tried, whoever is below',
    made: (namespace) => ({ ...full(namespace), wanting: wanting(namespace, 100, 30) }),
    victims: [],
    ends: 'never',
  },
  {
    what: 'a single Pod takes all of a group that is disrupted together',
    made: (namespace) => {
      const replicas = REPLICAS.filter(({ group }) => group === 'g0');
      const nodes = replicas.map((one) => ({ ...one, group: 'g0' }));
      const found = cluster(namespace, [podGroup(namespace, 'g0', 10, true, 3)], nodes);
      const alone = pod(namespace, 'w-0', { cpu: 3000, priority: 100, labels: {} });
      return { ...found, gang: undefined, wanting: [alone] };
    },
    victims: ['a-leader', 'a-worker-0', 'a-worker-1'],
  },
];

export const stories = SAME_PRIORITY ? [...OF_THE_DOCUMENT, ...SINCE_137] : OF_THE_DOCUMENT;

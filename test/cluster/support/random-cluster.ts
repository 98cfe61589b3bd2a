import type { JsonObject } from '../../../src/json/json.ts';
import type { Random } from '../../support/random.ts';
import { GANGS } from '../control-plane/releases.ts';
import { DISRUPTED, SAME_PRIORITY } from './native-gangs.ts';

/** A cluster made up for a planner and a scheduler to agree on, and a gang that wants room in it. */
export interface RandomCluster {
  readonly nodes: readonly JsonObject[];
  readonly groups: readonly JsonObject[];
  readonly budgets: readonly JsonObject[];
  /** On their nodes already. */
  readonly running: readonly JsonObject[];
  /** undefined where a single Pod wants room. */
  readonly gang: JsonObject | undefined;
  /** The gang's Pods: alike, or of two shapes. */
  readonly wanting: readonly JsonObject[];
}

const PRIORITIES = [0, 10, 20, 30, 100] as const;

/**
 * Sizes as a small cluster has them; priorities, groups of both modes, budgets, taints, selectors and (anti-)affinity in
 * every mixture. Start times are all different, so that no order is left to chance.
 */
export function randomCluster(random: Random, namespace: string): RandomCluster {
  const count = from(random, 2, random.chance(20) ? 20 : 6);
  const nodes = Array.from({ length: count }, (_, index): JsonObject => {
    const amounts = {
      cpu: String(from(random, 1, 6)),
      memory: '64Gi',
      pods: random.chance(10) ? '3' : '110',
    };
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: `${namespace}-${index}`,
        labels: { zone: random.pick(['x', 'y', 'z']), case: namespace },
      },
      spec: {
        ...(random.chance(10) ? { unschedulable: true } : {}),
        ...(random.chance(15) ? { taints: [{ key: 'gpu', value: '', effect: 'NoSchedule' }] } : {}),
      },
      status: { capacity: amounts, allocatable: amounts },
    };
  });
  const groupNames = ['g0', 'g1', 'g2'] as const;
  const groups = groupNames.map((name) =>
    podGroup(namespace, name, random.pick([...PRIORITIES]), random.chance(60), undefined),
  );
  const budgets = ['a', 'b'].map((app): JsonObject => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace },
    spec: { minAvailable: 1, selector: { matchLabels: { app } } },
    status: {
      disruptionsAllowed: from(random, 0, 2),
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    },
  }));
  const running: JsonObject[] = [];
  for (const [at, node] of nodes.entries()) {
    const status = node['status'] as { allocatable: { cpu: string; pods: string } };
    let free = Number(status.allocatable.cpu) * 1000;
    const most = Math.min(Number(status.allocatable.pods), from(random, 1, 10));
    for (let index = 0; index < most && free >= 250; index += 1) {
      const cpu = Math.min(free, random.pick([250, 500, 1000, 2000]));
      free -= cpu;
      const group = random.chance(30) ? random.pick([...groupNames]) : undefined;
      const alone = random.chance(8);
      running.push(
        pod(namespace, `r-${at}-${index}`, {
          cpu,
          priority: random.pick([...PRIORITIES]),
          labels: random.chance(30) ? { app: random.pick(['a', 'b']) } : {},
          nodeName: `${namespace}-${at}`,
          start: running.length,
          ...(alone ? { constraints: { affinity: { podAntiAffinity: away('wanting') } } } : {}),
          ...(group === undefined ? {} : { group }),
        }),
      );
    }
  }
  const single = random.chance(30);
  const replicas = single ? 1 : from(random, 1, 4);
  const priority = random.pick([20, 30, 100, 100]);
  const together = random.chance(50);
  const topologyKey = random.chance(20) ? 'zone' : undefined;
  const gang = single ? undefined : podGroup(namespace, 'wanting', priority, together, replicas, topologyKey);
  const constraints = {
    ...(random.chance(20) ? { nodeSelector: { zone: random.pick(['x', 'y']) } } : {}),
    ...(random.chance(20) ? { tolerations: [{ key: 'gpu', operator: 'Exists' }] } : {}),
    ...(random.chance(15) ? { affinity: { podAntiAffinity: away('a') } } : {}),
  };
  const cpu = random.pick([500, 1000, 1000, 2000]);
  const other = random.chance(30) ? random.pick([500, 1000, 2000]) : cpu;
  const wanting = Array.from({ length: replicas }, (_, index) =>
    pod(namespace, `w-${index}`, {
      cpu: index % 2 === 0 ? cpu : other,
      // Of Pods alike in priority kube-scheduler 1.36 leaves it to chance which is placed first; since then it is the oldest.
      priority: SAME_PRIORITY || index % 2 === 0 || other === cpu ? priority : 10,
      labels: { app: 'wanting' },
      constraints,
      ...(single ? {} : { group: 'wanting' }),
    }),
  );
  return { nodes, groups, budgets, running, gang, wanting };
}

const from = (random: Random, least: number, most: number): number => least + random.below(most - least + 1);

const away = (app: string): JsonObject => ({
  requiredDuringSchedulingIgnoredDuringExecution: [
    { topologyKey: 'zone', labelSelector: { matchLabels: { app } } },
  ],
});

export const podGroup = (
  namespace: string,
  name: string,
  priority: number,
  together: boolean,
  minCount: number | undefined,
  topologyKey?: string,
): JsonObject => ({
  apiVersion: GANGS ?? '',
  kind: 'PodGroup',
  metadata: { name, namespace },
  spec: {
    priorityClassName: `p${priority}`,
    disruptionMode: DISRUPTED[together ? 'together' : 'alone'],
    schedulingPolicy: minCount === undefined ? { basic: {} } : { gang: { minCount } },
    ...(topologyKey === undefined ? {} : { schedulingConstraints: { topology: [{ key: topologyKey }] } }),
  },
});

export function pod(
  namespace: string,
  name: string,
  given: {
    readonly cpu: number;
    readonly priority: number;
    readonly labels: JsonObject;
    readonly nodeName?: string;
    readonly group?: string;
    readonly start?: number;
    readonly constraints?: JsonObject;
  },
): JsonObject {
  const { cpu, priority, labels, nodeName, group, start, constraints } = given;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: {
      containers: [{ name: 'c', image: 'example.test/none', resources: { requests: { cpu: `${cpu}m` } } }],
      priorityClassName: `p${priority}`,
      terminationGracePeriodSeconds: 0,
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(group === undefined ? {} : { schedulingGroup: { podGroupName: group } }),
      ...constraints,
    },
    ...(start === undefined
      ? {}
      : {
          status: { phase: 'Running', startTime: new Date(Date.UTC(2026, 0, 1, 0, 0, start)).toISOString() },
        }),
  };
}

/** The classes that these Pods name. */
export const priorityClasses: readonly JsonObject[] = PRIORITIES.map((value) => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: `p${value}` },
  value,
}));

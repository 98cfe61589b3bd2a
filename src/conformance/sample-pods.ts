import { LABEL_BASE_POD_GANG, LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../api/names.ts';
import type { JsonObject } from '../json/json.ts';

const LONG = 'a-gang-whose-name-takes-up-all-of-the-63-characters-there-are-x';
const GANG_NAMES = ['train', 'x', 'a.b-c.d', '0', LONG] as const;
const GROUPS = ['worker', 'leader', 'A.b_c', 'W'.repeat(63)] as const;
/** Keys of other programs' labels and annotations, with names that careless code mishandles. */
const FOREIGN = ['app', '__proto__', 'constructor', 'example.com/a~b', 'toString'] as const;

/** A gang's Pod as the API server would send it. */
export const samplePod = (
  gang: string,
  group: string,
  parts: { readonly namespace?: string; readonly metadata?: JsonObject; readonly spec?: JsonObject } = {},
): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'pod-0',
    namespace: parts.namespace ?? 'ml',
    labels: { [LABEL_POD_GANG]: gang, [LABEL_POD_CLIQUE]: group },
    ...parts.metadata,
  },
  spec: {
    schedulerName: 'default-scheduler',
    containers: [{ name: 'main', image: 'example/train:1' }],
    ...parts.spec,
  },
});

/** Valid Pods of every kind, the same ones in each run. */
export function samplePods(count: number): JsonObject[] {
  const random = new Random(1);
  return Array.from({ length: count }, () => {
    const [gang, group] = [random.pick(GANG_NAMES), random.pick(GROUPS)];
    const labels = new Map<string, string>(random.list(3, () => [random.pick(FOREIGN), 'kept'] as const));
    labels.set(LABEL_POD_GANG, gang).set(LABEL_POD_CLIQUE, group);
    if (random.chance(20)) labels.set(LABEL_BASE_POD_GANG, 'base');
    const annotations = Object.fromEntries(random.list(3, () => [random.pick(FOREIGN), 'kept']));
    const named = random.chance(70) ? { name: `pod-${random.below(9)}` } : { generateName: 'pod-' };
    return JSON.parse(
      JSON.stringify(
        samplePod(gang, group, {
          metadata: {
            ...named,
            namespace: random.pick(['ml', 'web']),
            labels: Object.fromEntries(labels),
            ...(random.chance(60) ? { annotations } : {}),
          },
          spec: {
            ...(random.chance(20) ? { schedulingGates: [{ name: 'example.com/quota' }] } : {}),
            ...(random.chance(20) ? { priorityClassName: 'high' } : {}),
            ...(random.chance(80) ? {} : { schedulerName: '' }),
          },
        }),
      ),
    ) as JsonObject;
  });
}

/** A seeded random generator (mulberry32): a seed reproduces the whole sequence. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A random integer from 0 to below `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  /** True in `percent` of all cases. */
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0];
  }

  list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}

import type { Json, JsonObject } from '../../src/json/json.ts';
import { condition, group, podGang } from './pod-gangs.ts';
import { json } from './pods.ts';
import type { Random } from './random.ts';

const NAMES = ['a', 'b', 'c', 'leader', 'A_b'] as const;
/** As text, so that each place gets a value of its own. */
const NONSENSE = [
  'null',
  '0',
  '-1',
  '1.5',
  '1e300',
  '""',
  '"x"',
  'true',
  '[]',
  '{}',
  '[null]',
  '[[[]]]',
  '{"name":{}}',
  '[{"name":"a","podReferences":[{}]}]',
  '{"__proto__":{"polluted":1},"constructor":[]}',
  '"a\\u0000\\u202e"',
  '[{"type":"Initialized"}]',
] as const;

const referencesOf = (random: Random): Json =>
  random.list(3, () => ({ namespace: random.chance(98) ? 'ml' : 'web', name: `p-${random.below(40)}` }));

function groupsOf(random: Random): Json[] {
  const count = 1 + random.below(3);
  return NAMES.slice(0, count).map((name) =>
    group(name, {
      minReplicas: random.below(3),
      podReferences: random.chance(10) ? undefined : random.chance(30) ? [] : referencesOf(random),
    }),
  );
}

export function conditionsOf(random: Random): Json[] {
  const types = ['Ready', 'Initialized', 'Initialized', 'Scheduled'] as const;
  return random.list(3, () =>
    condition(random.pick(types), random.pick(['True', 'True', 'False', 'Unknown']), {
      reason: random.pick(['A', 'B']),
    }),
  );
}

/** A PodGang as people and controllers write them: groups of few names, now and then a label of Grove's. */
export const randomPodGang = (random: Random): JsonObject =>
  podGang({
    groups: groupsOf(random),
    labels: random.chance(10) ? { 'app.kubernetes.io/managed-by': 'grove-operator' } : {},
    status: { conditions: conditionsOf(random) },
  });

/** As {@link randomPodGang}, with nonsense in up to three places. */
export function nonsensePodGang(random: Random): JsonObject {
  const gang = JSON.parse(JSON.stringify(randomPodGang(random))) as JsonObject;
  for (let times = random.below(4); times > 0; times -= 1) spoil(random, gang);
  // A hole in a list is no JSON.
  return json(gang);
}

function spoil(random: Random, value: Json): void {
  if (typeof value !== 'object' || value === null) return;
  const container = value as Record<string, Json>;
  const key = random.pick(['name', ...Object.keys(container)] as [string, ...string[]]);
  // The outside is what a review is checked for before any rule runs.
  if (key === 'metadata') return;
  if (random.chance(35)) container[key] = JSON.parse(random.pick(NONSENSE)) as Json;
  else if (random.chance(10)) Reflect.deleteProperty(container, key);
  else spoil(random, container[key] ?? null);
}

import type { AssignReplicaPlugin } from '../../src/fleet/assign/assign-replica-plugin.ts';
import { cheapest } from '../../docs/examples/cheapest-strategies.ts';

type Assign = AssignReplicaPlugin['assignReplica'];

const changed = (change: Partial<AssignReplicaPlugin>): AssignReplicaPlugin => ({ ...cheapest, ...change });

/** What the sound one answers, made into something else. Its answers are at once. */
const answering = (
  make: (found: { name: string; replicas: number }[], given: Parameters<Assign>) => unknown,
): AssignReplicaPlugin =>
  changed({
    assignReplica: (...given) => {
      const found = cheapest.assignReplica(...given);
      if (found instanceof Promise) throw new Error('it answers at once');
      return make(structuredClone(found) as { name: string; replicas: number }[], given) as never;
    },
  });

const single = ([, , { components }]: Parameters<Assign>): boolean => components.length === 0;

/** Each fails exactly one rule of the kit. */
export const BROKEN: readonly {
  readonly breaks: string;
  readonly how: string;
  readonly says: string;
  readonly plugin: () => AssignReplicaPlugin;
}[] = [
  {
    breaks: 'names',
    how: 'no name',
    says: 'its name is ""',
    plugin: () => changed({ name: '' }),
  },
  {
    breaks: 'names',
    how: 'no strategy',
    says: 'strategies() returns no list with a name in it',
    plugin: () => changed({ strategies: () => [] }),
  },
  {
    breaks: 'names',
    how: 'one of Muster’s own',
    says: 'strategies() names "gang-divided", which comes with Muster',
    plugin: () => changed({ strategies: () => ['mine', 'gang-divided'] }),
  },
  {
    breaks: 'names',
    how: 'one twice',
    says: 'strategies() names "mine" twice',
    plugin: () => changed({ strategies: () => ['mine', 'mine'] }),
  },
  {
    breaks: 'names',
    how: 'no name of a strategy',
    says: 'strategies() names "by price"',
    plugin: () => changed({ strategies: () => ['by price'] }),
  },
  {
    breaks: 'in-time',
    how: 'never answers',
    says: 'it does not answer within 2 s, of 4 replicas, 4 at least, with m1 100, m2 100 available',
    plugin: () => changed({ assignReplica: () => new Promise(() => undefined) }),
  },
  {
    breaks: 'no-throw',
    how: 'throws where there is no room',
    says: 'it throws "no room", of 30 replicas, 25 at least, with m3 10, m2 8, m1 6 available',
    plugin: () =>
      answering((found) => {
        if (found.length === 0) throw new Error('no room');
        return found;
      }),
  },
  {
    breaks: 'shape',
    how: 'answers nothing',
    says: 'its answer is no list',
    plugin: () => answering(() => undefined),
  },
  {
    breaks: 'shape',
    how: 'a part of a replica',
    says: 'its answer for "m1" has replicas 0.5, which is no whole number from 0',
    plugin: () => answering(() => [{ name: 'm1', replicas: 0.5 }]),
  },
  {
    breaks: 'shape',
    how: 'a template that there is not',
    says: 'its answer for "m1" names a template "chief" that there is not',
    plugin: () =>
      answering((found, given) =>
        single(given) ? found : [{ name: 'm1', components: [{ name: 'chief', replicas: 1 }] }],
      ),
  },
  {
    breaks: 'given-clusters',
    how: 'a cluster that was filtered',
    says: 'it names cluster "cordoned", which was not given',
    plugin: () =>
      answering((found) => found.map((one, index) => (index === 0 ? { ...one, name: 'cordoned' } : one))),
  },
  {
    breaks: 'given-clusters',
    how: 'one twice',
    says: 'it names cluster "m1" twice',
    plugin: () =>
      answering((found) =>
        found.flatMap((one) =>
          one.replicas > 1
            ? [
                { ...one, replicas: 1 },
                { ...one, replicas: one.replicas - 1 },
              ]
            : [one],
        ),
      ),
  },
  {
    breaks: 'available',
    how: 'all into one cluster',
    says: 'it gives 12 replicas to "m1", and 6 are available there',
    plugin: () =>
      answering((found, given) =>
        single(given) && found[0] !== undefined
          ? [{ name: found[0].name, replicas: given[2].replicas }]
          : found,
      ),
  },
  {
    breaks: 'interval',
    how: 'less than the least',
    says: 'it gives 24 replicas in all, which must be from 25 to 30, or an empty list',
    plugin: () =>
      changed({
        assignReplica: (strategy, clusters, spec, status) =>
          cheapest.assignReplica(strategy, clusters, { ...spec, minAvailable: 0 }, status),
      }),
  },
  {
    breaks: 'places',
    how: 'places nothing',
    says: 'it gives no cluster anything, of 4 replicas, 4 at least, with m1 100, m2 100 available',
    plugin: () => answering(() => []),
  },
  {
    breaks: 'repeatable',
    how: 'remembers',
    says: 'it gives m2 4, and then m1 4, of 4 replicas',
    plugin: () => {
      let calls = 0;
      return changed({
        assignReplica: (strategy, clusters, spec, status) => {
          calls += 1;
          const kept = clusters.map(({ name }) => name).sort()[calls % clusters.length];
          const [one] = clusters.filter(({ name, available }) => name === kept && available >= spec.replicas);
          return one === undefined || spec.components.length > 0 || clusters.length === 1
            ? cheapest.assignReplica(strategy, clusters, spec, status)
            : [{ name: one.name, replicas: spec.replicas }];
        },
      });
    },
  },
  {
    breaks: 'order',
    how: 'takes the first that comes',
    says: 'it gives m1 4, and in reverse order m2 4, of 4 replicas',
    plugin: () =>
      changed({
        assignReplica: (strategy, clusters, spec, status) => {
          const there = spec.clusters.length > 0 || spec.components.length > 0;
          const first = clusters.find(({ available }) => available >= spec.replicas);
          return there || first === undefined
            ? cheapest.assignReplica(strategy, clusters, spec, status)
            : [{ name: first.name, replicas: spec.replicas }];
        },
      }),
  },
  {
    breaks: 'settled',
    how: 'moves to where more is free',
    says: 'it gives m1 4, and with that in place m2 4, of 4 replicas',
    plugin: () =>
      changed({
        assignReplica: (strategy, clusters, spec, status) => {
          const [most] = clusters
            .filter(({ available }) => available >= spec.replicas)
            .sort((a, b) => b.allocatable - a.allocatable || (a.name < b.name ? -1 : 1));
          return most === undefined || spec.components.length > 0
            ? cheapest.assignReplica(strategy, clusters, spec, status)
            : [{ name: most.name, replicas: spec.replicas }];
        },
      }),
  },
];

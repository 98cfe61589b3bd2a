import type { AssignReplicaPlugin, BindingSpec, ClusterRoom, TargetCluster } from '../../src/index.ts';

/** What an hour costs, by cluster; the default where none is said. */
let prices: ReadonlyMap<string, number> = new Map();

const priceOf = ({ name, labels }: ClusterRoom): number =>
  prices.get(name) ?? Number(labels['example.com/price'] ?? 1);

/** Where it runs already it stays; then by price, and by name between equals. */
const byPrice = (a: ClusterRoom, b: ClusterRoom): number =>
  b.score - a.score || priceOf(a) - priceOf(b) || (a.name < b.name ? -1 : 1);

/** One template: the cheapest cluster is filled before the next one gets any. */
function divided(clusters: readonly ClusterRoom[], spec: BindingSpec): TargetCluster[] {
  let left = spec.replicas;
  const targets: TargetCluster[] = [];
  for (const { name, available } of [...clusters].sort(byPrice)) {
    const replicas = Math.min(left, available);
    if (replicas > 0) targets.push({ name, replicas });
    left -= replicas;
  }
  return spec.replicas - left >= spec.minAvailable ? targets : [];
}

/** Several templates: the least of each, in the cheapest cluster that holds them. */
function together(clusters: readonly ClusterRoom[], spec: BindingSpec): TargetCluster[] {
  const [cheapest] = clusters.filter(({ available }) => available > 0).sort(byPrice);
  if (cheapest === undefined) return [];
  const components = spec.components.map(({ name, minAvailable }) => ({ name, replicas: minAvailable }));
  return [{ name: cheapest.name, replicas: 0, components }];
}

export const cheapest: AssignReplicaPlugin = {
  name: 'prices',
  strategies: () => ['cheapest-first'],
  configure: ({ prices: given = {}, ...others }) => {
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw new Error(`config.${unknown} is not known; write prices`);
    const entries = Object.entries(given ?? {});
    const wrong = entries.find(([, price]) => typeof price !== 'number');
    if (wrong !== undefined) throw new Error(`config.prices.${wrong[0]} must be a number`);
    prices = new Map(entries as [string, number][]);
  },
  assignReplica: (_strategy, clusters, spec) =>
    spec.components.length === 0 ? divided(clusters, spec) : together(clusters, spec),
};

export default cheapest;

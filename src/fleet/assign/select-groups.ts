/** Clusters that share a region. */
export interface Group {
  readonly name: string;
  readonly clusters: number;
  readonly score: number;
}

interface Path {
  readonly groups: readonly Group[];
  readonly score: number;
  readonly clusters: number;
  readonly order: number;
}

/** Above so many ways to choose, those that were found first have to do: there are 2^n of them. */
const MOST_PATHS = 100_000;

/**
 * The groups whose scores come to most, among all choices of `min` to `max` of them that have enough clusters; a choice
 * that is the beginning of the best one is better, since it needs fewer.
 * @returns their names, best first; none where no choice will do
 */
export function selectGroups(
  groups: readonly Group[],
  need: { readonly min: number; readonly max: number; readonly clusters: number },
): readonly string[] {
  const sorted = [...groups].sort(
    (a, b) => a.clusters - b.clusters || b.score - a.score || (a.name < b.name ? -1 : 1),
  );
  const paths: Path[] = [];
  const walk = (taken: readonly Group[], clusters: number, from: number): void => {
    if (paths.length >= MOST_PATHS) return;
    if (clusters >= need.clusters && taken.length >= need.min && taken.length <= need.max) {
      paths.push(pathOf(taken, paths.length));
      return;
    }
    if (taken.length >= need.max) return;
    for (let at = from; at < sorted.length; at += 1) {
      const group = sorted[at];
      if (group === undefined) return;
      walk([...taken, group], clusters + group.clusters, at + 1);
      // All of them are needed, so leaving one out leads nowhere.
      if (sorted.length === need.min) return;
    }
  };
  walk([], 0, 0);
  const [first, ...others] = paths.sort(
    (a, b) => b.score - a.score || b.clusters - a.clusters || a.order - b.order,
  );
  if (first === undefined) return [];
  const best = others.reduce((found, one) => (begins(one, found) ? one : found), first);
  return best.groups.map(({ name }) => name);
}

const pathOf = (taken: readonly Group[], order: number): Path => ({
  groups: [...taken].sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1)),
  score: taken.reduce((sum, { score }) => sum + score, 0),
  clusters: taken.reduce((sum, { clusters }) => sum + clusters, 0),
  order,
});

const begins = (short: Path, long: Path): boolean =>
  short.groups.length < long.groups.length &&
  short.groups.every(({ name }, index) => long.groups[index]?.name === name);

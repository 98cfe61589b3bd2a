/** A choice: its name, and what can be chosen. */
export type Factors<T> = Readonly<Record<string, readonly T[]>>;

/**
 * Rows in which every two options of different factors meet at least once. Each row begins with a pair that no row has yet,
 * and takes of each further factor the option that meets the most new ones.
 */
export function pairwise<T>(factors: Factors<T>): readonly Readonly<Record<string, T>>[] {
  const names = Object.keys(factors);
  const keyOf = (a: number, i: number, b: number, j: number): string =>
    a < b ? `${a}.${i} ${b}.${j}` : `${b}.${j} ${a}.${i}`;
  const open = new Set<string>();
  const optionsOf = (index: number): readonly T[] => factors[names[index] ?? ''] ?? [];
  for (const a of names.keys()) {
    for (let b = a + 1; b < names.length; b += 1) {
      for (const i of optionsOf(a).keys()) for (const j of optionsOf(b).keys()) open.add(keyOf(a, i, b, j));
    }
  }
  const rows: Readonly<Record<string, T>>[] = [];
  for (;;) {
    const [first] = open;
    if (first === undefined) return rows;
    const chosen = new Map(
      first
        .split(' ')
        .map((one) => one.split('.').map(Number))
        .map(([factor = 0, option = 0]) => [factor, option]),
    );
    for (const factor of names.keys()) {
      if (chosen.has(factor)) continue;
      const gains = [...optionsOf(factor).keys()].map(
        (option) =>
          [...chosen].filter(([other, taken]) => open.has(keyOf(factor, option, other, taken))).length,
      );
      chosen.set(factor, gains.indexOf(Math.max(...gains)));
    }
    for (const [a, i] of chosen) for (const [b, j] of chosen) open.delete(keyOf(a, i, b, j));
    rows.push(
      Object.fromEntries(
        names.map((name, index) => [name, optionsOf(index)[chosen.get(index) ?? 0] as T] as const),
      ),
    );
  }
}

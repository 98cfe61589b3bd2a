/**
 * Finds the key that a user probably meant. The distance is Damerau–Levenshtein in its optimal-string-alignment form: an
 * insertion, a deletion, a substitution or a swap of neighbours counts one. Case is ignored, since wrong capitals are the
 * most common slip in camelCase.
 */

/** Longer input is not compared: no known key is this long, and the table is quadratic. */
const LONGEST = 64;

/** Number of edits between `a` and `b`. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? a.length;
}

/**
 * Returns the one of `known` nearest to `key`, the first of equals. Its distance may be a third of the length of the shorter
 * of the two (at least one edit, at most four); a more distant suggestion misleads. Without one it returns the key that
 * begins with `key`, such as `kai-scheduler` for `kai`, or undefined.
 */
export function nearestKey(key: string, known: Iterable<string>): string | undefined {
  if (key.length > LONGEST) return undefined;
  const wanted = key.toLowerCase();
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    const near = Math.min(4, Math.max(1, Math.ceil(Math.min(key.length, candidate.length) / 3)));
    if (distance <= near && distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ?? [...known].find((candidate) => candidate.toLowerCase().startsWith(`${wanted}-`));
}

/** Returns `did you mean "x"?`; undefined where no known key is near. */
export function didYouMean(key: string, known: Iterable<string>): string | undefined {
  const nearest = nearestKey(key, known);
  return nearest === undefined ? undefined : `did you mean "${nearest}"?`;
}

/** Returns the text of {@link didYouMean} in brackets, to follow a word; '' where no known key is near. */
export function suggestion(key: string, known: Iterable<string>): string {
  const words = didYouMean(key, known);
  return words === undefined ? '' : ` (${words})`;
}

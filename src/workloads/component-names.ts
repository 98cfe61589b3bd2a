import { fnv1a } from '../text/fnv1a.ts';

/** Longest name of a component that Karmada stores. */
const LONGEST_COMPONENT_NAME = 32;

/**
 * Names of components in Karmada's form: at most 32 characters and unique. A longer name is cut and gets a hash of the full
 * name; the second component of a name gets its position. Equal input gives equal names.
 */
export function componentNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  // A name that fits stays unchanged, even when a cut name before it would be the same.
  const plain = new Set(names.filter((name) => name.length <= LONGEST_COMPONENT_NAME));
  return names.map((name, index) => {
    let unique = name.length <= LONGEST_COMPONENT_NAME ? name : cut(name, hashOf(name));
    for (let again = 0; taken.has(unique) || (unique !== name && plain.has(unique)); again += 1) {
      unique = cut(name, again === 0 ? String(index) : `${index}-${again}`);
    }
    taken.add(unique);
    return unique;
  });
}

const cut = (name: string, tail: string): string =>
  `${name.slice(0, LONGEST_COMPONENT_NAME - 1 - tail.length).replace(/[-_.]+$/, '')}-${tail}`;

const hashOf = (text: string): string => fnv1a(text).toString(16).padStart(8, '0');

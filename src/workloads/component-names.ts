import { fnv1a } from '../text/fnv1a.ts';

/** Karmada stores no longer name of a component. */
const LONGEST_COMPONENT_NAME = 32;

/**
 * The names of components as Karmada takes them: at most 32 characters, no two alike. What is too long is cut, with a
 * hash of the whole in its place; the second of the same name gets its position. The same names always become the same.
 */
export function componentNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  // Names that need no change keep their own, whatever stands before them.
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

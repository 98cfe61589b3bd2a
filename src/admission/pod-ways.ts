import { POD_FIELDS, POD_LISTS, type PodField, type PodList } from '../preparers/preparer.ts';

/** The path to a list or field of a Pod. */
export interface Way {
  /** Keys from the Pod, or from the container. No key needs escaping in a JSON pointer. */
  readonly keys: readonly string[];
  /** The JSON pointer of each key. */
  readonly pointers: readonly string[];
  /** The JSON pointer that appends to the list. */
  readonly end: string;
}

const IN_CONTAINERS = 'containers.';

export const isInContainers = (name: PodList | PodField): boolean => name.startsWith(IN_CONTAINERS);

const keys: ReadonlyMap<PodList | PodField, readonly string[]> = new Map(
  ([...Object.keys(POD_LISTS), ...Object.keys(POD_FIELDS)] as (PodList | PodField)[]).map((name) => [
    name,
    (isInContainers(name) ? name.slice(IN_CONTAINERS.length) : name).split('.'),
  ]),
);

/** The keys for the name of a list or field. */
export const keysOf = (name: PodList | PodField): readonly string[] => keys.get(name) ?? [];

/** Paths are cached for containers up to this index, since every Pod needs them. */
const MOST_CONTAINERS = 16;
const known = new Map<PodList | PodField, Way[]>();

/** @param container index of the container, for a list or field of `containers` */
export function wayTo(name: PodList | PodField, container = 0): Way {
  let ways = known.get(name);
  if (ways === undefined) known.set(name, (ways = []));
  let way = ways[container];
  if (way === undefined) {
    way = wayFrom(isInContainers(name) ? `/spec/containers/${container}` : '', keysOf(name));
    if (container < MOST_CONTAINERS) ways[container] = way;
  }
  return way;
}

/** `join` gives flat strings. V8 keeps a concatenated string in parts and joins them at each read. */
function wayFrom(from: string, steps: readonly string[]): Way {
  const pointers = steps.map((_, index) => [from, ...steps.slice(0, index + 1)].join('/'));
  return { keys: steps, pointers, end: [from, ...steps, '-'].join('/') };
}

import { POD_FIELDS, POD_LISTS, type PodField, type PodList } from '../preparers/preparer.ts';

/** The way to a list or a field of one Pod. */
export interface Way {
  /** From the Pod, or from the container. None of them needs an escape in a pointer. */
  readonly keys: readonly string[];
  /** Where each of them leads, as a JSON pointer. */
  readonly pointers: readonly string[];
  /** Behind the last item of a list. */
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

/** The keys that the name of a list or field means. */
export const keysOf = (name: PodList | PodField): readonly string[] => keys.get(name) ?? [];

/** Ways are asked for with every Pod; those to containers further behind are not kept. */
const MOST_CONTAINERS = 16;
const known = new Map<PodList | PodField, Way[]>();

/** @param container its position, for a list or field of `containers` */
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

/** Joined: a text that is added up stays in parts, which are put together again whenever it is read. */
function wayFrom(from: string, steps: readonly string[]): Way {
  const pointers = steps.map((_, index) => [from, ...steps.slice(0, index + 1)].join('/'));
  return { keys: steps, pointers, end: [from, ...steps, '-'].join('/') };
}

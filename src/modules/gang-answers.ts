import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { printable } from '../text/printable.ts';
import type { ModuleSupervisor } from './supervisor.ts';

/** Number of gangs whose answers are kept. */
export const MOST_GANGS = 20_000;

/** A map of bounded size that drops the key which was set least recently. */
export class LruCache<V> {
  readonly #most: number;
  readonly #map = new Map<string, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    return this.#map.get(key);
  }

  set(key: string, value: V): void {
    this.#map.delete(key);
    this.#map.set(key, value);
    const [oldest] = this.#map.keys();
    if (this.#map.size > this.#most && oldest !== undefined) this.#map.delete(oldest);
  }

  delete(key: string): void {
    this.#map.delete(key);
  }
}

/** Explanations of gangs by a module: a caller gets the last one at once, and a new one is requested in the background. */
export class Explanations {
  readonly #supervisor: Pick<ModuleSupervisor<unknown>, 'current' | 'said'>;
  readonly #known = new LruCache<{ readonly of: string; readonly text: string | undefined }>(MOST_GANGS);

  constructor(supervisor: Pick<ModuleSupervisor<unknown>, 'current' | 'said'>) {
    this.#supervisor = supervisor;
  }

  of(objects: readonly JsonObject[]): string | undefined {
    const [first] = objects;
    const gang = first && gangIn(first);
    if (gang === undefined) return undefined;
    const of = objects.map(versionOf).join(' ');
    const known = this.#known.get(gang);
    if (known?.of !== of) {
      this.#known.set(gang, { of, text: known?.text });
      void this.#ask(gang, of, objects, known?.text);
    }
    return known?.text;
  }

  async #ask(
    gang: string,
    of: string,
    objects: readonly JsonObject[],
    before: string | undefined,
  ): Promise<void> {
    const { current } = this.#supervisor;
    const answer =
      typeof current === 'string' ? null : await current.call('explain', objects).catch(() => null);
    const text = typeof answer === 'string' ? printable(answer, 1_024) : undefined;
    if (this.#known.get(gang)?.of !== of) return;
    this.#known.set(gang, { of, text });
    if (text !== before) this.#supervisor.said(gang);
  }
}

const versionOf = (object: JsonObject): string => {
  const metadata = ownObject(object, 'metadata');
  return `${ownString(metadata, 'uid') ?? ''}@${ownString(metadata, 'resourceVersion') ?? ''}`;
};

/** `namespace/name` of the gang that controls an object. */
function gangIn(object: JsonObject): string | undefined {
  const metadata = ownObject(object, 'metadata');
  const owner = (ownList(metadata, 'ownerReferences') ?? []).find(
    (one: Json) => own(one, 'controller') === true,
  );
  const [namespace, name] = [ownString(metadata, 'namespace'), ownString(owner, 'name')];
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
}

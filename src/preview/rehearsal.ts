import { isObject, own, ownString, type JsonObject } from '../json/json.ts';
import { trimmed } from '../preemption/read/trim.ts';
import { gangOf } from './cluster-watch.ts';
import type { ForecastQuestion } from './question.ts';

/** Milliseconds for which an object of a dry run counts for the next ones: enough for a file of many objects. */
const KEPT_MS = 30_000;
const MOST_GANGS = 64;
const MOST_PODS = 2_048;
/** Limit of all kept objects together, in characters of JSON, since a user may write labels and affinity of any length. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** The objects of one gang that one user has sent as dry runs. */
export interface TriedGang {
  /** `namespace/name`. */
  readonly key: string;
  /** The PodGang, where it was sent as a dry run itself. */
  readonly gang: JsonObject | undefined;
  readonly pods: readonly JsonObject[];
}

interface Kept {
  readonly key: string;
  gang: JsonObject | undefined;
  readonly pods: Map<string, JsonObject>;
  /** Characters of JSON of the PodGang; `podsSize` is that of all Pods. */
  gangSize: number;
  podsSize: number;
  at: number;
}

/**
 * Remembers the objects of recent dry runs. A dry run stores nothing, so without this each object of a file with a PodGang
 * and its Pods would be planned as if the others did not exist.
 */
export class Rehearsal {
  readonly #kept = new Map<string, Kept>();

  /**
   * Adds an object, and returns all kept objects of its gang; undefined where it is of no gang.
   * @param now milliseconds since 1970
   */
  add({ user, namespace, object: whole }: ForecastQuestion, now: number): TriedGang | undefined {
    const object = trimmed(whole);
    for (const [id, { at }] of this.#kept) if (now - at > KEPT_MS) this.#kept.delete(id);
    const metadata = own(object, 'metadata');
    const isGang = own(object, 'kind') === 'PodGang';
    const name = isGang ? (ownString(metadata, 'name') ?? '') : gangOf(object);
    if (name === '') return undefined;
    const key = `${namespace}/${name}`;
    const id = JSON.stringify([user, key]);
    const known = this.#kept.get(id) ?? {
      key,
      gang: undefined,
      pods: new Map<string, JsonObject>(),
      gangSize: 0,
      podsSize: 0,
      at: now,
    };
    known.at = now;
    const given = ownString(metadata, 'name') ?? '';
    // An object that comes for the second time starts a new rehearsal, since the file may have changed.
    if (isGang ? known.gang !== undefined : known.pods.has(given)) {
      known.pods.clear();
      known.podsSize = 0;
    }
    const size = JSON.stringify(object).length;
    if (isGang) {
      known.gang = object;
      known.gangSize = size;
    } else if (known.pods.size < MOST_PODS && sizeOf(known) + size <= MOST_CHARACTERS) {
      const generated = `${ownString(metadata, 'generateName') ?? ''}${known.pods.size}`;
      known.pods.set(given || generated, named(object, given || generated, namespace));
      known.podsSize += size;
    }
    // Inserted again, so that the gang that was used last is the last to be dropped.
    this.#kept.delete(id);
    this.#kept.set(id, known);
    this.#forget();
    return { key, gang: known.gang, pods: [...known.pods.values()] };
  }

  #forget(): void {
    let [pods, size] = [0, 0];
    for (const one of this.#kept.values()) {
      pods += one.pods.size;
      size += sizeOf(one);
    }
    for (const [id, one] of this.#kept) {
      if (this.#kept.size <= MOST_GANGS && pods <= MOST_PODS && size <= MOST_CHARACTERS) return;
      if (this.#kept.size === 1) return;
      this.#kept.delete(id);
      pods -= one.pods.size;
      size -= sizeOf(one);
    }
  }
}

const sizeOf = ({ gangSize, podsSize }: Kept): number => gangSize + podsSize;

function named(object: JsonObject, name: string, namespace: string): JsonObject {
  const { metadata } = object;
  return { ...object, metadata: { ...(isObject(metadata) ? metadata : {}), name, namespace } };
}

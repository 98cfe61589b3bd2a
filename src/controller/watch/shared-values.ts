import type { PodRecord } from '../../gang/records.ts';

/** More different values of a kind than this are forgotten: what comes later is shared only among itself. */
const MAX_VALUES = 16_384;
/** Longer ones are seldom the same; remembered, they would stay when their Pods are long gone. */
const MAX_LENGTH = 512;

/**
 * Makes equal parts of Pod records the same part. Whoever parses JSON gets a new text each time, and of 20,000 Pods
 * each would keep its own "Scheduling is blocked …", the name of its gang and of its node, and a list with our gate:
 * a quarter of what the cache takes. Only for records that nobody changes.
 */
export class SharedValues {
  readonly #texts = new Map<string, string>();
  readonly #gates = new Map<string, PodRecord['gates']>();
  readonly #conditions = new Map<string, PodRecord['podScheduled']>();
  readonly #origins = new Map<string, PodRecord['origin']>();

  pod(record: PodRecord): PodRecord {
    const { gates, podScheduled, baseGang, creationTimestamp, nativeGang, schedulerName, priorityClassName } =
      record;
    const { origin, prepared, subdomain } = record;
    return {
      ...record,
      namespace: this.#text(record.namespace),
      creationTimestamp: this.#optional(creationTimestamp),
      gang: this.#text(record.gang),
      group: this.#text(record.group),
      baseGang: this.#optional(baseGang),
      nodeName: this.#text(record.nodeName),
      // No conditional spreads: they would make each record a dictionary, of twice the size.
      nativeGang: this.#optional(nativeGang),
      schedulerName: this.#optional(schedulerName),
      priorityClassName: this.#optional(priorityClassName),
      prepared: this.#optional(prepared),
      subdomain: this.#optional(subdomain),
      gates: shared(this.#gates, JSON.stringify(gates), gates),
      origin: origin && shared(this.#origins, JSON.stringify(origin), origin),
      podScheduled: podScheduled && shared(this.#conditions, JSON.stringify(podScheduled), podScheduled),
    };
  }

  #optional(text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.#text(text);
  }

  #text(text: string): string {
    return shared(this.#texts, text, text);
  }
}

function shared<T>(known: Map<string, T>, key: string, value: T): T {
  if (key.length > MAX_LENGTH) return value;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= MAX_VALUES) known.clear();
  known.set(key, value);
  return value;
}

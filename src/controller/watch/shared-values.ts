import type { Condition } from '../../api/pod-gang.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';

/** The table of a field is cleared beyond this many values; later values are shared among themselves only. */
const MAX_VALUES = 16_384;
/** Longer texts are not shared: they seldom repeat, and the table would keep them after their Pods are gone. */
const MAX_LENGTH = 512;

/**
 * Replaces equal values in records by one shared value. Each parse allocates new strings, so 20,000 Pods would each hold a
 * copy of "Scheduling is blocked …", of their gang's and node's names and of a list with Muster's gate: a quarter of the
 * cache. Only for records that are never modified.
 */
export class SharedValues {
  readonly #texts = new Map<string, string>();
  /** Of gangs, whose messages are many: they would drive the names of Pods out of the table. */
  readonly #sayings = new Map<string, string>();
  readonly #entries = new Map<string, GangRecord['labels']>();
  readonly #gates = new Map<string, PodRecord['gates']>();
  readonly #conditions = new Map<string, PodRecord['podScheduled']>();
  readonly #origins = new Map<string, PodRecord['origin']>();

  pod(record: PodRecord): PodRecord {
    const { gates, podScheduled, baseGang, creationTimestamp, nativeGang, schedulerName, priorityClassName } =
      record;
    const { origin, prepared, subdomain, asks } = record;
    return {
      ...record,
      namespace: this.#text(record.namespace),
      creationTimestamp: this.#optional(creationTimestamp),
      gang: this.#text(record.gang),
      group: this.#text(record.group),
      baseGang: this.#optional(baseGang),
      nodeName: this.#text(record.nodeName),
      // Conditional spreads would turn each record into a dictionary-mode object of twice the size.
      nativeGang: this.#optional(nativeGang),
      schedulerName: this.#optional(schedulerName),
      priorityClassName: this.#optional(priorityClassName),
      prepared: this.#optional(prepared),
      subdomain: this.#optional(subdomain),
      asks: this.#optional(asks),
      phase: this.#text(record.phase),
      gates: deduplicated(this.#gates, JSON.stringify(gates), gates),
      origin: origin && deduplicated(this.#origins, JSON.stringify(origin), origin),
      podScheduled:
        podScheduled && deduplicated(this.#conditions, JSON.stringify(podScheduled), podScheduled),
    };
  }

  gang(record: GangRecord): GangRecord {
    const { labels, annotations, phase, conditions } = record;
    return {
      ...record,
      labels: deduplicated(this.#entries, JSON.stringify([...labels]), labels),
      annotations: deduplicated(this.#entries, JSON.stringify([...annotations]), annotations),
      phase: this.#optional(phase, this.#sayings),
      conditions: conditions.map((condition) => this.#condition(condition)),
    };
  }

  #condition({
    type,
    status,
    reason,
    message,
    observedGeneration,
    lastTransitionTime,
  }: Condition): Condition {
    return {
      type: this.#text(type, this.#sayings),
      status: this.#text(status, this.#sayings),
      reason: this.#optional(reason, this.#sayings),
      message: this.#optional(message, this.#sayings),
      observedGeneration,
      lastTransitionTime: this.#optional(lastTransitionTime, this.#sayings),
    };
  }

  #optional(text: string | undefined, known = this.#texts): string | undefined {
    return text === undefined ? undefined : this.#text(text, known);
  }

  #text(text: string, known = this.#texts): string {
    return deduplicated(known, text, text);
  }
}

function deduplicated<T>(known: Map<string, T>, key: string, value: T): T {
  if (key.length > MAX_LENGTH) return value;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= MAX_VALUES) known.clear();
  known.set(key, value);
  return value;
}

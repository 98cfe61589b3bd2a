import { GATE_POD_GANG_PENDING } from '../../src/api/names.ts';
import { MEMBER_POD_FIELDS } from '../../src/controller/watch/member-pod-fields.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import { GANG_SIZE } from './options.ts';

/** When a gang came how far, in milliseconds of this process's clock. */
export interface Milestones {
  readonly complete: number;
  readonly released: number;
  readonly bound: number;
}

interface Account {
  readonly there: Set<string>;
  readonly released: Set<string>;
  readonly bound: Set<string>;
  readonly runs: Set<string>;
  readonly at: { complete: number; released: number; bound: number };
  readonly over: () => void;
}

export interface GangPod extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly schedulingGates?: readonly { name: string }[] };
  readonly status?: { readonly phase?: string };
}

/** Longer than any run. */
const SECONDS_OF_WATCH = 7200;

/** What a watch of its own says of the gangs that have begun and do not run whole. */
export class Watched {
  readonly #gangs = new Map<string, Account>();
  readonly #bound: (gang: Milestones | undefined) => void;
  #early = 0;

  /** @param bound is called with each Pod that is bound, and with the whole gang where it was the last one of it */
  constructor(bound: (gang: Milestones | undefined) => void) {
    this.#bound = bound;
  }

  /** Pods that were bound before the last gate of their gang was off. */
  get early(): number {
    return this.#early;
  }

  /** @returns when all Pods of the gang run */
  begin(gang: string): Promise<void> {
    return new Promise((over) => {
      const none = (): Set<string> => new Set();
      const at = { complete: Number.NaN, released: Number.NaN, bound: Number.NaN };
      this.#gangs.set(gang, { there: none(), released: none(), bound: none(), runs: none(), at, over });
    });
  }

  take(pod: GangPod, now: number): void {
    const { name, labels } = pod.metadata;
    const gang = labels?.['grove.io/podgang'] ?? '';
    const account = this.#gangs.get(gang);
    if (account === undefined) return;
    const { there, released, bound, runs, at } = account;
    there.add(name);
    const gated = pod.spec.schedulingGates?.some((gate) => gate.name === GATE_POD_GANG_PENDING) === true;
    if (!gated) released.add(name);
    if (there.size === GANG_SIZE && Number.isNaN(at.complete)) at.complete = now;
    if (released.size === GANG_SIZE && Number.isNaN(at.released)) at.released = now;
    if (pod.spec.nodeName !== undefined && !bound.has(name)) {
      bound.add(name);
      if (released.size < GANG_SIZE) this.#early += 1;
      if (bound.size === GANG_SIZE) at.bound = now;
      this.#bound(bound.size === GANG_SIZE ? at : undefined);
    }
    if (pod.status?.phase === 'Running') runs.add(name);
    if (runs.size < GANG_SIZE) return;
    this.#gangs.delete(gang);
    account.over();
  }

  /** Goes on where it was cut, until `signal` aborts: the API server ends a watch whose reader is slow. */
  async follow(client: KubeClient, from: string, signal: AbortSignal): Promise<void> {
    let resourceVersion = from;
    while (!signal.aborted) {
      // As Muster reads them: for JSON the API server would write each Pod once more, for this watch alone.
      const fields = MEMBER_POD_FIELDS;
      const options = { resourceVersion, timeoutSeconds: SECONDS_OF_WATCH, signal, fields };
      try {
        for await (const batch of client.watch<GangPod>(PODS, options)) {
          const now = performance.now();
          for (const { type, object } of batch) {
            if (type !== 'BOOKMARK') this.take(object, now);
            resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
          }
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }
}

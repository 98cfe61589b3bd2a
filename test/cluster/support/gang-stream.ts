import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, KubeList } from '../control-plane/client.ts';
import { until } from '../control-plane/until.ts';
import { GANGS, gangPod, gatesOf, NAMESPACE, PODS, type StoredPod } from './registered-muster.ts';

/** Pods of a gang of the stream. */
export const SIZE = 2;

interface Refused {
  readonly what: string;
  readonly status: number;
  readonly message: string | undefined;
}

/** Gangs of two Pods that are created one after the other, as controllers do it without Muster's knowledge. */
export class GangStream {
  readonly #client: Client;
  readonly #everyMs: number;
  readonly #refused: Refused[] = [];
  readonly #running: Promise<void>;
  readonly #prefix: string;
  #count = 0;
  #stopped = false;

  constructor(client: Client, { everyMs, prefix = 'stream' }: { everyMs: number; prefix?: string }) {
    this.#client = client;
    this.#everyMs = everyMs;
    this.#prefix = prefix;
    this.#running = this.#run();
  }

  /** Waits until so many more gangs are whole. */
  async created(more: number): Promise<void> {
    const wanted = this.#count + more;
    await until(`${more} more gangs are created`, () => Promise.resolve(this.#count >= wanted));
  }

  /** Ends the stream. @returns how many gangs it made, and every request that was refused */
  async stop(): Promise<{ readonly gangs: number; readonly refused: readonly Refused[] }> {
    this.#stopped = true;
    await this.#running;
    return { gangs: this.#count, refused: this.#refused };
  }

  /** Waits until all Pods of the stream are bound, but for a part of one gang, whose names `isKnown` accepts. */
  async untilBound(isKnown: (name: string) => boolean): Promise<void> {
    await until('all Pods of the stream are bound', async () => {
      const { items } = await this.#client.ok<KubeList<StoredPod & { spec: { nodeName?: string } }>>(
        'GET',
        PODS,
      );
      const unbound = items.filter(
        ({ metadata, spec }) => metadata.name.startsWith(this.#prefix) && spec.nodeName === undefined,
      );
      const unknown = unbound.filter(({ metadata }) => !isKnown(metadata.name));
      if (unknown.length === 0 && unbound.length < SIZE) return true;
      throw new Error(unbound.map((pod) => `${pod.metadata.name} [${gatesOf(pod).join()}]`).join(', '));
    });
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const gang = `${this.#prefix}-${this.#count}`;
      await this.#create('PodGang', GANGS, {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        metadata: { name: gang, namespace: NAMESPACE },
        spec: { podgroups: [{ name: 'worker', minReplicas: SIZE, podReferences: [] }] },
      });
      for (let index = 0; index < SIZE; index += 1) {
        const pod = gangPod({ name: `${gang}-${index}` }, {}, { 'grove.io/podgang': gang });
        await this.#create('Pod', PODS, pod);
      }
      this.#count += 1;
      await sleep(this.#everyMs);
    }
  }

  async #create(what: string, path: string, object: object): Promise<void> {
    try {
      const { status, body } = await this.#client.request<{ message?: string }>('POST', path, object);
      if (status !== 201) this.#refused.push({ what, status, message: body.message });
    } catch (error) {
      this.#refused.push({ what, status: 0, message: String(error) });
      this.#stopped = true;
    }
  }
}

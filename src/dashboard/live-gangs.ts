import type { ServerResponse } from 'node:http';
import { keyOf } from '../kube/loop/cache.ts';
import { gatesLeft, readyGroups, readyPods } from '../status/gang-counts.ts';
import type { GangStatus } from '../status/gang-status.ts';
import { topReason } from '../status/top.ts';
import type { Changed, Moment, Show } from '../status/moment.ts';
import { ALL_GANGS, GangStream, narrowedField, type Onlooker } from './gang-stream.ts';
import type { GangRow, StaleSince } from './wire.ts';

/** All gangs as the watches last showed them, for lists and for streams of changes. */
export class LiveGangs implements Show {
  /** Rows as JSON by key: a list of 10,000 is joined, not written anew. */
  readonly #rows = new Map<string, string>();
  readonly #gangs = new Map<string, GangStatus>();
  readonly #streams = new Set<GangStream>();
  readonly #first = Promise.withResolvers<void>();
  #sorted: readonly GangStatus[] = [];
  #stale: StaleSince | null = null;
  readonly #gpusOf: (gang: GangStatus) => number;

  /** @param gpusOf GPUs that the gated Pods of a gang ask for */
  constructor(gpusOf: (gang: GangStatus) => number) {
    this.#gpusOf = gpusOf;
  }

  /** Resolves at the first moment. */
  whenKnown(): Promise<void> {
    return this.#first.promise;
  }

  show({ gangs, trouble }: Moment, changed: readonly Changed[]): void {
    this.#sorted = gangs;
    for (const { namespace, name, new: now } of changed) {
      const key = keyOf(namespace, name);
      if (now === undefined) this.#rows.delete(key);
      else this.#rows.set(key, JSON.stringify(rowOf(now, this.#gpusOf(now))));
      if (now === undefined) this.#gangs.delete(key);
      else this.#gangs.set(key, now);
    }
    const since = trouble && new Date(trouble.since).toISOString();
    const stale = trouble === undefined ? null : { since: since ?? '', message: trouble.message };
    const turned = stale?.message !== this.#stale?.message;
    this.#stale = stale;
    const keys = changed.map(({ namespace, name }) => keyOf(namespace, name));
    if (turned || keys.length > 0) for (const stream of this.#streams) stream.send(keys);
    this.#first.resolve();
  }

  close(): void {
    for (const stream of this.#streams) stream.end();
  }

  get(namespace: string, name: string): GangStatus | undefined {
    return this.#gangs.get(keyOf(namespace, name));
  }

  /** Namespaces that have a gang. */
  namespaces(): ReadonlySet<string> {
    return new Set(this.#sorted.map(({ namespace }) => namespace));
  }

  /** Number of PodGangs by the backend that serves them. */
  byBackend(onlooker: Onlooker = ALL_GANGS): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { backend, summary, namespace } of this.#sorted)
      if (summary !== undefined && onlooker.sees(namespace))
        counts.set(backend, (counts.get(backend) ?? 0) + 1);
    return counts;
  }

  /** A GangsAnswer as JSON, by namespace and name. */
  list(onlooker: Onlooker = ALL_GANGS): string {
    const rows = this.#sorted
      .filter(({ namespace }) => onlooker.sees(namespace))
      .map(({ namespace, name }) => this.#rows.get(keyOf(namespace, name)));
    const stale = JSON.stringify(this.#stale);
    return `{"gangs":[${rows.join(',')}],"stale":${stale}${narrowedField(onlooker.narrowed)}}`;
  }

  /**
   * Writes all gangs and then every change into an answer, until it is closed.
   * @returns what writes the gangs of a namespace that may be seen from now on
   */
  stream(response: ServerResponse, onlooker: Onlooker = ALL_GANGS): (namespace: string) => void {
    const sees = (namespace: string): boolean => onlooker.sees(namespace);
    const { narrowed } = onlooker;
    const source = { row: (key: string) => this.#rows.get(key), stale: () => this.#stale, sees, narrowed };
    const stream = new GangStream(response, source);
    this.#streams.add(stream);
    response.on('close', () => {
      stream.end();
      this.#streams.delete(stream);
    });
    // What waits is what people look for, and is painted first.
    const running = ({ summary }: GangStatus): boolean => summary?.phase === 'Running';
    const ordered = [...this.#sorted.filter((gang) => !running(gang)), ...this.#sorted.filter(running)];
    const keys = (gangs: readonly GangStatus[]): string[] =>
      gangs.map(({ namespace, name }) => keyOf(namespace, name));
    stream.send(keys(ordered.filter(({ namespace }) => sees(namespace))));
    return (namespace) => stream.send(keys(this.#sorted.filter((gang) => gang.namespace === namespace)));
  }
}

function rowOf(gang: GangStatus, gatedGpus: number): GangRow {
  const { namespace, name, backend, summary, why, creationTimestamp } = gang;
  return {
    ...{ namespace, name, backend, why },
    workload: summary?.workload ?? null,
    phase: summary?.phase ?? null,
    groups: readyGroups(gang) ?? null,
    pods: readyPods(gang) ?? null,
    gated: gatesLeft(gang),
    gatedGpus,
    waitsFor: topReason(gang) ?? null,
    queue: gang.queue ?? null,
    created: creationTimestamp ?? null,
  };
}

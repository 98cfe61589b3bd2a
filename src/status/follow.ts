import { messageOf, MusterError } from '../errors.ts';
import type { JsonObject } from '../json/json.ts';
import { keyOf, splitKey, type Store } from '../kube/loop/cache.ts';
import type { GangView } from '../controller/watch/gang-view.ts';
import { watchGangs } from '../controller/watch/gang-watch.ts';
import type { ReflectorObserver } from '../kube/loop/reflector-options.ts';
import type { NamespaceRecord } from '../gang/records.ts';
import { takesEverything } from '../k8s/label-selector.ts';
import { sleep, type Clock } from '../kube/client/clock.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isForbidden } from '../kube/client/errors.ts';
import type { Resource } from '../kube/client/resources.ts';
import { Bell } from './bell.ts';
import { refused, unknownGang, readNamespaces } from './read-status.ts';
import { byPlace, gangKeys, gangStatus, type GangStatus, type Judge } from './gang-status.ts';
import type { Changed, Moment, Question, Show, Trouble } from './moment.ts';

export interface FollowTimes {
  /** Shortest time (ms) between two moments: nobody reads more than four in a second. */
  readonly betweenMs: number;
  /** Longest time (ms) between two moments, for the ages. */
  readonly tickMs: number;
}

const TIMES: FollowTimes = { betweenMs: 250, tickMs: 1_000 };

/**
 * Shows the gangs, and shows them again whenever one changes, until `signal` aborts. An outage of the API server is shown,
 * and survived; only a failure before the first moment ends it.
 * @throws MusterError GANG_UNKNOWN, CLUSTER_REFUSED, CLUSTER_UNREACHABLE; the last two before the first moment only
 */
export async function follow(
  question: Question,
  given: Omit<Judge, 'view'> & {
    readonly client: KubeClient;
    readonly show: Show;
    readonly clock: Clock;
    readonly signal: AbortSignal;
    /** Reads the GPUs of a Pod, for whoever shows them. */
    readonly gpusOf?: (pod: JsonObject) => number;
    /** Registers a function that makes the next moment come at once, such as at a resize of the terminal. */
    readonly hurry?: (soon: () => void) => () => void;
    /** Called once, with the caches that the moments are judged from. */
    readonly viewed?: (view: GangView) => void;
    readonly times?: Partial<FollowTimes>;
  },
): Promise<void> {
  const { client, show, clock, signal } = given;
  const { betweenMs, tickMs } = { ...TIMES, ...given.times };
  const bell = new Bell(clock);
  const failures = new Failures(question, clock, () => bell.ring());
  const dirty = new Set<string>();
  const namespaces = await namespacesFor(question, given).catch((error: unknown) => {
    throw refused(error, question);
  });
  const watch = watchGangs(client, (resource) => failures.of(resource, () => watch.watches.hasSynced), {
    namespace: question.namespace,
    gangKinds: given.gangKinds,
    ...(given.gpusOf && { gpusOf: given.gpusOf }),
    ...namespaces,
  });
  watch.onTouch((key) => {
    dirty.add(key);
    bell.ring();
  });
  given.viewed?.(watch.view);
  const judge: Judge = { ...given, view: watch.view };
  const gangs = new Map<string, GangStatus>();
  // Sorting 10,000 gangs takes longer than anything else here, and most moments change none.
  let sorted: readonly GangStatus[] = [];
  const moment = (changed: readonly Changed[]): Moment => ({
    question,
    gangs: changed.length === 0 ? sorted : (sorted = [...gangs.values()].sort(byPlace)),
    trouble: failures.trouble,
    now: clock.date().getTime(),
  });
  const ended = (): void => bell.ring();
  signal.addEventListener('abort', ended);
  const calm = given.hurry?.(() => bell.ring());
  try {
    watch.watches.start();
    void watch.watches.whenSynced().then(
      () => bell.ring(),
      () => undefined,
    );
    while (!watch.watches.hasSynced && !signal.aborted) {
      await bell.wait(tickMs);
      failures.throwFatal();
    }
    for (let first = true; !signal.aborted; first = false) {
      const changed = judgeAgain(dirty, gangs, question, judge);
      if (first && question.gang !== undefined && gangs.size === 0) {
        const known = gangKeys(watch.view).map(({ name }) => name);
        throw unknownGang({ ...question, gang: question.gang }, known);
      }
      show.show(moment(changed), changed);
      const shownAt = clock.now();
      await bell.wait(tickMs);
      const early = shownAt + betweenMs - clock.now();
      if (early > 0) await sleep(clock, early, signal).catch(() => undefined);
      failures.throwFatal();
    }
  } finally {
    show.close();
    calm?.();
    signal.removeEventListener('abort', ended);
    await watch.watches.stop();
  }
}

/**
 * The Namespaces that the configuration's selector applies to. A single Namespace is read once: it hardly changes, and its
 * users may seldom watch Namespaces. All Namespaces are watched, since new ones come: then nothing is returned.
 */
async function namespacesFor(
  { namespace }: Question,
  { client, selectors }: { readonly client: KubeClient } & Pick<Judge, 'selectors'>,
): Promise<{ readonly namespaces?: Store<NamespaceRecord> }> {
  if (namespace === undefined && !takesEverything(selectors.namespaceSelector)) return {};
  return { namespaces: await readNamespaces(client, namespace, selectors) };
}

/** Evaluates the gangs with events again. @returns the gangs whose status differs */
function judgeAgain(
  dirty: Set<string>,
  gangs: Map<string, GangStatus>,
  question: Question,
  judge: Judge,
): Changed[] {
  const changed: Changed[] = [];
  for (const { namespace, name } of [...dirty].map(splitKey).sort(byPlace)) {
    if (question.gang !== undefined && name !== question.gang) continue;
    const key = keyOf(namespace, name);
    const old = gangs.get(key);
    const judged = gangStatus(namespace, name, judge);
    const now = judged.summary === undefined && judged.pods.length === 0 ? undefined : judged;
    if (now === undefined) gangs.delete(key);
    else gangs.set(key, now);
    if (JSON.stringify(old) !== JSON.stringify(now)) changed.push({ namespace, name, old, new: now });
  }
  dirty.clear();
  return changed;
}

/** Failures of the watches. */
class Failures {
  readonly #question: Question;
  readonly #clock: Clock;
  readonly #noticed: () => void;
  readonly #troubles = new Map<Resource, Trouble>();
  readonly #accepted = new Set<Resource>();
  #fatal: { readonly error: unknown } | undefined;

  constructor(question: Question, clock: Clock, noticed: () => void) {
    this.#question = question;
    this.#clock = clock;
    this.#noticed = noticed;
  }

  /** The failure that has lasted longest. */
  get trouble(): Trouble | undefined {
    return [...this.#troubles.values()].sort((a, b) => a.since - b.since)[0];
  }

  /** Observer of one watch. @param synced whether there is a moment to show; before that every failure is fatal */
  of(resource: Resource, synced: () => boolean): ReflectorObserver {
    const over = (): void => {
      if (this.#troubles.delete(resource)) this.#noticed();
    };
    return {
      watching: () => {
        this.#accepted.add(resource);
        over();
      },
      failed: (error) => {
        // A user may list and not watch: the watch's first 403 is then the first sign of it, and fatal. A later 403 comes
        // from a starting API server whose roles are not loaded yet.
        const news = !this.#accepted.has(resource) && !this.#troubles.has(resource);
        if (!synced() || (isForbidden(error) && news)) this.#fatal ??= { error };
        const since = this.#troubles.get(resource)?.since ?? this.#clock.date().getTime();
        this.#troubles.set(resource, { since, message: this.#inWords(error) });
        this.#noticed();
      },
      // A defect of Muster: a status that may be wrong must not be shown.
      handlerFailed: (error) => {
        this.#fatal ??= { error };
        this.#noticed();
      },
    };
  }

  /** With the way to a right that is missing. */
  #inWords(error: unknown): string {
    const told = refused(error, this.#question);
    const way = told instanceof MusterError && told !== error ? `. ${told.fix.replace(/\.$/, '')}` : '';
    return `${messageOf(error)}${way}`;
  }

  throwFatal(): void {
    if (this.#fatal !== undefined) throw refused(this.#fatal.error, this.#question);
  }
}

import { CONDITION_INITIALIZED, type Condition } from '../../api/pod-gang.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { GangSelectors } from '../../gang/gang-selection.ts';
import type { GangPlan, PlannedEvent, ReferencesWrite, Ungate } from '../../gang/plan/gang-plan.ts';
import { isGated } from '../../gang/plan/census.ts';
import type { GangRecord, GangState, PodRecord } from '../../gang/records.ts';
import { ungateEvents } from '../../gang/plan/plan-events.ts';
import { confirmUngates } from '../../gang/plan/plan-gates.ts';
import { droppedReferences, takesOutTheLiving } from '../../gang/plan/plan-references.ts';
import { planGang } from '../../gang/plan/plan.ts';
import { POD_GANGS, PODS } from '../../kube/client/resources.ts';
import { Outdated, type GangName, type GangWriter } from './actions.ts';
import { splitKey } from '../../kube/loop/cache.ts';
import type { EventRecorder } from '../../kube/loop/event-recorder.ts';
import { WriteMemory } from './write-memory.ts';
import { stateOf, withGang } from './reconcile-state.ts';
import type { BackendsView } from '../watch/shared.ts';
import type { GangView } from '../watch/gang-view.ts';
import type { Reconcile, ReconcileResult } from '../../kube/loop/keyed-controller.ts';

/**
 * Delay (ms) until a gang is judged again when the caches lag behind this process's own writes; events usually come
 * earlier.
 */
const BEHIND_MS = 1_000;

/** Reports reconciliations to the metrics; must not throw. */
export interface ReconcileObserver {
  /** Called with the state and the plan of every judgement. */
  planned?(key: string, state: GangState, todo: GangPlan): void;
  /** Called when a gate is off, or its Pod is gone. */
  ungated?(ungate: Ungate): void;
  /** Called when the gang was marked Initialized. */
  initialized?(): void;
  /** Called when the status of a backend's gang was written or failed to be; not when another writer was first. */
  statusWritten?(backend: string, ok: boolean, seconds: number): void;
}

export interface ReconcilerOptions {
  readonly view: GangView;
  /** Whether all caches were listed once; nothing is written before. */
  readonly synced: () => boolean;
  readonly registry: BackendRegistry;
  readonly backends?: BackendsView;
  readonly selectors: GangSelectors;
  readonly writer: (signal: AbortSignal) => GangWriter;
  readonly recorder: Pick<EventRecorder, 'event'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly observer?: ReconcileObserver;
  /** The memory of one term as leader; default: a new one. */
  readonly memory?: WriteMemory;
}

/** The most writes of a PodGang in one reconciliation: references, Initialized, and one for changes in between. */
const MAX_WRITES = 3;

/**
 * Judges one gang and carries out its plan. After a write of the PodGang, the gang is judged again at once by the API
 * server's answer. This saves waiting for the watch, and saves the read that has to precede the removal of gates.
 */
export function podGangReconciler(options: ReconcilerOptions): Reconcile {
  const { memory = new WriteMemory() } = options;
  const look = (key: string): GangState => {
    const { namespace, name } = splitKey(key);
    const context = {
      ...options,
      synced: options.synced(),
      now: options.now(),
      lastStatusWrite: memory.statusWrittenAt(key),
    };
    const cached = stateOf(namespace, name, context);
    memory.catchUp(key, cached);
    const newest = cached.gang === 'missing' ? cached.gang : memory.newest(key, cached.gang);
    if (newest === cached.gang) return cached;
    memory.judged(key);
    return withGang(cached, newest, context);
  };
  return async (key, signal) => {
    const context = { ...options, memory, writer: options.writer(signal) };
    let answer: Answered | undefined;
    for (let writes = 1; ; writes += 1) {
      const state = look(key);
      const { wrote, result } = await carryOut(key, state, answer, context);
      if (wrote === undefined || writes === MAX_WRITES) return result;
      answer = { gang: wrote, seen: state.pods };
    }
  };
}

/** The gang as the API server answered a write, and the Pods that were cached before the write. */
interface Answered {
  readonly gang: GangRecord;
  readonly seen: readonly PodRecord[];
}

interface CarriedOut {
  readonly result: ReconcileResult | undefined;
  /** The gang after Muster's write, when it has to be judged again. */
  readonly wrote: GangRecord | undefined;
}

interface WriteContext extends Omit<ReconcilerOptions, 'writer'> {
  readonly memory: WriteMemory;
  readonly writer: GangWriter;
}

/**
 * Judges the gang once and carries out the plan. The gang's write and the removal of gates run concurrently, since
 * neither depends on the other: the plan is based on the observed state for both.
 */
async function carryOut(
  key: string,
  state: GangState,
  answer: Answered | undefined,
  context: WriteContext,
): Promise<CarriedOut> {
  const { memory, writer, observer, recorder, view } = context;
  const name: GangName = state;
  const todo = planGang(state);
  observer?.planned?.(key, state, todo);
  const say = (events: readonly PlannedEvent[]): void => {
    for (const event of events) record(recorder, name.namespace, event);
  };
  const saying = (after: PlannedEvent['after']): void =>
    say(todo.events.filter((event) => event.after === after));

  saying('now');
  const due = todo.ungate.filter((ungate) => !memory.isReleased(key, ungate.uid));
  const release = async (): Promise<boolean> => {
    if (due.length === 0 || state.gang === 'missing') return true;
    const read = saw(answer, due) ? answer.gang : await writer.fresh(name);
    const confirmed = confirmUngates(due, read);
    const done: Ungate[] = [];
    try {
      await writer.ungate(confirmed, (ungate) => {
        const shown = view.pods.get(ungate.namespace, ungate.pod);
        if (shown?.uid === ungate.uid && isGated(shown)) memory.released(key, ungate.uid);
        done.push(ungate);
        observer?.ungated?.(ungate);
      });
    } finally {
      say(ungateEvents(state.gang, done));
    }
    return confirmed.length === due.length;
  };
  const [written, released] = await Promise.allSettled([
    writeGang(name, key, todo, { ...context, state, saying }),
    release(),
  ]);
  if (written.status === 'rejected') throw written.reason;
  if (released.status === 'rejected') throw released.reason;
  const again = written.value === 'outdated' || !released.value ? BEHIND_MS : Infinity;
  const wait = Math.min(again, todo.recheckAfterMs ?? Infinity);
  const result = wait === Infinity ? undefined : { requeueAfterMs: wait };
  // Removing gates takes time: after it the watches know more than the answer to a write that was sent before.
  const wrote = typeof written.value === 'object' && due.length === 0 ? written.value : undefined;
  return { result, wrote };
}

/** Whether all these Pods were cached before the gang was answered: otherwise the answer confirms nothing about them. */
function saw(answer: Answered | undefined, ungates: readonly Ungate[]): answer is Answered {
  if (answer === undefined) return false;
  const seen = new Set(answer.seen.map(({ uid }) => uid));
  return ungates.every(({ uid }) => seen.has(uid));
}

/**
 * Makes at most one write: a plan has either references or a status.
 * @returns the gang after the write, if it changed; `outdated` when nothing was written because the cached Pods are
 *   outdated
 */
async function writeGang(
  name: GangName,
  key: string,
  todo: GangPlan,
  {
    state,
    writer,
    memory,
    saying,
    now,
    observer,
  }: WriteContext & {
    readonly state: GangState;
    readonly saying: (after: PlannedEvent['after']) => void;
  },
): Promise<GangRecord | 'outdated' | undefined> {
  const { references, status } = todo;
  let answered: GangRecord | undefined;
  if (references !== undefined) {
    if (await isOutdated(state, references, writer)) return 'outdated';
    answered = await writer.references(name, references);
    if (answered !== undefined) saying('references');
  } else if (status !== undefined) {
    answered = await told(() => writer.status(name, status), state.backend.name, observer);
    memory.wroteStatus(key, now());
    if (answered !== undefined) {
      saying('status');
      const before = todo.summary?.initialized;
      if (before === false && status.conditions.some(isInitializedTrue)) observer?.initialized?.();
    }
  }
  const before = (references ?? status)?.resourceVersion;
  if (answered === undefined || before === undefined || answered.resourceVersion === before) return undefined;
  memory.wrote(key, before, answered);
  return answered;
}

/** Writes a status and reports the result to the observer. */
async function told<T>(write: () => Promise<T>, backend: string, observer?: ReconcileObserver): Promise<T> {
  const since = performance.now();
  const count = (ok: boolean): void =>
    observer?.statusWritten?.(backend, ok, (performance.now() - since) / 1000);
  try {
    const written = await write();
    count(true);
    return written;
  } catch (error) {
    if (!(error instanceof Outdated)) count(false);
    throw error;
  }
}

/** Whether a Pod whose reference this write would remove still exists in the API server as a member. */
async function isOutdated(
  { gang, backend }: GangState,
  write: ReferencesWrite,
  writer: GangWriter,
): Promise<boolean> {
  if (gang === 'missing') return false;
  const dropped = droppedReferences(gang, write);
  const names = dropped.map(({ pod }) => pod);
  const pods = names.length === 0 ? [] : await writer.freshPods(gang, names);
  return takesOutTheLiving(gang, backend.schedulerName, dropped, pods);
}

const isInitializedTrue = ({ type, status }: Condition): boolean =>
  type === CONDITION_INITIALIZED && status === 'True';

function record(recorder: Pick<EventRecorder, 'event'>, namespace: string, event: PlannedEvent): void {
  const { kind, name, uid } = event.on;
  const resource = kind === 'Pod' ? PODS : POD_GANGS;
  recorder.event(
    { resource, namespace, name, uid },
    { type: event.type, reason: event.reason, note: event.message },
  );
}

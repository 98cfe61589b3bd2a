import { CONDITION_INITIALIZED, type Condition } from '../../api/pod-gang.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { GangSelectors } from '../../gang/gang-selection.ts';
import type { Plan, PlannedEvent, ReferencesWrite, Ungate } from '../../gang/plan/gang-plan.ts';
import type { GangState } from '../../gang/records.ts';
import { ungateEvents } from '../../gang/plan/plan-events.ts';
import { confirmUngates } from '../../gang/plan/plan-gates.ts';
import { droppedReferences, takesOutTheLiving } from '../../gang/plan/plan-references.ts';
import { plan } from '../../gang/plan/plan.ts';
import { POD_GANGS, PODS } from '../../kube/client/resources.ts';
import { Outdated, type GangName, type GangWriter } from './actions.ts';
import { splitKey } from '../../kube/loop/cache.ts';
import type { EventRecorder } from '../../kube/loop/event-recorder.ts';
import { WriteMemory } from './reconcile-memory.ts';
import { stateOf } from './reconcile-state.ts';
import type { BackendsView } from '../watch/shared.ts';
import type { GangView } from '../watch/gang-view.ts';
import type { Reconcile } from '../../kube/loop/work-queue-workers.ts';

/** Judge again after this long (ms) where our caches are behind what we know: their news should come by itself. */
const BEHIND_MS = 1_000;

/** For metrics; none of it may throw. */
export interface ReconcileObserver {
  /** At every judgement: what is known of the gang, and what is to be done. */
  planned?(key: string, state: GangState, todo: Plan): void;
  /** A gate is off, or its Pod is gone. */
  ungated?(ungate: Ungate): void;
  /** The gang was marked Initialized. */
  initialized?(): void;
  /** The status of a backend's gang was written, or could not be. That somebody else wrote first is neither. */
  statusWritten?(backend: string, ok: boolean, seconds: number): void;
}

export interface ReconcilerOptions {
  readonly view: GangView;
  /** Whether all caches were listed once: nothing is written before. */
  readonly synced: () => boolean;
  readonly registry: BackendRegistry;
  readonly backends?: BackendsView;
  readonly selectors: GangSelectors;
  readonly writer: (signal: AbortSignal) => GangWriter;
  readonly recorder: Pick<EventRecorder, 'event'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly observer?: ReconcileObserver;
}

/**
 * Judges one gang and does what the plan says. The gang's write and the gates go side by side, since neither rests on
 * the other: the plan judged both by what was observed.
 */
export function podGangReconciler(options: ReconcilerOptions): Reconcile {
  const memory = new WriteMemory();
  return async (key, signal) => {
    const name = splitKey(key);
    const writer = options.writer(signal);
    const state = stateOf(name.namespace, name.name, {
      view: options.view,
      registry: options.registry,
      backends: options.backends,
      selectors: options.selectors,
      synced: options.synced(),
      now: options.now(),
      lastStatusWrite: memory.statusWrittenAt(key),
    });
    memory.catchUp(key, state);
    const behind = memory.isBehind(key, state.gang);
    const todo = plan(state);
    options.observer?.planned?.(key, state, todo);
    const say = (events: readonly PlannedEvent[]): void => {
      for (const event of events) record(options.recorder, name.namespace, event);
    };
    const saying = (after: PlannedEvent['after']): void =>
      say(todo.events.filter((event) => event.after === after));

    saying('now');
    const due = todo.ungate.filter((ungate) => !memory.isReleased(key, ungate.uid));
    const release = async (): Promise<boolean> => {
      if (due.length === 0 || state.gang === 'missing') return true;
      const confirmed = confirmUngates(due, await writer.fresh(name));
      const done: Ungate[] = [];
      try {
        await writer.ungate(confirmed, (ungate) => {
          memory.released(key, ungate.uid);
          done.push(ungate);
          options.observer?.ungated?.(ungate);
        });
      } finally {
        say(ungateEvents(state.gang, done));
      }
      return confirmed.length === due.length;
    };
    const [written, released] = await Promise.allSettled([
      !behind && writeGang(name, key, todo, { ...options, state, writer, memory, saying }),
      release(),
    ]);
    if (written.status === 'rejected') throw written.reason;
    if (released.status === 'rejected') throw released.reason;
    const again = !written.value || !released.value ? BEHIND_MS : Infinity;
    const wait = Math.min(again, todo.recheckAfterMs ?? Infinity);
    return wait === Infinity ? undefined : { requeueAfterMs: wait };
  };
}

/**
 * At most one write: the plan has either references or a status.
 * @returns false where nothing was written because what is known of the Pods is old
 */
async function writeGang(
  name: GangName,
  key: string,
  todo: Plan,
  given: {
    state: GangState;
    writer: GangWriter;
    memory: WriteMemory;
    saying: (after: PlannedEvent['after']) => void;
    now: () => number;
    observer?: ReconcileObserver;
  },
): Promise<boolean> {
  const { state, writer, memory, saying, now, observer } = given;
  if (todo.references !== undefined) {
    if (await isOutdated(state, todo.references, writer)) return false;
    const version = await writer.references(name, todo.references);
    memory.wrote(key, todo.references.resourceVersion, version);
    if (version !== undefined) saying('references');
  } else if (todo.status !== undefined) {
    const { status } = todo;
    const version = await told(() => writer.status(name, status), state.backend.name, observer);
    memory.wrote(key, todo.status.resourceVersion, version);
    memory.wroteStatus(key, now());
    if (version !== undefined) {
      saying('status');
      const before = todo.summary?.initialized;
      if (before === false && todo.status.conditions.some(isInitializedTrue)) observer?.initialized?.();
    }
  }
  return true;
}

/** Writes a status, and has it counted. */
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

/** Whether the API server still has a Pod as a member whose name this write takes out. */
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

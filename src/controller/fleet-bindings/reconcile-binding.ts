import type { Strategies } from '../../fleet/assign/strategies.ts';
import { withPluginAnswers } from '../../fleet/assign/plugin-answers.ts';
import { listed } from '../../text/printable.ts';
import { ApiError, isConflict, isNotFound } from '../../kube/client/errors.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Reconcile, ReconcileResult } from '../../kube/loop/keyed-controller.ts';
import type { BindingRecord } from './binding-record.ts';
import type { Members } from './members.ts';
import { reasonToSchedule, verdictOn, writeClusters, writeStatus, type BindingVerdict } from './verdict.ts';
import type { Estimators } from '../../estimators/estimators.ts';
import type { Estimates } from '../../fleet/assign/candidate.ts';
import { estimatesOf, roomQuestions } from '../../fleet/assign/estimates.ts';
import { capacityIn } from '../../fleet/assign/capacity.ts';

/** A quota that is freed, or a plugin that works again, is seen by no watch (ms). */
const LOOK_AGAIN_MS = 30_000;
/** For what waits for clusters: they wake it, and this is for what nobody thought of (ms). */
const LONGEST_MS = 5 * 60_000;
/** After a conflict the watch brings what is there now (ms). */
const CONFLICT_MS = 100;

export interface BindingOptions {
  readonly client: KubeClient;
  readonly strategies: Strategies;
  readonly members: Members;
  readonly recordOf: (key: string) => BindingRecord | undefined;
  /** Keys of bindings that wait for capacity. */
  readonly waiting: Set<string>;
  /** Absent: no estimator is asked, and only the status of Clusters counts. */
  readonly estimates?: AskEstimates | undefined;
  readonly now: () => Date;
  /** Why nothing is done for the bindings of a namespace, in plain words; undefined where all is known of it. */
  readonly standstill: (namespace: string) => string | undefined;
  readonly observer: {
    judged(): void;
    placed(record: BindingRecord, verdict: BindingVerdict): void;
    standsStill(record: BindingRecord, why: string): void;
    held(record: BindingRecord, verdict: Pick<BindingVerdict, 'reason' | 'message'>): void;
  };
}

/** Judges one binding and writes what comes of it, each write on the binding as it was read. */
export function bindingReconciler(options: BindingOptions): Reconcile {
  const { client, strategies, members, waiting, now, observer } = options;

  return async (key, signal): Promise<ReconcileResult | undefined> => {
    const record = options.recordOf(key);
    if (record === undefined) {
      waiting.delete(key);
      return undefined;
    }
    const standstill = options.standstill(record.namespace);
    if (standstill !== undefined) {
      // What is known of it may be old, and a write would fail again and again.
      waiting.delete(key);
      if (reasonToSchedule(record, members, strategies) !== undefined)
        observer.standsStill(record, standstill);
      return undefined;
    }
    const { found, without } = (await options.estimates?.(record, signal)) ?? NO_ESTIMATES;
    const { verdict, undo } = await withPluginAnswers(strategies, (known) => {
      const judged = saying(verdictOn(record, members, known, found), without);
      // At once, before anybody else is judged by the same room.
      const undone = members.place(record.binding, judged.clusters ?? [], now().getTime());
      return { verdict: judged, undo: undone };
    });
    const { due, waits, reason } = verdict;
    if (due !== undefined) observer.judged();
    if (waits) waiting.add(key);
    else waiting.delete(key);
    const writing = { client, signal, now: now() };
    let after;
    try {
      after = await writeClusters(record, verdict, writing);
    } catch (error) {
      undo();
      if (!(error instanceof ApiError) || error.reason !== 'QuotaExceeded') return again(error);
      const refused = {
        due,
        reason: 'QuotaExceeded',
        message: quotaMessage(error),
        affinityName: '',
      } as const;
      if (await writeStatus(record, refused, record, writing)) observer.held(record, refused);
      waiting.add(key);
      return { requeueAfterMs: LOOK_AGAIN_MS };
    }
    try {
      const told = await writeStatus(record, verdict, after, writing);
      if (reason === 'Success' && after !== record) observer.placed(record, verdict);
      if (reason !== 'Success' && told) observer.held(record, verdict);
    } catch (error) {
      return again(error);
    }
    if (reason === 'SchedulerError' && waits) return { requeueAfterMs: LOOK_AGAIN_MS };
    return waits ? { requeueAfterMs: LONGEST_MS } : undefined;
  };
}

/** The verdict, with the clusters that no estimator knew of, where one who waits may want to know. */
const saying = (verdict: BindingVerdict, without: readonly string[]): BindingVerdict =>
  verdict.reason === 'Success' || without.length === 0
    ? verdict
    : { ...verdict, message: `${verdict.message}; no estimate of ${listed(without, 'clusters')}` };

/** @throws what is neither a conflict nor the end of the binding */
function again(error: unknown): ReconcileResult | undefined {
  if (isNotFound(error)) return undefined;
  if (isConflict(error)) return { requeueAfterMs: CONFLICT_MS };
  throw error;
}

/** What the quota says, without what Muster was doing. */
const quotaMessage = ({ message }: ApiError): string => message.replace(/^.*?QuotaExceeded: /s, '');

export interface Estimated {
  readonly found: Estimates;
  /** Clusters that were asked for in vain. */
  readonly without: readonly string[];
}

/** Asks estimators for a binding that is to be judged. */
export type AskEstimates = (record: BindingRecord, signal: AbortSignal) => Promise<Estimated>;

const NO_ESTIMATES: Estimated = { found: new Map(), without: [] };

/**
 * What is in flight to a cluster is taken off its answer as it is once the answer is here: two bindings that ask at the same
 * time do not get the same room.
 */
export const askEstimates =
  (members: Members, strategies: Strategies, estimators: Pick<Estimators, 'ask'>): AskEstimates =>
  async (record, signal) => {
    const { binding, faults, namespace } = record;
    const plugin = strategies.pluginOf(binding.strategy);
    if (plugin === undefined || faults.length > 0) return NO_ESTIMATES;
    if (reasonToSchedule(record, members, strategies) === undefined) return NO_ESTIMATES;
    const questions = roomQuestions(binding, members.all(), plugin);
    const answers = await estimators.ask(questions, namespace, signal);
    const found = estimatesOf(questions, answers, (cluster) => {
      const [reported, counted] = members.inFlight(cluster);
      if (reported === undefined || counted === undefined || reported === counted)
        return { room: 0, some: false };
      return {
        room: capacityIn(binding, reported, plugin) - capacityIn(binding, counted, plugin),
        some: true,
      };
    });
    const without = questions.flatMap(({ cluster }, index) =>
      answers[index] === undefined ? [cluster] : [],
    );
    return { found, without: [...new Set(without)] };
  };

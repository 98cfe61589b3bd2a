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

/** Retry interval (ms) for causes that no watch shows: a quota that was freed, a plugin that works again. */
const LOOK_AGAIN_MS = 30_000;
/**
 * Retry interval (ms) for bindings that wait for capacity: cluster changes wake them, this covers causes not
 * anticipated.
 */
const LONGEST_MS = 5 * 60_000;
/** Delay (ms) after a conflict, within which the watch delivers the current object. */
const CONFLICT_MS = 100;

export interface BindingOptions {
  readonly client: KubeClient;
  readonly strategies: Strategies;
  readonly members: Members;
  readonly recordOf: (key: string) => BindingRecord | undefined;
  /** Keys of bindings waiting for capacity. */
  readonly waiting: Set<string>;
  /** Absent: no estimators are asked, and only the status of Clusters counts. */
  readonly estimates?: AskEstimates | undefined;
  readonly now: () => Date;
  /** Returns why the bindings of a namespace are not reconciled, as a message; undefined when its cache is complete. */
  readonly standstill: (namespace: string) => string | undefined;
  readonly observer: {
    judged(): void;
    placed(record: BindingRecord, verdict: BindingVerdict): void;
    standsStill(record: BindingRecord, why: string): void;
    held(record: BindingRecord, verdict: Pick<BindingVerdict, 'reason' | 'message'>): void;
  };
}

/** Decides where one binding goes and writes the result; each write is conditional on the binding that was read. */
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
      // The cached binding may be outdated, so a write would keep failing.
      waiting.delete(key);
      if (reasonToSchedule(record, members, strategies) !== undefined)
        observer.standsStill(record, standstill);
      return undefined;
    }
    const { found, without } = (await options.estimates?.(record, signal)) ?? NO_ESTIMATES;
    const { verdict, undo } = await withPluginAnswers(strategies, (known) => {
      const judged = saying(verdictOn(record, members, known, found), without);
      // Counted before the write, so that no other binding is given the same capacity.
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

/** Adds the clusters without an estimator's answer to the message of a binding that was not placed. */
const saying = (verdict: BindingVerdict, without: readonly string[]): BindingVerdict =>
  verdict.reason === 'Success' || without.length === 0
    ? verdict
    : { ...verdict, message: `${verdict.message}; no estimate of ${listed(without, 'clusters')}` };

/** @throws every error that is neither a conflict nor a deleted binding */
function again(error: unknown): ReconcileResult | undefined {
  if (isNotFound(error)) return undefined;
  if (isConflict(error)) return { requeueAfterMs: CONFLICT_MS };
  throw error;
}

/** The quota's message, without Muster's description of the call. */
const quotaMessage = ({ message }: ApiError): string => message.replace(/^.*?QuotaExceeded: /s, '');

export interface Estimated {
  readonly found: Estimates;
  /** Clusters whose estimator did not answer. */
  readonly without: readonly string[];
}

/** Asks the estimators for capacity for a binding. */
export type AskEstimates = (record: BindingRecord, signal: AbortSignal) => Promise<Estimated>;

const NO_ESTIMATES: Estimated = { found: new Map(), without: [] };

/**
 * Capacity that was given away but not reported yet is subtracted after the answer arrives: two bindings whose
 * estimates are requested at the same time are not given the same capacity.
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

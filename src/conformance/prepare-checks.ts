import jsonPatch from 'fast-json-patch';
import type { Decision } from '../admission/review.ts';
import type { JsonObject } from '../json/json.ts';
import { isLabelKey } from '../k8s/name-syntax.ts';
import { GATE_POD_GANG_PENDING } from '../api/names.ts';
import { quoted } from '../text/printable.ts';
import { messageOf, MusterError } from '../errors.ts';
import { MEMBERSHIP_LABELS } from '../gang/membership.ts';
import { isPodRefused, type PatchSurface } from '../preparers/preparer.ts';
import { broken } from './check.ts';
import { reachedOutside } from './outside-world.ts';

/** Checks shared by backends and preparations; each call prepares one Pod without Muster's own changes. */
type Calls = readonly (() => unknown)[];

/** Checks the keys that a module declares. @param whose words that follow a key of Muster's in the message */
export function checkKeys(
  { labels = [], annotations = [], gates = [] }: PatchSurface,
  whose = '',
): undefined {
  const wrong = [...labels, ...annotations, ...gates].find((key) => !isLabelKey(key));
  if (wrong !== undefined) throw broken(`${JSON.stringify(wrong)} is no legal key`);
  const ours = new Set<string>([...MEMBERSHIP_LABELS, GATE_POD_GANG_PENDING]);
  const taken = [...labels, ...gates].find((key) => ours.has(key));
  if (taken !== undefined) throw broken(`${taken} is Muster’s${whose}`);
}

export function checkSynchronous(calls: Calls): undefined {
  const returned = calls.map((call): unknown => {
    try {
      return call();
    } catch {
      return undefined;
    }
  });
  for (const value of returned) void Promise.resolve(value).catch(() => undefined);
  const first = returned.find((value) => value !== undefined);
  if (first instanceof Promise) throw broken('it returned a promise: what it does later reaches no Pod');
  if (first !== undefined) throw broken(`it returned ${quoted(first)}`);
}

export function checkPure(calls: Calls): undefined {
  const tried = calls.flatMap((call) => reachedOutside(call));
  if (tried.length > 0) throw broken(`it called ${[...new Set(tried)].join(', ')}`);
}

/**
 * Checks that not every Pod is refused, and each refusal has a field and a reason.
 * @param hint words that follow in the message
 */
export function checkRefusals(calls: Calls, hint = ''): undefined {
  const refusals = calls.flatMap((call) => {
    try {
      call();
      return [];
    } catch (thrown) {
      if (!isPodRefused(thrown)) throw broken(`it threw "${messageOf(thrown)}": Pods fail with 500`);
      if (thrown.field === '' || thrown.message === '')
        throw broken('it refused a Pod without a field or a reason');
      return [`${thrown.field}: ${thrown.message}`];
    }
  });
  if (refusals.length === calls.length) throw broken(`it refused every Pod (${refusals[0] ?? ''})${hint}`);
}

/** @param prepareAll prepares all Pods with Muster's own patch, which refuses fields that were not declared */
export async function checkKeepsToSurface(prepareAll: () => unknown): Promise<undefined> {
  try {
    await prepareAll();
  } catch (thrown) {
    if (thrown instanceof MusterError) throw broken(thrown.message);
    throw thrown;
  }
}

export const withChanges = (pod: JsonObject, { changes }: Pick<Decision, 'changes'>): JsonObject =>
  jsonPatch.applyPatch(
    structuredClone(pod),
    structuredClone(changes.map(({ operation }) => operation)) as never,
  ).newDocument;

/** Checks the outcome of preparing a prepared Pod. @throws ConformanceFailure where the Pod is refused or changed again */
export function checkSecondPass({ faults: [fault], changes }: Pick<Decision, 'faults' | 'changes'>): void {
  if (fault !== undefined) throw broken(`it refused the Pod that it prepared: ${fault.message}`);
  const paths = changes.map(({ operation }) => operation.path);
  if (paths.length > 0) throw broken(`it patched the prepared Pod again, at ${paths.join(', ')}`);
}

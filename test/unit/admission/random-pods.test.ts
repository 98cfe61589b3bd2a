import { expect, test } from '@jest/globals';
import { ENVIRONMENT_AND_VOLUMES, MANAGED_FIELDS, withoutLists } from '../../../src/json/unread-lists.ts';
import { searchLength } from '../../support/length.ts';
import fc from 'fast-check';
import { own, ownString, type JsonObject } from '../../../src/json/json.ts';
import { decideRequest } from '../../../src/admission/endpoints.ts';
import { parseReview, type AdmissionRequest, orUntouched } from '../../../src/admission/review.ts';
import { BadRequest } from '../../../src/errors.ts';
import { builtInBackends } from '../../../src/backends/registry.ts';
import { outsideOf } from '../../support/outside-of.ts';
import { policy } from '../../support/policy.ts';
import { priorityClasses } from '../../support/priority-classes.ts';
import { Random } from '../../support/random.ts';
import { every, randomPodText } from '../../support/random-pods.ts';
import { endpointOf, review } from '../../support/reviews.ts';
import { applied } from '../../support/rfc6902.ts';

const PODS = searchLength({ short: 8_000, long: 100_000 });
const factories = [...builtInBackends, every];
const placement = { ofGang: () => undefined, ofNamespace: () => undefined, classOfGang: () => 'polite' };
const classes = priorityClasses('low');
const policies = factories.map(({ name }) => policy({ factories, fallback: name, placement, classes }));
const template = JSON.stringify(review('Pod', { object: { here: true } }));

const mutate = (request: AdmissionRequest, index: number) =>
  orUntouched(decideRequest(endpointOf('mutate', 'Pod'), request, policies[index] ?? policy()));
const validate = (request: AdmissionRequest, index: number) =>
  orUntouched(decideRequest(endpointOf('validate', 'Pod'), request, policies[index] ?? policy()));
const textOf = (podText: string): string => template.replace('{"here":true}', () => podText);
const plainRequestOf = (podText: string): AdmissionRequest => parseReview(JSON.parse(textOf(podText)));
/** As the server reads it: without what is hardly ever looked at. */
const requestOf = (podText: string): AdmissionRequest => {
  const text = textOf(podText);
  const cut = withoutLists(Buffer.from(text), [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES]);
  return parseReview(JSON.parse(cut), () => JSON.parse(text));
};

/** @returns what became of the Pod, so that the run can show that it met every case */
function admit(seed: number): string {
  const random = new Random(seed);
  const text = randomPodText(random);
  const under = random.below(policies.length);
  let decision;
  let request;
  try {
    request = requestOf(text);
    decision = mutate(request, under);
  } catch (thrown) {
    if (thrown instanceof BadRequest) return 'bad';
    throw thrown;
  }
  if (decision.faults.length > 0) {
    if (decision.changes.length > 0) throw new Error('refused and patched');
    return 'refused';
  }
  const operations = decision.changes.map(({ operation }) => operation);
  if (decision.gang === undefined) {
    if (operations.length > 0) throw new Error('not ours, but patched');
    return 'untouched';
  }

  const stored = applied(text, operations);
  const again = mutate(plainRequestOf(text), under);
  if (JSON.stringify(again) !== JSON.stringify(decision))
    throw new Error('the same Pod, read as a whole, other bytes');
  const second = requestOf(JSON.stringify(stored));
  const secondPass = mutate(second, under);
  if (secondPass.faults.length > 0 || secondPass.changes.length > 0) {
    throw new Error(`the second pass is not empty: ${JSON.stringify(secondPass)}`);
  }
  const verdict = validate(second, under);
  if (verdict.faults.length > 0)
    throw new Error(`the stored Pod is refused: ${JSON.stringify(verdict.faults)}`);

  const backend = policies[under]?.registry.resolve(decision.backend ?? '')?.backend;
  if (backend === undefined || verdict.backend !== backend.name) throw new Error('another backend');
  const before = JSON.parse(text) as JsonObject;
  if (outsideOf(before, backend.patchSurface) !== outsideOf(stored, backend.patchSurface)) {
    throw new Error(`more was changed than the surface: ${JSON.stringify(operations)}`);
  }
  if (ownString(own(stored, 'spec'), 'schedulerName') !== backend.schedulerName) throw new Error('no name');
  if (({} as { polluted?: unknown }).polluted !== undefined) throw new Error('polluted');
  return operations.length === 0 ? 'prepared already' : backend.name;
}

test(`${PODS.toLocaleString('en')} random Pods: every patch applies, a second pass is empty, the stored Pod is accepted, the rest is as it was`, () => {
  const prototype = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
  const met = new Map<string, number>();
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const outcome = admit(seed);
      met.set(outcome, (met.get(outcome) ?? 0) + 1);
    }),
    { numRuns: PODS },
  );
  for (const outcome of ['bad', 'refused', 'untouched', ...factories.map(({ name }) => name)]) {
    expect([outcome, met.get(outcome) ?? 0]).toEqual([outcome, expect.any(Number)]);
    expect(met.get(outcome) ?? 0).toBeGreaterThan(PODS / 1000);
  }
  expect(JSON.stringify(Object.getOwnPropertyNames(Object.prototype))).toBe(prototype);
}, 120_000);

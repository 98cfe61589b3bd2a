import { describe, expect, test } from '@jest/globals';
import { inLength } from '../../support/length.ts';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { MUSTER_USER } from '../../../src/api/names.ts';
import type { PodGang } from '../../../src/api/pod-gang.ts';
import type { Decision } from '../../../src/admission/review.ts';
import type { Policy } from '../../../src/admission/policy.ts';
import { isInitialized } from '../../../src/gang/rules/initialized.ts';
import { parsePodGang } from '../../../src/gang/parse-pod-gang.ts';
import { condition, podGang } from '../../support/pod-gangs.ts';
import { policy } from '../../support/policy.ts';
import { Random } from '../../support/random.ts';
import { conditionsOf, nonsensePodGang, randomPodGang } from '../../support/random-pod-gangs.ts';
import { mutatePodGang, operationsOf, validatePodGang, type RequestParts } from '../../support/reviews.ts';
import { patched } from '../../support/rfc6902.ts';

const POLICIES: [Policy, ...Policy[]] = [
  policy(),
  policy({ fallback: 'kai-scheduler', levels: ['topology.kubernetes.io/zone'] }),
];
const ACCOUNTS: [string, ...string[]] = ['alice', 'system:serviceaccount:kube-system:generic', MUSTER_USER];
const GROVE = 'app.kubernetes.io/managed-by';
const read = (object: JsonObject): PodGang => parsePodGang(object, 'ml').gang;
const namesOf = (gang: PodGang): string[] => gang.spec.groups.map(({ name }) => name).sort();
const HISTORIES = inLength({ short: 250, long: 1_000 });
const runs = { numRuns: inLength({ short: 500, long: 2_000 }) };

describe('any PodGang, nonsense or not', () => {
  test('is read and judged without an exception, and every fault can be shown', () => {
    let refused = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = new Random(seed);
        const [object, oldObject] = [nonsensePodGang(random), nonsensePodGang(random)];
        const username = random.pick(ACCOUNTS);
        for (const parts of [
          { object },
          { object, oldObject },
          { object, oldObject, subResource: 'status' },
        ]) {
          const { faults, changes } = validatePodGang({ ...parts, username }, random.pick(POLICIES));
          expect(changes).toEqual([]);
          refused += faults.length > 0 ? 1 : 0;
          for (const { message } of faults) expect(Array.from(message).length).toBeLessThanOrEqual(256);
        }
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      }),
      runs,
    );
    expect(refused).toBeGreaterThan(runs.numRuns);
  });

  test('is given a patch that applies, once, and keeps references that are not its author’s', () => {
    let kept = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = new Random(seed);
        const object = nonsensePodGang(random);
        const oldObject = random.chance(70) ? nonsensePodGang(random) : undefined;
        const username = random.pick(ACCOUNTS);
        const decision = mutatePodGang({ object, oldObject, username });
        expect(mutatePodGang({ object, oldObject, username })).toEqual(decision);
        const after = patched(object, operationsOf(decision));
        expect(mutatePodGang({ object: after, oldObject, username }).changes).toEqual([]);
        if (oldObject === undefined || username === MUSTER_USER) return;
        const before = read(oldObject);
        if (before.labels.get(GROVE) !== undefined) return;
        const stored = new Map(before.spec.groups.map((group) => [group.name, group.podReferences ?? []]));
        for (const group of read(after).spec.groups) {
          const references = stored.get(group.name);
          if (references === undefined || group.name === '') continue;
          expect(group.podReferences).toEqual(references);
          kept += references.length > 0 ? 1 : 0;
        }
      }),
      runs,
    );
    expect(kept).toBeGreaterThan(runs.numRuns / 10);
  });
});

/** One write as the API server carries it out: the mutating webhook, the storage's own rules, the validating one. */
function write(stored: JsonObject, wanted: JsonObject, parts: RequestParts, under: Policy): JsonObject {
  let object = wanted;
  if (parts.subResource === 'status') {
    object = { ...stored, status: wanted['status'] ?? null };
  } else {
    const mutated: Decision = mutatePodGang({ ...parts, object, oldObject: stored }, under);
    object = { ...patched(object, operationsOf(mutated)), status: stored['status'] ?? null };
  }
  return validatePodGang({ ...parts, object, oldObject: stored }, under).faults.length === 0
    ? object
    : stored;
}

/** What a controller would write: the conditions there are, and Initialized turned True. */
const initializing = (stored: JsonObject): JsonObject => {
  const others = read(stored).conditions.filter(({ type }) => type !== 'Initialized');
  return { ...stored, status: { conditions: [...others, condition('Initialized', 'True')] as never } };
};

describe('over any history of writes by any accounts', () => {
  test('Initialized never goes back, comes only with references, and fixes the groups', () => {
    let initialized = 0;
    let attempts = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = new Random(seed);
        const under = random.pick(POLICIES);
        const first = randomPodGang(random);
        let stored = {
          ...patched(first, operationsOf(mutatePodGang({ object: first }, under))),
          status: null,
        } as JsonObject;
        if (validatePodGang({ object: stored }, under).faults.length > 0) stored = podGang({ status: null });
        for (let step = 0; step < 12; step += 1) {
          const username = random.pick(ACCOUNTS);
          const status = random.chance(50);
          const wanted =
            status && random.chance(60)
              ? initializing(stored)
              : { ...randomPodGang(random), status: { conditions: conditionsOf(random) } };
          const next = write(
            stored,
            wanted,
            { username, ...(status ? { subResource: 'status' } : {}) },
            under,
          );
          const [was, is] = [read(stored), read(next)];
          const managed = was.labels.has(GROVE);
          if (isInitialized(was)) {
            attempts += 1;
            expect(isInitialized(is)).toBe(true);
            if (!managed) expect(namesOf(is)).toEqual(namesOf(was));
          } else if (isInitialized(is)) {
            initialized += 1;
            if (!managed) {
              expect(username).toBe(MUSTER_USER);
              for (const group of is.spec.groups) {
                expect(group.podReferences?.length ?? 0).toBeGreaterThanOrEqual(group.minReplicas);
              }
            }
          }
          if (!managed && username !== MUSTER_USER) {
            const before = new Map(was.spec.groups.map((group) => [group.name, group.podReferences]));
            for (const { name, podReferences } of is.spec.groups) {
              if (before.has(name)) expect(podReferences ?? []).toEqual(before.get(name) ?? []);
            }
          }
          stored = next;
        }
      }),
      { numRuns: HISTORIES },
    );
    // It must have come to it, and been tried to be undone, or nothing was shown.
    expect(initialized).toBeGreaterThan(HISTORIES / 10);
    expect(attempts).toBeGreaterThan(HISTORIES / 2);
  }, 120_000);
});

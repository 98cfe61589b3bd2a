/** What each cluster needs at least of a gang that is divided: asked and kept by the operations that Karmada calls. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { interpreterEndpoint } from '../../../src/fleet/interpreter-endpoint.ts';
import { multiGetReplicas } from '../../../src/fleet/multi-replicas.ts';
import { kindsWith } from '../../../src/workloads/configured-kinds.ts';
import { template, volcanoJob, workload } from '../workloads/made-workloads.ts';
import { answerTo, contextOf, readAnswer, type Question } from './karmada-client.ts';

const server = { template: 'spec.template', replicas: 'spec.size', minAvailable: 'spec.least' };
const kinds = kindsWith([
  { group: 'example.com', version: 'v1', kind: 'Server', templates: [], single: server },
]);
const endpoint = interpreterEndpoint(kinds, () => undefined);

const ask = (operation: string, object: JsonObject, more: Partial<Question>): JsonObject => {
  const question = { operation, object, ...more };
  return readAnswer('1', question, answerTo(endpoint, contextOf('1', question))).object ?? {};
};
/** As Karmada sends it to a cluster: revised, and over what is there retained. */
const sent = (object: JsonObject, replicas: number, observedObject: JsonObject | undefined): JsonObject => {
  const desired = ask('ReviseReplica', object, { replicas });
  return observedObject === undefined ? desired : ask('Retain', desired, { observedObject });
};

/** Gangs with one template, of `replicas` Pods of which `least` are needed. */
const GANGS: Readonly<Record<string, (replicas: number, least: number) => JsonObject>> = {
  'a Volcano Job': (replicas, least) =>
    volcanoJob({
      minAvailable: least,
      tasks: [{ name: 'worker', replicas, minAvailable: least, template: template() }],
    }),
  'a Volcano Job that says it of the whole': (replicas, least) =>
    volcanoJob({ minAvailable: least, tasks: [{ name: 'worker', replicas, template: template() }] }),
  'an elastic PyTorchJob': (replicas, least) =>
    workload('kubeflow.org/v1', 'PyTorchJob', {
      elasticPolicy: { minReplicas: least },
      runPolicy: { schedulingPolicy: { minAvailable: least } },
      pytorchReplicaSpecs: { Worker: { replicas, template: template() } },
    }),
  'a kind of one’s own': (replicas, least) =>
    workload('example.com/v1', 'Server', { size: replicas, least, template: template() }),
};

const numbers = (object: JsonObject): { replicas: number; minAvailable: number } => {
  const [only] = multiGetReplicas(object, kinds);
  return { replicas: only?.replicas ?? 0, minAvailable: only?.minAvailable ?? 0 };
};

/** A gang, and how its Pods are divided among three clusters, one time after the other. */
const histories = fc
  .integer({ min: 1, max: 12 })
  .chain((replicas) => fc.tuple(fc.constant(replicas), fc.integer({ min: 1, max: replicas })))
  .chain(([replicas, least]) =>
    fc.record({
      replicas: fc.constant(replicas),
      least: fc.constant(least),
      divisions: fc.array(
        fc.array(fc.nat(replicas), { minLength: 3, maxLength: 3 }).filter((parts) => {
          const sum = parts.reduce((all, one) => all + one, 0);
          return least <= sum && sum <= replicas;
        }),
        { minLength: 1, maxLength: 5 },
      ),
    }),
  );

describe.each(Object.entries(GANGS))('%s, divided', (_, gangOf) => {
  test('each part can start, and all parts together never with less than the gang needs', () => {
    fc.assert(
      fc.property(histories, ({ replicas, least, divisions }) => {
        const gang = gangOf(replicas, least);
        let there: (JsonObject | undefined)[] = [];
        for (const parts of divisions) {
          there = parts.map((part, at) => (part === 0 ? undefined : sent(gang, part, there[at])));
          const found = there.flatMap((one) => (one === undefined ? [] : [numbers(one)]));
          expect(found.map((one) => one.replicas)).toEqual(parts.filter((part) => part > 0));
          for (const one of found) expect(one.minAvailable).toBeLessThanOrEqual(one.replicas);
          const together = found.reduce((sum, { minAvailable }) => sum + minAvailable, 0);
          expect(together).toBeGreaterThanOrEqual(least);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('12 with 8 at least, as 4 and 5, then 2 and 10', () => {
    const gang = gangOf(12, 8);
    const [one, other] = [sent(gang, 4, undefined), sent(gang, 5, undefined)];
    expect([one, other].map(numbers)).toEqual([
      { replicas: 4, minAvailable: 4 },
      { replicas: 5, minAvailable: 5 },
    ]);
    expect([sent(gang, 2, one), sent(gang, 10, other)].map(numbers)).toEqual([
      { replicas: 2, minAvailable: 2 },
      { replicas: 10, minAvailable: 8 },
    ]);
  });

  test('what was changed in a cluster stays, as long as it has so many Pods', () => {
    const gang = gangOf(12, 8);
    const there = sent(gang, 4, undefined);
    const changed = JSON.parse(
      JSON.stringify(there).replaceAll(/("minAvailable"|"minReplicas"|"least"):4/g, '$1:3'),
    ) as JsonObject;
    expect(numbers(changed)).toEqual({ replicas: 4, minAvailable: 3 });
    expect(numbers(sent(gang, 4, changed))).toEqual({ replicas: 4, minAvailable: 3 });
    expect(numbers(sent(gang, 6, changed))).toEqual({ replicas: 6, minAvailable: 6 });
  });
});

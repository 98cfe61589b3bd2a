/** Answers about specs that were seen before, beside those of an endpoint that has seen nothing. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { WebhookEndpoint } from '../../../src/api/webhook-endpoint.ts';
import { interpreterEndpoint } from '../../../src/fleet/interpreter-endpoint.ts';
import { operations } from '../../../src/fleet/operations.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { parseJson, unreadOf } from '../../../src/server/request-body.ts';
import { kindsWith } from '../../../src/workloads/configured-kinds.ts';
import { workloadKinds } from '../../../src/workloads/kinds.ts';
import { titleOf } from '../../../src/workloads/workload-kind.ts';
import { searchLength } from '../../support/length.ts';
import { template, volcanoJob, workload } from '../workloads/made-workloads.ts';
import { contextOf } from './karmada-client.ts';
import { objects } from './made-objects.ts';

const fresh = (kinds = workloadKinds): WebhookEndpoint => interpreterEndpoint(kinds, () => undefined);

/** What the server does with a body. `known`: whether its spec was not parsed. */
function ask(
  endpoint: WebhookEndpoint,
  operation: string,
  object: JsonObject,
): { body: string; known: boolean } {
  const bytes = Buffer.from(JSON.stringify(contextOf('6f2c', { operation, object })));
  const unread = unreadOf(endpoint, bytes);
  const found = unread === endpoint.specs?.among ? endpoint.specs.find(bytes) : undefined;
  const body = parseJson(bytes, unread, found);
  const entire = (): unknown => parseJson(bytes);
  const response = endpoint.handle({ body, bytes, found, remainingMs: 1_000, entire });
  if (response instanceof Promise) throw new Error('it has waited');
  return { body: response.body, known: found?.fits === true };
}

const job = (replicas = 4, more: JsonObject = {}): JsonObject =>
  volcanoJob({ tasks: [{ name: 'worker', replicas, template: template({ cpu: '2' }) }] }, more);

test('a workload whose spec is known is not parsed again, whatever its metadata and status say', () => {
  const endpoint = fresh();
  expect(ask(endpoint, 'InterpretComponent', job()).known).toBe(false);
  const later = job(4, { metadata: { name: 'train', labels: { a: 'b' } }, status: { running: 3 } });
  for (const operation of ['InterpretComponent', 'InterpretReplica', 'InterpretHealth', 'InterpretComponent'])
    expect(ask(endpoint, operation, later)).toEqual({ ...ask(fresh(), operation, later), known: true });
});

test('another spec, kind or namespace has its own answer', () => {
  const endpoint = fresh();
  const both = { replicas: 3, parallelism: 2, template: template({ cpu: '1' }) };
  const asked = [
    ...[job(), job(5), job(), volcanoJob({}), job(4, { metadata: { name: 'a', namespace: 'other' } })],
    ...[workload('apps/v1', 'Deployment', both), workload('batch/v1', 'Job', both)],
  ];
  for (const object of [...asked, ...asked])
    expect(ask(endpoint, 'InterpretReplica', object).body).toBe(
      ask(fresh(), 'InterpretReplica', object).body,
    );
  expect(ask(endpoint, 'InterpretReplica', asked[4] ?? {}).body).toContain('"namespace":"other"');
});

test('a fault is told again', () => {
  const endpoint = fresh();
  const wrong = job(-1);
  const first = ask(endpoint, 'InterpretComponent', wrong).body;
  expect(first).toContain('is no number of Pods');
  expect(ask(endpoint, 'InterpretComponent', wrong)).toEqual({ body: first, known: true });
});

test('numbers of a configured kind may stand outside of its spec', () => {
  const single = { template: 'spec.template', replicas: 'scale.size' };
  const kinds = kindsWith([{ group: 'example.com', version: 'v1', kind: 'Server', templates: [], single }]);
  const endpoint = fresh(kinds);
  for (const size of [2, 3, 4]) {
    const server = workload('example.com/v1', 'Server', { template: template() }, { scale: { size } });
    expect(ask(endpoint, 'InterpretReplica', server).body).toContain(`"replicas":${size}`);
  }
});

describe.each(workloadKinds.map((kind) => [titleOf(kind), kind] as const))('%s', (_, kind) => {
  test('is answered as by an endpoint that knows no spec', () => {
    const more = fc.record({
      metadata: fc.constantFrom<JsonObject>(
        { name: 'train', namespace: 'ml' },
        { name: 'train', namespace: 'ml', labels: { a: 'b' }, annotations: { size: '3' } },
        { name: 'train', namespace: 'other' },
      ),
      status: fc.constantFrom<JsonObject>({}, { replicas: 2, phase: 'Running' }),
    });
    const question = fc.tuple(fc.constantFrom(...operations.keys()), more);
    const questions = fc.array(question, { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(objects(kind), questions, (one, all) => {
        const endpoint = fresh();
        for (const [operation, beside] of all) {
          const object = { ...one, ...beside };
          expect(ask(endpoint, operation, object).body).toBe(ask(fresh(), operation, object).body);
        }
      }),
      { numRuns: searchLength({ short: 40, long: 1_000 }) },
    );
  });
});

/** In which order who is let through is written, and what comes of a write that meets somebody else's. */
import { expect, test } from '@jest/globals';
import { isObject, type Json, type JsonObject } from '../../../../src/json/json.ts';
import { Behind, letThrough } from '../../../../src/controller/fleet-queues/let-through.ts';
import { readQueuedBinding } from '../../../../src/fleet/bindings/queued-binding.ts';
import { readQueue } from '../../../../src/fleet/queues/read-queue.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { errorFromAnswer } from '../../../../src/kube/client/errors.ts';

const binding = (name: string, held = true) =>
  readQueuedBinding({
    metadata: {
      ...{ namespace: 'ml', name, uid: name, resourceVersion: '7' },
      ...{ creationTimestamp: '2026-08-21T03:10:00Z', annotations: { 'muster.dev/fleet-queue': 'team' } },
    },
    spec: {
      suspension: { scheduling: held },
      replicas: 1,
      replicaRequirements: { resourceRequest: { cpu: '1' } },
    },
  });

const queue = (name: string, spec: object, status: object = {}) =>
  readQueue({
    metadata: { name, uid: name, resourceVersion: '3', generation: 1 },
    spec,
    status,
  } as JsonObject);

const company = (status: object = {}) => queue('company', { capacity: { cpu: '2' } }, status);
const team = queue('team', { parent: 'company' });

/** Writes what comes, in its order. @param refuses the name of whose write meets another one */
function recorder(refuses = '') {
  const writes: string[] = [];
  const write = (name: string, what: string): Promise<undefined> => {
    if (name === refuses)
      return Promise.reject(errorFromAnswer('PATCH', 409, JSON.stringify({ message: 'changed' }), undefined));
    writes.push(what);
    return Promise.resolve(undefined);
  };
  const client = {
    jsonPatch: ({ name }: { name: string }, [, add]: readonly { value: Json }[]) => {
      const status = add?.value;
      const releasing = isObject(status) ? JSON.stringify(status['releasing']) : '';
      return write(name, `${name}: ${releasing}`);
    },
    mergePatch: ({ name }: { name: string }, patch: object) =>
      write(name, `${name}: ${JSON.stringify(patch)}`),
  };
  return { writes, client: client as unknown as KubeClient };
}

const LET_GO = '{"metadata":{"resourceVersion":"7"},"spec":{"suspension":{"scheduling":false}}}';

async function run(
  bindings: ReturnType<typeof binding>[],
  queues: ReturnType<typeof queue>[],
  refuses?: string,
  standstill: (namespace: string) => string | undefined = () => undefined,
): Promise<{ writes: string[]; released: string[]; error: unknown }> {
  const { writes, client } = recorder(refuses);
  const released: string[] = [];
  let error: unknown;
  await letThrough({
    ...{ client, bindings, queues, reserveAfterMs: 60_000, standstill, hasSeen: () => true },
    now: new Date('2026-08-21T03:10:01Z'),
    signal: new AbortController().signal,
    released: ({ name }) => released.push(name),
  }).catch((thrown: unknown) => (error = thrown));
  return { writes, released, error };
}

test('first the outermost queue says who goes, then they go, then the other queues say so', async () => {
  const { writes, released } = await run([binding('a'), binding('b'), binding('c')], [team, company()]);
  expect(writes).toEqual(['company: ["ml/a@a","ml/b@b"]', `a: ${LET_GO}`, `b: ${LET_GO}`, 'team: []']);
  expect(released).toEqual(['a', 'b']);
});

test('nobody goes of a namespace of which not all is known, nor what of it had begun; who went counts', async () => {
  const other = (name: string, held = true) => ({ ...binding(name, held), namespace: 'flood' });
  const one = other('begun');
  const claimed = company({ releasing: [`${one.gang?.key ?? ''}@begun`] });
  const standstill = (namespace: string) => (namespace === 'flood' ? 'too large' : undefined);
  const { writes, released } = await run(
    [one, other('waits'), binding('a'), binding('b')],
    [team, claimed],
    undefined,
    standstill,
  );
  expect(released).toEqual(['a']);
  expect(writes).toEqual([`company: ["ml/begun@begun","ml/a@a"]`, `a: ${LET_GO}`, 'team: []']);
  const known = await run([one, other('waits')], [team, claimed]);
  expect(known.released).toEqual(['begun', 'waits']);
});

test('where somebody else has written there, nobody goes', async () => {
  const { writes, released, error } = await run([binding('a')], [team, company()], 'company');
  expect([writes, released]).toEqual([[], []]);
  expect(error).toBeInstanceOf(Behind);
});

test('who was about to go when the last one died goes, and counts already; nobody comes before him', async () => {
  const claimed = company({ releasing: ['ml/c@c', 'ml/gone@x'] });
  const { writes, released } = await run([binding('a'), binding('b'), binding('c')], [claimed, team]);
  expect(writes[0]).toBe('company: ["ml/c@c","ml/a@a"]');
  expect(released).toEqual(['c', 'a']);
});

test('a binding of the same name that was made anew is not the one that was about to go', async () => {
  const claimed = company({ releasing: ['ml/a@older'] });
  const { writes } = await run([binding('a')], [claimed, team]);
  expect(writes[0]).toBe('company: ["ml/a@a"]');
});

test('a binding that has changed meanwhile stops the round, and what is written already stands', async () => {
  const { writes, released, error } = await run([binding('a'), binding('b')], [company(), team], 'b');
  expect(writes).toEqual(['company: ["ml/a@a","ml/b@b"]', `a: ${LET_GO}`]);
  expect(released).toEqual(['a']);
  expect(error).toBeInstanceOf(Behind);
});

test('who has gone is forgotten once he is seen to have', async () => {
  const claimed = company({ releasing: ['ml/a@a'] });
  const { writes } = await run([binding('a', false)], [claimed]);
  expect(writes).toEqual(['company: []']);
});

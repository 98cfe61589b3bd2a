import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GATE_POD_GANG_PENDING, GROVE_OPERATOR_USER, MUSTER_USER } from '../../../src/api/names.ts';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { gangPod, gates, pod, storedPod } from '../../support/pods.ts';
import { review, type RequestParts } from '../../support/reviews.ts';
import { applied } from '../../support/rfc6902.ts';
import { MUTATE_POD, VALIDATE_POD, golden, goldenText, reviewText } from './bodies.ts';
import { closeAll, responseOf, start, type Running } from './running.ts';

let running: Running;
beforeAll(async () => void (running = await start()));
afterAll(closeAll);

const ask = async (path: string, parts: RequestParts): Promise<Record<string, unknown>> =>
  responseOf(await running.post(path, reviewText(review('Pod', parts))));
const mutate = (parts: RequestParts): Promise<Record<string, unknown>> => ask(MUTATE_POD, parts);
const validate = (parts: RequestParts): Promise<Record<string, unknown>> => ask(VALIDATE_POD, parts);
const operationsOf = (response: Record<string, unknown>): { op: string; path: string }[] =>
  JSON.parse(Buffer.from(response['patch'] as string, 'base64').toString()) as { op: string; path: string }[];
/** The Pod after the answer's patch, by two implementations of RFC 6902. */
const patchedBy = (object: JsonObject, response: Record<string, unknown>): JsonObject =>
  applied(JSON.stringify(object), operationsOf(response));
const gatesOf = (object: JsonObject): Json | undefined => (object['spec'] as JsonObject)['schedulingGates'];
const untouched = { uid: expect.any(String), allowed: true };

test('V35: DELETE is allowed without a patch', async () => {
  const parts = { operation: 'DELETE', oldObject: storedPod(), object: null };
  expect(await mutate(parts)).toEqual(untouched);
  expect(await validate(parts)).toEqual(untouched);
});

describe('V36: subresources are let through by the mutating path', () => {
  test.each(['status', 'ephemeralcontainers', 'resize', 'binding'])('V36: %s', async (subResource) => {
    expect(await mutate({ subResource, object: gangPod(), oldObject: gangPod() })).toEqual(untouched);
    expect(await mutate({ subResource, object: gangPod() })).toEqual(untouched);
  });
  test.each([
    ['CONNECT', 'exec', 'PodExecOptions'],
    ['CREATE', 'binding', 'Binding'],
    ['CREATE', 'eviction', 'Eviction'],
  ])('%s pods/%s', async (operation, subResource, kind) => {
    const whole = review('Pod', { operation, subResource, object: { kind, metadata: { name: 'worker-0' } } });
    const request = { ...(whole['request'] as JsonObject), kind: { group: '', version: 'v1', kind } };
    for (const path of [MUTATE_POD, VALIDATE_POD]) {
      expect(responseOf(await running.post(path, reviewText({ ...whole, request })))).toEqual(untouched);
    }
  });
});

test.each(['kube-system', 'muster-system'])('V37: namespace %s is never touched', async (namespace) => {
  const object = gangPod({ metadata: { namespace } });
  expect(await mutate({ namespace, object })).toEqual(untouched);
  expect(await validate({ namespace, object })).toEqual(untouched);
});

test('V38: a Pod without gang label is allowed, without patch and patchType', async () => {
  expect(await mutate({ object: pod() })).toEqual(untouched);
  expect(await mutate({ object: pod({ labels: { 'grove.io/podclique': 'worker' } }) })).toEqual(untouched);
});

test('V39: golden: a gang Pod is patched, the review is not echoed', async () => {
  const answer = await running.post(MUTATE_POD, goldenText);
  const response = responseOf(answer);
  expect(response).toMatchObject({ allowed: true, patchType: 'JSONPatch' });
  expect(gatesOf(patchedBy(gangPod(), response))).toEqual(gates(GATE_POD_GANG_PENDING));
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.body).not.toContain('"request"');
});

test('V40: the result of V39 sent again is allowed without a patch', async () => {
  const once = patchedBy(gangPod(), await mutate({ object: gangPod() }));
  expect(await mutate({ object: once })).toEqual({ ...untouched, auditAnnotations: expect.anything() });
});

describe('V41: gates', () => {
  test.each<[string, Json | undefined, string[]]>([
    ['absent', undefined, []],
    ['null', null, []],
    ['[]', [], []],
    ['others present', gates('b.example/x', 'a.example/y'), ['b.example/x', 'a.example/y']],
  ])('V41: %s: the gate is added once, others are kept in order', async (_, schedulingGates, kept) => {
    const object = gangPod({ spec: { schedulingGates } });
    const after = gatesOf(patchedBy(object, await mutate({ object }))) as JsonObject[];
    expect(after.map(({ name }) => name)).toEqual([...kept, GATE_POD_GANG_PENDING]);
  });
});

test('V42: a Pod whose name is still to be generated', async () => {
  const object = gangPod({ metadata: { name: undefined, generateName: 'worker-' } });
  expect(operationsOf(await mutate({ object }))).toEqual(operationsOf(await mutate({ object: gangPod() })));
});

test('V43: a dry run gets the same bytes', async () => {
  const [real, dry] = await Promise.all(
    [false, true].map((dryRun) => running.post(MUTATE_POD, reviewText(golden({ dryRun })))),
  );
  expect(dry?.body).toBe(real?.body);
});

test('V44: the same review twice gets the same bytes', async () => {
  const [one, two] = [await running.post(MUTATE_POD, goldenText), await running.post(MUTATE_POD, goldenText)];
  expect(one.body).toBe(two.body);
});

test('V45: a gang Pod that names its node is refused with 403', async () => {
  expect(await mutate({ object: gangPod({ spec: { nodeName: 'node-1' } }) })).toMatchObject({
    allowed: false,
    status: { code: 403, message: expect.stringContaining('spec.nodeName') },
  });
});

test('V46: a mirror Pod of a node is allowed without a patch; the annotation alone is not enough', async () => {
  const object = gangPod({
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    spec: { nodeName: 'node-1' },
  });
  const kubelet = { username: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] };
  expect(await mutate({ object, ...kubelet })).toEqual(untouched);
  expect(await mutate({ object })).toMatchObject({ allowed: false });
});

describe('V47: who may take the gate away', () => {
  const dropping = (who: Partial<RequestParts>): Promise<Record<string, unknown>> =>
    validate({ oldObject: storedPod(), object: gangPod(), ...who });
  test.each([
    ['alice', { username: 'alice' }],
    ['an administrator', { username: 'admin', groups: ['system:masters'] }],
    ['a name that only begins like ours', { username: `${MUSTER_USER}-x` }],
  ])('V47: %s is refused with 403', async (_, who) => {
    expect(await dropping(who)).toMatchObject({ allowed: false, status: { code: 403, reason: 'Forbidden' } });
  });
  test('V47: Muster is allowed; the Grove operator only where the configuration trusts it', async () => {
    expect(await dropping({ username: MUSTER_USER })).toMatchObject({ allowed: true });
    const grove = { username: GROVE_OPERATOR_USER };
    expect(await dropping(grove)).toMatchObject({ allowed: false });
    const beside = await start({ settings: { trustedAccounts: [MUSTER_USER, GROVE_OPERATOR_USER] } });
    const parts = { oldObject: storedPod(), object: gangPod(), ...grove };
    const answer = await beside.post(VALIDATE_POD, reviewText(review('Pod', parts)));
    expect(responseOf(answer)).toMatchObject({ allowed: true });
  });
});

describe('V48: the gang labels stay as they are, also through pods/status', () => {
  const relabelled: [string, JsonObject, JsonObject][] = [
    ['added', pod(), gangPod()],
    ['changed', storedPod(), storedPod({ labels: { 'grove.io/podgang': 'other' } })],
    ['removed', storedPod(), pod({ labels: { 'grove.io/podclique': 'worker' } })],
    ['group changed', storedPod(), storedPod({ labels: { 'grove.io/podclique': 'leader' } })],
  ];
  test.each(relabelled)('V48: %s', async (_, oldObject, object) => {
    for (const more of [{}, { subResource: 'status' }]) {
      const response = await validate({ oldObject, object, username: MUSTER_USER, ...more });
      expect(response).toMatchObject({ allowed: false });
      expect([403, 422]).toContain((response['status'] as { code: number }).code);
    }
  });
});

test('V49: a gang Pod without the gate is refused, naming the cause', async () => {
  expect(await validate({ object: gangPod() })).toMatchObject({
    allowed: false,
    status: { code: 403, message: expect.stringMatching(/spec\.schedulingGates: .*gate/) },
  });
});

describe('V51: validation never patches', () => {
  const cases: [string, RequestParts][] = [
    ['a prepared Pod', { object: storedPod() }],
    ['another Pod', { object: pod() }],
    ['an update', { object: storedPod(), oldObject: storedPod() }],
    ['a refusal', { object: gangPod() }],
  ];
  test.each(cases)('V51: %s', async (_, parts) => {
    const response = await validate(parts);
    expect([response['patch'], response['patchType']]).toEqual([undefined, undefined]);
  });
});

describe('V52, V53: what users write comes back safe', () => {
  const HOSTILE = `a\nb\u001b[31mc\u202ed${'x'.repeat(300 * 1024)}`;
  const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
  const spots: [string, RequestParts][] = [
    ['annotation', { object: gangPod({ annotations: { note: HOSTILE }, spec: { nodeName: 'n' } }) }],
    ['gang name', { object: gangPod({ labels: { 'grove.io/podgang': HOSTILE } }) }],
    ['scheduler label', { object: gangPod({ labels: { 'grove.io/scheduler-name': HOSTILE } }) }],
    ['node name', { object: gangPod({ spec: { nodeName: HOSTILE } }) }],
    ['name', { object: gangPod({ metadata: { name: HOSTILE }, spec: { nodeName: 'n' } }) }],
  ];
  test.each(spots)('V52: newline, ESC, U+202E and 300 KiB in the %s', async (_, parts) => {
    const response = await mutate(parts);
    const { message, details } = response['status'] as {
      message: string;
      details: { name: string; causes: { message: string }[] };
    };
    const texts = [message, details.name, ...details.causes.map((cause) => cause.message)];
    for (const text of texts) {
      expect(text).not.toMatch(UNSAFE);
      expect(Array.from(text).length).toBeLessThanOrEqual(512);
    }
    expect(details.causes.length).toBeGreaterThan(0);
    expect(texts.join('').length).toBeLessThan(4096);
  });
  test('V52: a bad kind in a failure', async () => {
    const { body } = await running.post(MUTATE_POD, reviewText({ ...golden(), kind: HOSTILE }));
    const { message } = JSON.parse(body) as { message: string };
    expect(message).not.toMatch(UNSAFE);
    expect(Array.from(message).length).toBeLessThanOrEqual(512);
  });
  test('V53: audit keys are what the API server takes', async () => {
    const { auditAnnotations } = await mutate({ object: gangPod() });
    expect(auditAnnotations).toEqual({ backend: expect.any(String), gang: 'ml/train' });
    for (const key of Object.keys(auditAnnotations as object)) {
      expect(key).toMatch(/^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$/);
    }
  });
});

test('V57: where requestKind differs from kind, kind decides', async () => {
  const other = { group: 'example.com', version: 'v9', kind: 'Elsewhere' };
  const whole = golden();
  const request = { ...(whole['request'] as JsonObject), requestKind: other, requestResource: other };
  const response = responseOf(await running.post(MUTATE_POD, reviewText({ ...whole, request })));
  expect(operationsOf(response)).toEqual(operationsOf(await mutate({ object: gangPod() })));
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { group, podGang, references } from '../../support/pod-gangs.ts';
import { review, type RequestParts } from '../../support/reviews.ts';
import { MUTATE_GANG, VALIDATE_GANG, reviewText } from './bodies.ts';
import { closeAll, responseOf, start, type Running } from './running.ts';

let running: Running;
beforeAll(async () => void (running = await start()));
afterAll(closeAll);

const ask = async (path: string, parts: RequestParts): Promise<Record<string, unknown>> =>
  responseOf(await running.post(path, reviewText(review('PodGang', parts))));

test('V50: three faults of a PodGang are three causes with their fields, 422', async () => {
  const object = podGang({
    groups: [
      group('leader', { minReplicas: -1 }),
      group('worker'),
      group('worker', { podReferences: [{ namespace: 'other', name: 'x' }] }),
    ],
  });
  const response = await ask(VALIDATE_GANG, { object });
  expect(response).toMatchObject({ allowed: false, status: { code: 422, reason: 'Invalid' } });
  const { causes } = (response['status'] as { details: { causes: { field: string }[] } }).details;
  expect(causes.map(({ field }) => field).toSorted()).toEqual([
    'spec.podgroups[0].minReplicas',
    'spec.podgroups[2].name',
    expect.stringMatching(/^spec\.podgroups\[2\]\.podReferences\[0\]/),
  ]);
});

describe('V51: validation never patches', () => {
  test.each<[string, RequestParts]>([
    ['CREATE', { object: podGang() }],
    ['UPDATE', { object: podGang(), oldObject: podGang() }],
    ['status', { object: podGang(), oldObject: podGang(), subResource: 'status' }],
    ['DELETE', { operation: 'DELETE', oldObject: podGang(), object: null }],
  ])('V51: %s of a PodGang', async (_, parts) => {
    const response = await ask(VALIDATE_GANG, parts);
    expect(response).toMatchObject({ allowed: true });
    expect([response['patch'], response['patchType']]).toEqual([undefined, undefined]);
  });
});

test('V35: DELETE of a PodGang is allowed without a patch', async () => {
  const parts = { operation: 'DELETE', oldObject: podGang(), object: null };
  expect(await ask(MUTATE_GANG, parts)).toEqual({ uid: expect.any(String), allowed: true });
});

test('applying the manifest again keeps the references', async () => {
  const oldObject = podGang({
    groups: [group('leader', { podReferences: references('leader-0') }), group('worker')],
  });
  const response = await ask(MUTATE_GANG, {
    oldObject,
    object: podGang({ groups: [group('leader'), group('worker')] }),
  });
  const patch = JSON.parse(Buffer.from(response['patch'] as string, 'base64').toString()) as unknown;
  expect(patch).toEqual([
    { op: 'replace', path: '/spec/podgroups/0/podReferences', value: references('leader-0') },
  ]);
});

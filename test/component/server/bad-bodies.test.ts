import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { GANG_LABELS, gangPod, pod, storedPod } from '../../support/pods.ts';
import { group, podGang } from '../../support/pod-gangs.ts';
import { review } from '../../support/reviews.ts';
import {
  MUTATE_GANG,
  MUTATE_POD,
  VALIDATE_GANG,
  VALIDATE_POD,
  golden,
  goldenText,
  goldenWith,
  reviewText,
} from './bodies.ts';
import { closeAll, expectGolden, expectStatus, responseOf, start, type Running } from './running.ts';
import type { WireAnswer } from './wire.ts';

let running: Running;
beforeAll(async () => void (running = await start()));
afterAll(closeAll);

const PATHS = [MUTATE_POD, VALIDATE_POD, MUTATE_GANG, VALIDATE_GANG];
const post = (body: string | Buffer, path = MUTATE_POD): Promise<WireAnswer> => running.post(path, body);
const send = (value: Json, path = MUTATE_POD): Promise<WireAnswer> => post(reviewText(value), path);

/** Every path says 400 for the same reason, and the server lives. */
async function refusedEverywhere(body: string | Buffer, message: RegExp): Promise<void> {
  for (const path of PATHS) expectStatus(await post(body, path), 400, message);
  await running.alive();
}

describe('V23: what is no JSON object is refused with 400', () => {
  test.each<[string, string | Buffer, RegExp]>([
    ['{', '{', /not JSON/],
    ['[]', '[]', /found a list/],
    ['null', 'null', /found null/],
    ['"x"', '"x"', /found "x"/],
    ['1', '1', /found 1/],
    ['a truncated review', goldenText.slice(0, -10), /not JSON/],
    ['two reviews', goldenText + goldenText, /not JSON/],
    ['truncated UTF-8', Buffer.from(goldenText.replace('worker-0', 'é')).subarray(0, -1 - 40), /not JSON/],
    [
      'half a character',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3]), Buffer.from('"}')]),
      /not valid UTF-8/,
    ],
    ['a lone surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /not valid UTF-8/],
    ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), /not valid UTF-8/],
    ['a BOM', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(goldenText)]), /not JSON/],
    ['UTF-16', Buffer.from(goldenText, 'utf16le'), /not JSON/],
    ['YAML', 'apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n', /not JSON/],
    ['NaN', '{"a":NaN}', /not JSON/],
    ['zero bytes', Buffer.alloc(100), /not JSON/],
  ])('%s', (_, body, message) => refusedEverywhere(body, message));
});

describe('V24: depth', () => {
  const deep = (open: string, close: string, depth: number): string =>
    open.repeat(depth) + close.repeat(depth);
  /** The review with `DEEP` in one place replaced. */
  const around = (value: JsonObject, inner: string): string => JSON.stringify(value).replace('"DEEP"', inner);
  const places: [string, string, JsonObject][] = [
    ['a Pod', MUTATE_POD, golden({ object: gangPod({ spec: { affinity: 'DEEP' } }) })],
    ['a Pod’s gates', MUTATE_POD, golden({ object: gangPod({ spec: { schedulingGates: ['DEEP'] } }) })],
    ['a Pod, validated', VALIDATE_POD, golden({ object: storedPod({ spec: { affinity: 'DEEP' } }) })],
    ['a PodGang', MUTATE_GANG, review('PodGang', { object: podGang({ spec: { extra: 'DEEP' } }) })],
    [
      'references of a PodGang',
      VALIDATE_GANG,
      review('PodGang', { object: podGang({ groups: [group('leader', { podReferences: ['DEEP'] })] }) }),
    ],
    [
      'both versions of a PodGang',
      VALIDATE_GANG,
      review('PodGang', {
        object: podGang({ spec: { extra: 'DEEP' } }),
        oldObject: podGang({ spec: { extra: [] } }),
      }),
    ],
    ['userInfo', MUTATE_POD, goldenWith({ userInfo: 'DEEP' })],
  ];
  const nested = (depth: number): string[] => [
    deep('[', ']', depth),
    deep('{"a":[', ']}', depth / 4).replace('[]', '[1]'),
  ];
  test.each(places)('V24: 600 nested lists in %s', async (_, path, value) => {
    for (const inner of nested(600)) {
      const answer = await post(around(value, inner), path);
      expect([200, 400]).toContain(answer.status);
      await running.alive();
    }
  });
  const tooDeep = places.flatMap((place) => [4_000, 100_000].map((depth) => [depth, ...place] as const));
  test.each(tooDeep)('V24: %i nested lists in %s are not even parsed', async (depth, _, path, value) => {
    for (const inner of nested(depth)) {
      expectStatus(
        await post(around(value, inner), path),
        413,
        /too costly to parse: it is nested more than 256 levels/,
      );
      await running.alive();
    }
  });
  test('nothing but depth', () => refusedEverywhere(deep('[', ']', 2_000), /found a list/));
});

const HOSTILE_KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'prototype',
  'valueOf',
  '__defineGetter__',
];
describe('V25: keys that mean something to JavaScript are labels like any other', () => {
  const hostile = (value: string): string => HOSTILE_KEYS.map((key) => `"${key}":${value}`).join(',');
  const inject = (text: string, after: string, value: string): string =>
    text.replace(after, `${after}${hostile(value)},`);

  test('V25: labels and annotations named __proto__, constructor, toString, hasOwnProperty', async () => {
    const text = JSON.stringify(golden({ object: gangPod({ annotations: { a: 'b' } }) }));
    const poisoned = inject(inject(text, '"labels":{', '"polluted"'), '"annotations":{', '"polluted"');
    const clean = await post(text);
    const answer = await post(poisoned);
    expectGolden(answer);
    expect(responseOf(answer)).toEqual(responseOf(clean));
    expect(await post(text)).toEqual({ ...clean, headers: expect.anything() });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
  test.each(PATHS)('everywhere in a review for %s', async (path) => {
    const kind = path.includes('podgang') ? 'PodGang' : 'Pod';
    const object =
      kind === 'Pod' ? gangPod({ annotations: { a: 'b' } }) : podGang({ annotations: { a: 'b' } });
    const text = JSON.stringify(review(kind, { object, oldObject: object }));
    const value = '{"polluted":"yes","admission":{"polluted":"yes"}}';
    for (const after of ['{"uid', '"object":{', '"metadata":{', '"spec":{', '"userInfo":{', '"request":{']) {
      const body = text.replaceAll(
        after,
        `${after.replace(/"uid$/, '')}${hostile(value)},${after.endsWith('"uid') ? '"uid' : ''}`,
      );
      expect([200, 400]).toContain((await post(body, path)).status);
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    await running.alive();
  });
  test('labels that come from a prototype count for nothing', async () => {
    const text = JSON.stringify(golden({ object: pod({ labels: { a: 'b' } }) }));
    const inherited = text.replace(
      '"labels":{',
      `"labels":{"__proto__":${JSON.stringify(JSON.stringify(GANG_LABELS))},`,
    );
    expect(responseOf(await post(inherited))).toEqual({ uid: expect.anything(), allowed: true });
    const object = text.replace('"labels":{', `"labels":{"__proto__":${JSON.stringify(GANG_LABELS)},`);
    expectStatus(await post(object), 400, /"__proto__" must have a string as value/);
  });
});

describe('V26: another apiVersion or kind is refused with 400', () => {
  test.each([
    { kind: 'Foo' },
    { kind: 'admissionreview' },
    { kind: null },
    { apiVersion: 'admission.k8s.io/v2' },
    { apiVersion: 'admission.k8s.io/v1beta1' },
    { apiVersion: 'v1' },
    { apiVersion: ['admission.k8s.io/v1'] },
  ])('%j', (parts) =>
    refusedEverywhere(
      reviewText({ ...golden(), ...parts }),
      /admission\.k8s\.io\/v1 AdmissionReview is needed, found/,
    ),
  );
});

describe('V27: no request', () => {
  test.each([
    ['absent', undefined],
    ['null', null],
    ['a list', []],
    ['a string', 'x'],
  ])('%s', (_, request) =>
    refusedEverywhere(JSON.stringify({ ...golden(), request }), /request: an object is needed/),
  );
});

describe('V28: a uid that is none', () => {
  test.each([undefined, '', 1, null, {}, 'x'.repeat(10 * 1024)])('%#', (uid) =>
    refusedEverywhere(JSON.stringify(goldenWith({ uid })), /request\.uid: a string of 1 to 128 characters/),
  );
});

test('V29: unknown fields everywhere are ignored', async () => {
  const extra = { extra: { deeply: ['nested', 1, null] } };
  const whole = golden({ object: gangPod({ metadata: extra, spec: extra }) });
  const request = { ...(whole['request'] as JsonObject), ...extra };
  expectGolden(await send({ ...whole, ...extra, request }));
});

describe('V30: of duplicate keys the last one wins, as in Go', () => {
  test('V30: a second request', async () => {
    const text = JSON.stringify(golden());
    expectGolden(await post(text.replace('"request":', '"request":null,"request":')));
  });
  test('a label that comes twice', async () => {
    const twice = (first: string, second: string): string =>
      JSON.stringify(golden()).replace(
        '"grove.io/podclique":"worker"',
        `"grove.io/podclique":"${first}","grove.io/podclique":"${second}"`,
      );
    expectGolden(await post(twice('', 'worker')));
    expect(responseOf(await post(twice('worker', '')))).toMatchObject({
      allowed: false,
      status: { code: 422 },
    });
  });
});

test('V31: a number beyond 2^53 in a field that is not changed is never written again', async () => {
  const text = JSON.stringify(
    review('PodGang', {
      username: 'alice',
      object: podGang({
        labels: { 'grove.io/scheduler-name': 'default-scheduler' },
        groups: [group('leader', { extra: 'BIG' }), group('worker', { podReferences: undefined })],
      }),
    }),
  ).replace('"BIG"', '9007199254740993');
  const response = responseOf(await post(text, MUTATE_GANG));
  const patch = Buffer.from(response['patch'] as string, 'base64').toString();
  expect(patch).toContain('podReferences');
  expect(patch).not.toContain('900719925474099');
  expect(JSON.parse(patch)).toEqual([{ op: 'add', path: '/spec/podgroups/1/podReferences', value: [] }]);
  const big = JSON.stringify(golden({ object: gangPod({ spec: { extra: 'BIG' } }) })).replace(
    '"BIG"',
    '9007199254740993',
  );
  const podPatch = Buffer.from(responseOf(await post(big))['patch'] as string, 'base64').toString();
  expect(podPatch).not.toContain('900719925474099');
});

describe('V32: another kind on a path', () => {
  test.each(PATHS)('V32: a ConfigMap on %s is refused with 400', async (path) => {
    const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
    expectStatus(await send(goldenWith({ kind }), path), 400, /unexpected kind "core\/v1 ConfigMap"/);
  });
  test.each([[{}], [null], ['Pod'], [{ kind: 'Pod' }], [{ group: '', version: 'v2', kind: 'Pod' }]])(
    '%j',
    async (kind) => {
      expectStatus(await send(goldenWith({ kind })), 400, /unexpected kind/);
    },
  );
});

describe('V33: an object that is missing', () => {
  test.each([
    [
      'CREATE without object',
      { operation: 'CREATE', object: null },
      /request\.object: an object is needed, found null/,
    ],
    [
      'UPDATE without object',
      { operation: 'UPDATE', object: null, oldObject: {} },
      /request\.object: an object/,
    ],
    [
      'UPDATE without oldObject',
      { operation: 'UPDATE', oldObject: null },
      /request\.oldObject: an object is needed/,
    ],
    ['object is a list', { object: [] }, /request\.object: an object is needed, found a list/],
    ['no operation', { operation: undefined }, /request\.operation: null is none of CREATE/],
    ['an unknown operation', { operation: 'PATCH' }, /request\.operation: "PATCH" is none of/],
    ['an operation from a prototype', { operation: 'constructor' }, /is none of/],
  ])('V33: %s', async (_, request, message) => {
    await refusedEverywhere(JSON.stringify(goldenWith(request)), message);
  });
});

describe('V34: metadata', () => {
  const withMetadata = (metadata: Json): Promise<WireAnswer> =>
    send(goldenWith({ object: { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } } }));
  test.each([[{}], [null], [{ labels: null }], [{ labels: {}, annotations: null }]])(
    '%j is allowed',
    async (metadata) => {
      expect(responseOf(await withMetadata(metadata as Json))).toEqual({
        uid: expect.anything(),
        allowed: true,
      });
    },
  );
  test.each<[Json, RegExp]>([
    [{ labels: [] }, /metadata\.labels: an object is needed/],
    [{ labels: 'x' }, /metadata\.labels: an object is needed/],
    [{ labels: { a: 1 } }, /metadata\.labels: "a" must have a string/],
    [{ annotations: [] }, /metadata\.annotations: an object is needed/],
    [{ annotations: { a: null } }, /metadata\.annotations: "a" must have a string/],
    [[], /metadata: an object is needed/],
    ['x', /metadata: an object is needed/],
  ])('%j is refused with 400', async (metadata, message) => {
    expectStatus(await withMetadata(metadata), 400, message);
  });
  test.each<[Json, RegExp]>([
    [[], /spec: an object is needed/],
    ['x', /spec: an object is needed/],
    [{ schedulingGates: {} }, /schedulingGates: a list is needed/],
    [{ schedulingGates: 'x' }, /schedulingGates: a list is needed/],
  ])('a gang Pod with spec %j is refused with 400', async (spec, message) => {
    const object = { ...gangPod(), spec };
    expectStatus(await send(golden({ object })), 400, message);
  });
});

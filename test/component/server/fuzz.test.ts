import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { inLength } from '../../support/length.ts';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { gangPod, storedPod } from '../../support/pods.ts';
import { completeGroups, podGang } from '../../support/pod-gangs.ts';
import { review } from '../../support/reviews.ts';
import { MUTATE_GANG, MUTATE_POD, VALIDATE_GANG, VALIDATE_POD } from './bodies.ts';
import { closeAll, start, type Running } from './running.ts';
import { Wire, httpRequest, type WireAnswer } from './wire.ts';

jest.setTimeout(120_000);

const BODIES = inLength({ short: 4_000, long: 20_000 });
const BUDGET_MS = 30_000;
const CLIENTS = 8;
/** The same bodies every time; `FUZZ_SEED` gives others. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_601);

let running: Running;
beforeAll(async () => void (running = await start()));
afterAll(closeAll);

type Random = (below: number) => number;
/** mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const SEEDS: readonly (readonly [string, JsonObject])[] = [
  [MUTATE_POD, review('Pod', { object: gangPod({ annotations: { a: 'b' } }) })],
  [VALIDATE_POD, review('Pod', { object: storedPod() })],
  [VALIDATE_POD, review('Pod', { object: storedPod(), oldObject: storedPod() })],
  [MUTATE_GANG, review('PodGang', { object: podGang() })],
  [VALIDATE_GANG, review('PodGang', { object: podGang({ groups: completeGroups() }), oldObject: podGang() })],
  [VALIDATE_GANG, review('PodGang', { object: podGang({ groups: completeGroups() }) })],
];

/** Values that programs trip over. `RAW` ones are put in as text, since no JavaScript value prints that way. */
const VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  '',
  ' ',
  'x',
  '\u0000',
  '\u202e',
  '\ud800',
  '__proto__',
  'constructor',
  [],
  {},
  [[]],
  [null],
  [{}],
  { name: 'x' },
  { '': '' },
  'CREATE',
  'DELETE',
  'UPDATE',
  'x'.repeat(300),
  'RAW:1e999',
  'RAW:-0',
  'RAW:9007199254740993',
  'RAW:{"__proto__":{"polluted":true}}',
  'RAW:{"a":1,"a":2}',
  'RAW:"\\ud800"',
  `RAW:${'['.repeat(2000)}${']'.repeat(2000)}`,
];
const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'length',
  '',
  'polluted',
  'grove.io/podgang',
  'a/b~c',
  'toJSON',
];

type Node = Record<string, unknown> | unknown[];
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const define = (node: Node, key: string, value: unknown): void =>
  void (Array.isArray(node) && !/^[0-9]+$/.test(key)
    ? node.push(value)
    : Object.defineProperty(node, key, { value, enumerable: true, configurable: true, writable: true }));

/** One change of the grammar somewhere in the tree: a value replaced, a member dropped, added, renamed or doubled. */
function mutateTree(root: Node, random: Random): void {
  let node = root;
  for (;;) {
    const keys = Object.keys(node);
    const key = keys[random(keys.length)];
    const child: unknown = key === undefined ? undefined : (node as Record<string, unknown>)[key];
    if (key !== undefined && isNode(child) && random(4) > 0) {
      node = child;
      continue;
    }
    const value = structuredClone(VALUES[random(VALUES.length)]);
    const name = KEYS[random(KEYS.length)] ?? '';
    const kind = random(5);
    if (key === undefined || kind === 0)
      define(node, Array.isArray(node) ? String(node.length) : name, value);
    else if (kind <= 2) define(node, key, value);
    else if (kind === 3) Reflect.deleteProperty(node, key);
    else define(node, name, child === root ? value : structuredClone(child));
    return;
  }
}

const textOf = (tree: unknown): string =>
  JSON.stringify(tree).replace(
    /"RAW:((?:[^"\\]|\\.)*)"/g,
    (_, raw: string) => JSON.parse(`"${raw}"`) as string,
  );

/** The bytes of one bad body: three times of four the grammar is broken, else the bytes. */
function bodyFrom(seed: JsonObject, random: Random): Buffer {
  const tree = structuredClone(seed) as Node;
  if (random(4) > 0) {
    for (let change = random(3); change >= 0; change -= 1) mutateTree(tree, random);
    return Buffer.from(textOf(tree));
  }
  const bytes = Buffer.from(JSON.stringify(tree));
  for (let flip = random(3); flip >= 0; flip -= 1) bytes[random(bytes.length)]! ^= 1 << random(8);
  return random(20) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
}

/** What must hold of a body before `allowed: true` may be its answer: written apart from the parser under test. */
function isReview(bytes: Buffer, path: string): boolean {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return false;
  }
  const get = (value: unknown, ...keys: string[]): unknown =>
    keys.reduce<unknown>(
      (at, key) => (isNode(at) ? Object.getOwnPropertyDescriptor(at, key)?.value : undefined),
      value,
    );
  const isMap = (value: unknown): boolean => isNode(value) && !Array.isArray(value);
  const uid = get(body, 'request', 'uid');
  const operation = get(body, 'request', 'operation');
  const kind = path.includes('podgang') ? 'PodGang' : 'Pod';
  const object = get(body, 'request', 'object');
  return (
    get(body, 'apiVersion') === 'admission.k8s.io/v1' &&
    get(body, 'kind') === 'AdmissionReview' &&
    typeof uid === 'string' &&
    uid.length > 0 &&
    uid.length <= 128 &&
    ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'].includes(operation as string) &&
    (get(body, 'request', 'kind', 'kind') === kind ||
      typeof get(body, 'request', 'subResource') === 'string') &&
    (operation === 'DELETE' || operation === 'CONNECT' || isMap(object)) &&
    (operation !== 'UPDATE' || isMap(get(body, 'request', 'oldObject'))) &&
    (!isMap(object) ||
      [undefined, null].includes(get(object, 'metadata') as null) ||
      isMap(get(object, 'metadata')))
  );
}

test(`${BODIES} bad bodies: no crash, no hang, nothing allowed that is no review`, async () => {
  const random = randomFrom(SEED);
  const started = performance.now();
  const tally = new Map<string, number>();
  let sent = 0;
  let judged = 0;
  const slow: (readonly [string, Buffer])[] = [];

  const judge = (answer: WireAnswer, body: Buffer, path: string): void => {
    const about = (): string => `seed ${SEED}, ${path}: ${body.toString('latin1').slice(0, 2000)}`;
    if (![200, 400].includes(answer.status))
      throw new Error(`${answer.status} ${answer.body} for ${about()}`);
    const { response, kind } = JSON.parse(answer.body) as { kind: string; response?: { allowed: boolean } };
    if (kind !== (answer.status === 200 ? 'AdmissionReview' : 'Status'))
      throw new Error(`${kind} for ${about()}`);
    if (response?.allowed === true && !isReview(body, path)) throw new Error(`allowed: ${about()}`);
    const outcome = answer.status === 200 ? `allowed ${response?.allowed}` : '400';
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
  };

  const client = async (): Promise<void> => {
    let wire = await Wire.open(running.port);
    while (sent < BODIES && performance.now() - started < BUDGET_MS) {
      sent += 1;
      const [path, seed] = SEEDS[random(SEEDS.length)] ?? SEEDS[0]!;
      const body = bodyFrom(seed, random);
      const begun = performance.now();
      const answer = await wire.send(httpRequest(path, body)).answer();
      if (performance.now() - begun > 1000) slow.push([path, body]);
      judge(answer, body, path);
      judged += 1;
      if (answer.headers['connection'] === 'close') {
        await wire.closed();
        wire.destroy();
        wire = await Wire.open(running.port);
      }
    }
    wire.destroy();
  };
  const clients = Array.from({ length: CLIENTS }, client);
  await Promise.all(clients).finally(() => (sent = BODIES));

  if (judged < BODIES)
    console.warn(`only ${judged} of ${BODIES} bodies within ${BUDGET_MS} ms on this machine`);
  expect(judged).toBeGreaterThan(BODIES / 10);
  // A busy machine makes anything slow once; what hangs the server does so each time.
  for (const [path, body] of slow) {
    const times: number[] = [];
    while (times.length < 3 && !times.some((ms) => ms < 1000)) {
      const begun = performance.now();
      await running.post(path, body);
      times.push(performance.now() - begun);
    }
    expect(Math.min(...times)).toBeLessThan(1000);
  }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  // All three outcomes, or the bodies were not what they are meant to be.
  for (const outcome of ['allowed true', 'allowed false', '400'])
    expect(tally.get(outcome)).toBeGreaterThan(judged / 200);
  expect(await running.metric('muster_http_failures_total{code="500"}')).toBe(0);
  await running.alive();
});

import type { Random } from '../support/random.ts';

/** Values that programs trip over, as JSON text: some of them no JavaScript value prints. */
const VALUES: readonly [string, ...string[]] = [
  'null',
  'true',
  'false',
  '0',
  '-1',
  '-0',
  '1.5',
  '1e308',
  '1e999',
  '-1e999',
  '9007199254740993',
  '2147483648',
  '123456789012345678901234567890',
  '"1"',
  '"-1"',
  '"true"',
  '"null"',
  '""',
  '" "',
  '"x"',
  '"\\u0000"',
  '"\\u001b[31m"',
  '"\\u202e"',
  '"\\u2028"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\u{1f600}"',
  '"__proto__"',
  '"constructor"',
  '"a/b~c"',
  '"../../etc"',
  '"CREATE"',
  '"UPDATE"',
  '"DELETE"',
  '"CONNECT"',
  '"status"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '[{}]',
  '[1,"a",null]',
  '{"name":"x"}',
  '{"":""}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"a":1,"a":2}',
  `"${'x'.repeat(300)}"`,
  `"${'ü'.repeat(5000)}"`,
  `${'['.repeat(200)}${']'.repeat(200)}`,
  `${'['.repeat(4000)}${']'.repeat(4000)}`,
  `${'{"a":'.repeat(1500)}1${'}'.repeat(1500)}`,
];
const KEYS: readonly [string, ...string[]] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  '',
  'polluted',
  'toJSON',
  'a/b~c',
  '~1',
  '0',
  '-',
  'managedFields',
  'ключ',
  '\u0000',
  '\ud800',
  '\u001b[2J',
  'grove.io/podgang',
  'grove.io/podclique',
  'grove.io/scheduler-name',
  'kubernetes.io/config.mirror',
  'deletionTimestamp',
];
const VERBATIM = '\u0001verbatim:';

type Node = Record<string, unknown> | unknown[];
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

const define = (node: Node, key: string, value: unknown): void =>
  void (Array.isArray(node) && !/^[0-9]+$/.test(key)
    ? node.push(value)
    : Object.defineProperty(node, key, { value, enumerable: true, configurable: true, writable: true }));

/** One change somewhere in the tree: a value replaced, a member dropped, added, renamed or doubled, numbers as text. */
function spoilOnce(root: Node, random: Random): void {
  let node = root;
  for (;;) {
    const keys = Object.keys(node);
    const key = keys[random.below(Math.max(keys.length, 1))];
    const child: unknown = key === undefined ? undefined : (node as Record<string, unknown>)[key];
    if (key !== undefined && isNode(child) && random.below(5) > 0) {
      node = child;
      continue;
    }
    const value = `${VERBATIM}${random.pick(VALUES)}`;
    const name = random.pick(KEYS);
    const kind = random.below(7);
    if (key === undefined || kind === 0)
      define(node, Array.isArray(node) ? String(node.length) : name, value);
    else if (kind <= 2) define(node, key, value);
    else if (kind === 3) Reflect.deleteProperty(node, key);
    else if (kind === 4)
      define(node, key, typeof child === 'string' ? asOther(child) : JSON.stringify(child));
    else if (kind === 5 && typeof child === 'string') define(node, key, twisted(child, random));
    else
      define(
        node,
        name,
        isNode(child) && child !== root ? (JSON.parse(JSON.stringify(child)) as unknown) : value,
      );
    return;
  }
}

/** Text that reads as a number becomes one, any other a list. */
const asOther = (text: string): unknown => (/^-?[0-9]+$/.test(text) ? Number(text) : [text]);

const twisted = (text: string, random: Random): string => {
  const at = random.below(text.length + 1);
  const piece = random.pick([
    'A',
    '.',
    '-',
    '/',
    '\u0000',
    '\ud800',
    '\u202e',
    ' ',
    '',
    '😀',
    '~',
    '"',
    '\n',
  ]);
  return text.slice(0, at) + piece + text.slice(at + random.below(3));
};

/**
 * JSON text with up to three changes somewhere in it.
 * @param inside a way to where most of them are to be: what is wrong at the top is refused before the rest is looked at
 */
export function spoiltText(text: string, random: Random, inside: readonly string[] = []): string {
  const root = JSON.parse(text) as unknown;
  if (!isNode(root)) return random.pick(VALUES);
  for (let change = random.below(3); change >= 0; change -= 1) {
    let node = root;
    for (const key of inside) {
      const child = (node as Record<string, unknown>)[key];
      if (!isNode(child) || random.chance(7)) break;
      node = child;
    }
    spoilOnce(node, random);
  }
  return textOf(root);
}

const textOf = (tree: unknown): string =>
  (JSON.stringify(tree) ?? 'null').replace(
    new RegExp(
      `"${JSON.stringify(VERBATIM).slice(1, -1).replaceAll('\\', '\\\\')}((?:[^"\\\\]|\\\\.)*)"`,
      'g',
    ),
    (_, text: string) => JSON.parse(`"${text}"`) as string,
  );

/** The bytes of `text` with a few bits turned, bytes taken out, doubled or put in; now and then cut off. */
export function spoiltBytes(text: string | Buffer, random: Random): Buffer {
  let bytes = Buffer.from(text);
  for (let change = random.below(4); change >= 0 && bytes.length > 0; change -= 1) {
    const at = random.below(bytes.length);
    const kind = random.below(6);
    const length = 1 + random.below(8);
    if (kind <= 2) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    else if (kind === 4) bytes = Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
    else {
      const piece = Buffer.from(Array.from({ length }, () => random.below(256)));
      bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
    }
  }
  return random.chance(10)
    ? Buffer.from(bytes.subarray(0, random.below(bytes.length + 1)))
    : Buffer.from(bytes);
}

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isObject, own } from '../../../src/json/json.ts';
import { KnownSpecs, parsedAround } from '../../../src/json/known-specs.ts';
import { MAX_SPEC_LENGTH, MOST_SPECS } from '../../../src/json/spec-texts.ts';
import { ENVIRONMENT_AND_VOLUMES, MANAGED_FIELDS, withoutLists } from '../../../src/json/unread-lists.ts';
import { searchLength } from '../../support/length.ts';

const review = (spec: unknown, metadata: unknown = { name: 'a' }): string =>
  JSON.stringify({ request: { uid: 'u', object: { metadata, spec, status: {} }, oldObject: null } });

const specWith = (hostname: unknown, token = 'x7k2p'): object => ({
  containers: [
    {
      name: 'main',
      env: [{ name: 'A', value: '"},{' }],
      volumeMounts: [{ name: `kube-api-access-${token}`, mountPath: '/var/run' }],
    },
  ],
  hostname,
  volumes: [{ name: `kube-api-access-${token}`, projected: {} }],
});

/** What is read of a body by what is known; undefined where it has to be parsed as a whole. */
function around(specs: KnownSpecs, text: string): unknown {
  const bytes = Buffer.from(text);
  const found = specs.find(bytes);
  return found && parsedAround(bytes, found, 'utf8');
}

const cut = (text: string): unknown =>
  JSON.parse(withoutLists(Buffer.from(text), [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES]));

function knowing(...texts: string[]): KnownSpecs {
  const specs = new KnownSpecs([MANAGED_FIELDS]);
  for (const text of texts) specs.learn(Buffer.from(text));
  return specs;
}

test('a Pod of the same template is read without its spec, with its own name, labels and host name', () => {
  const specs = knowing(review(specWith('worker-0')));
  const next = review(specWith('worker-17', 'bbbbb'), { name: 'b', labels: { 'batch/index': '17' } });
  const read = around(specs, next);
  expect(read).toEqual(cut(next));
  expect(JSON.stringify(read)).toContain('worker-17');
});

test.each([
  ['another value', review({ ...specWith('worker-0'), hostNetwork: true })],
  ['a longer name than a token', review(specWith('worker-0', 'x-flux-entrypoint'))],
  ['no host name', review(specWith(''))],
  ['a second spec', review(specWith('worker-1')).replace('"status":{}', '"spec":{"hostNetwork":true}')],
  ['a second object', review(specWith('worker-1')).replace('"oldObject":null', '"object":{"spec":{}}')],
  ['a spec elsewhere', review({ hostNetwork: true }, { spec: specWith('worker-1') })],
  ['no JSON', review(specWith('worker-1')).replace('"uid":"u"', '"uid":"u",')],
  ['an end within the spec', review(specWith('worker-1')).slice(0, 120)],
])('%s is no known Pod', (_, text) => {
  expect(around(knowing(review(specWith('worker-0'))), text)).toBeUndefined();
});

test.each([
  ['its host name is at another place', { dns: { hostname: 'a' } }, { dns: { hostname: 'b' } }],
  [
    'there are two host names',
    { dns: { hostname: 'a' }, hostname: 'a' },
    { dns: { hostname: 'b' }, hostname: 'a' },
  ],
  [
    'a container has such a name',
    { containers: [{ name: 'kube-api-access-a' }] },
    { containers: [{ name: 'kube-api-access-b' }] },
  ],
])('nothing is left open where %s', (_, first, second) => {
  expect(around(knowing(review(first)), review(second))).toBeUndefined();
});

/** Documents that are nearly the same, and such that are none. */
const pieces = fc.array(
  fc.constantFrom(
    ...['"spec":', '"spec" :', '"hostname":', '"name":"kube-api-access-a1"', '"name":"x"', '"a-0"', '"b-1"'],
    ...['{', '}', '[', ']', ',', ':', '\\', '"', ' ', '{"spec":{"hostname":"a-0"}}'],
    ...['"request":', '"object":', '"sp\\u0065c":', '{"hostname":"b-1"}', 'ü', '1'],
  ),
  { maxLength: 14 },
);
const MANAGED = '"managedFields":[{"f:spec":{"f:x":{}}}],';
const LISTS = '"env":[{"name":"kube-api-access-a1"}],"volumes":[{"name":"x"}],';
const document = fc.oneof(
  pieces.map((parts) => parts.join('')),
  fc
    .tuple(pieces, fc.constantFrom('', MANAGED), fc.constantFrom('', LISTS), pieces)
    .map(([a, managed, lists, b]) => {
      const spec = `"spec":{${lists}"hostname":"a-0"}`;
      return `{"request":{"object":{${managed}${a.join('')}${spec}${b.join('')}}}}`;
    }),
  fc.json({ maxDepth: 3 }).map((text) => `{"request":{"object":{"spec":{"x":${text},"hostname":"a-0"}}}}`),
);

test('what is read around a known spec is what is read without large lists, and no JSON is read at all', () => {
  fc.assert(
    fc.property(fc.array(document, { minLength: 2, maxLength: 8 }), (texts) => {
      const specs = knowing(...texts);
      for (const text of texts.flatMap((one) => [one, one.replaceAll('a-0', 'c-22')])) {
        const read = around(specs, text);
        if (read !== undefined) expect(read).toEqual(cut(text));
      }
    }),
    { numRuns: searchLength({ short: 500, long: 20_000 }) },
  );
});

test('few specs are kept, of a bounded length, and the oldest goes first', () => {
  const specs = new KnownSpecs([MANAGED_FIELDS]);
  const text = (index: number): string => review({ priority: index });
  for (let index = 0; index <= MOST_SPECS; index += 1) specs.learn(Buffer.from(text(index)));
  expect(around(specs, text(0))).toBeUndefined();
  for (let index = 1; index <= MOST_SPECS; index += 1)
    expect(around(specs, text(index))).toEqual(cut(text(index)));
  expect(specs.learn(Buffer.from(review({ long: 'x'.repeat(MAX_SPEC_LENGTH) })))).toBeUndefined();
});

test('a spec that is of no use is not looked for, and where none comes again hardly any is learnt', () => {
  const specs = new KnownSpecs([MANAGED_FIELDS]);
  const text = review({ priority: 1 });
  const known = specs.learn(Buffer.from(text));
  if (known === undefined) throw new Error('it is not learnt');
  for (let found = 0; found < 100; found += 1) if (specs.find(Buffer.from(text))) specs.used(known, false);
  expect(specs.find(Buffer.from(text))).toBeUndefined();
  const learnt = Array.from({ length: 1000 }, (_, index) => specs.learn(Buffer.from(review({ index }))));
  expect(learnt.filter((one) => one !== undefined).length).toBeLessThan(50);
});

test('what is shared by Pods cannot be changed by what reads one of them', () => {
  const text = review(specWith('worker-0'));
  const read = around(knowing(text), text);
  const spec = own(own(own(read, 'request'), 'object'), 'spec');
  if (!isObject(spec)) throw new Error('there is no spec');
  expect(() => Object.assign(own(spec, 'containers') as object, { 0: {} })).toThrow(TypeError);
});

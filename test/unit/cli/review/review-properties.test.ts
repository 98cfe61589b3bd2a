import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import jsonpatch from 'fast-json-patch';
import { parseAllDocuments } from 'yaml';
import { printerFor } from '../../../../src/cli/review/review-formats.ts';
import type { ReviewResult } from '../../../../src/cli/review/render-review.ts';
import { paletteFor } from '../../../../src/cli/output/palette.ts';
import { fakeIo } from '../fake-io.ts';
import { readObjects } from '../../../../src/cli/input/documents.ts';
import { policyFrom } from '../../../../src/cli/input/policy.ts';
import { reviewObject } from '../../../../src/cli/review/review-object.ts';
import { toYaml } from '../../../../src/cli/output/structured.ts';
import { loadConfiguration } from '../../../../src/config/load.ts';
import { supportedSchedulers } from '../../../../src/backends/registry.ts';

const { configuration } = loadConfiguration({
  env: {},
  flags: {},
  supportedSchedulers: supportedSchedulers().names,
});
const context = {
  policy: policyFrom(configuration, { defaultBackend: 'kai-scheduler' }),
  namespace: 'default',
  username: 'someone',
};

const objectsOf = (text: string) => [
  ...readObjects({ name: 'in.yaml', text }, ({ message }) => {
    throw new Error(message);
  }),
];

function printed(format: 'yaml' | 'patch', results: readonly ReviewResult[]): string {
  const { io, written } = fakeIo();
  const printer = printerFor(format, io, paletteFor('never', io));
  for (const result of results) printer.result(result);
  printer.end([]);
  return written.out;
}

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    'yes',
    '0644',
    'null',
    '~',
    '1e3',
    '<<',
    '12:30',
    '2001-01-01',
    '- a',
    '# b',
    'a: b',
    '\u202e',
    '__proto__',
  ),
);
const texts = fc.dictionary(text, text, { maxKeys: 5 });
const labels = fc
  .tuple(texts, fc.boolean())
  .map(([others, gang]) =>
    gang ? { ...others, 'grove.io/podgang': 'g', 'grove.io/podclique': 'c' } : others,
  );
const pod = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Pod'),
  metadata: fc.record({ name: text, labels, annotations: fc.option(texts) }, { requiredKeys: ['labels'] }),
  spec: fc.record(
    {
      schedulerName: fc.constantFrom('', 'default-scheduler', 'kai-scheduler'),
      schedulingGates: fc.option(fc.array(fc.record({ name: text }), { maxLength: 3 })),
      nodeSelector: texts,
      priority: fc.integer(),
      args: fc.array(text),
    },
    { requiredKeys: [] },
  ),
});

describe('whatever the Pods', () => {
  test('the patch of each, on the Pod as given, is the YAML of it', () => {
    fc.assert(
      fc.property(fc.array(pod, { minLength: 1, maxLength: 4 }), (pods) => {
        const input = pods.map((object) => toYaml(object)).join('---\n');
        const sources = objectsOf(input);
        // What was written is what was read: the writer quotes whatever the reader would take for something else.
        expect(sources.map(({ object }) => JSON.stringify(object))).toEqual(
          pods.map((object) => JSON.stringify(object)),
        );
        const results = sources.flatMap((source) => reviewObject(source, context));
        expect(results.every(({ allowed }) => allowed)).toBe(true);

        const patches = printed('patch', results).trimEnd().split('\n');
        const documents = parseAllDocuments(printed('yaml', results), { version: '1.1' });
        expect(patches).toHaveLength(pods.length);
        expect(documents).toHaveLength(pods.length);
        pods.forEach((object, index) => {
          const operations = JSON.parse(patches[index] ?? '') as jsonpatch.Operation[];
          const given = JSON.parse(JSON.stringify(object)) as object;
          const patched = jsonpatch.applyPatch(given, operations, true).newDocument;
          expect(JSON.stringify(documents[index]?.toJS())).toBe(JSON.stringify(patched));
        });
      }),
      { numRuns: 100 },
    );
  }, 120_000);

  test('what is stored needs no further patch', () => {
    fc.assert(
      fc.property(pod, (object) => {
        const review = (input: string) => objectsOf(input).flatMap((source) => reviewObject(source, context));
        const first = review(toYaml(object));
        const second = review(printed('yaml', first));
        expect(second[0]?.changes).toEqual([]);
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});

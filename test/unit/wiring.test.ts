import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { heardByNone } from '../wiring/check.ts';
import { ELSEWHERE, everythingSaid } from '../wiring/said.ts';

const ROOT = join(import.meta.dirname, '../..');
/** As the supports of the tests write down what they hear. */
const HEARD = [
  ['log', 'info serving'],
  ['log', 'info the loop runs here: it took the Lease'],
  ['metric', 'muster_loop_reconciles_total{result="ok"}'],
  ['event', 'GatesRemoved'],
];

describe('what a whole run of the tests is held against', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'muster-heard-'));
    await writeFile(join(directory, '1.jsonl'), HEARD.map((line) => `${JSON.stringify(line)}\n`).join(''));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test('what was heard is not missed, everything else is, each with its place in the source', () => {
    const missed = heardByNone(directory);
    const silent = everythingSaid().length - Object.keys(ELSEWHERE).length;
    // The metric was heard by its name and by its label.
    expect(missed).toHaveLength(silent - HEARD.length - 1);
    for (const [kind, what] of [
      ['log', 'info serving'],
      ['log', 'info the loop … here: …'],
      ['metric', 'muster_loop_reconciles_total'],
      ['metric', 'muster_loop_reconciles_total{result="ok"}'],
      ['event', 'GatesRemoved'],
    ])
      expect(missed.filter((line) => line.startsWith(`${kind} ${what} (`))).toEqual([]);
    for (const [what, file] of [
      ['log info drained', 'src/server/program.ts'],
      ['metric muster_loop_reconciles_total{result="error"}', 'src/telemetry/metric-catalogue.ts'],
      ['event ReferencesUpdated', 'src/gang/plan/plan-events.ts'],
    ])
      expect(missed.filter((line) => line.startsWith(`${what} (${file}`))).toHaveLength(1);
  });

  test('what is left out is something that is said, and the test that has it is there', () => {
    const all = everythingSaid().map(({ kind, what }) => `${kind} ${what}`);
    expect(Object.keys(ELSEWHERE).filter((what) => !all.includes(what))).toEqual([]);
    const files = Object.values(ELSEWHERE).flatMap((why) => why.match(/test\/\S+\.ts/g) ?? []);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

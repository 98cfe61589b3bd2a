/**
 * Tries the program with inputs that nobody would write: `npm run fuzz -- --count 30000 --seed 7`. A line a target:
 * how many, by which seed, what was found. What shows something is written to a file, and tried again by
 * `npm run fuzz -- --target NAME --replay FILE`.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fuzz, replay, whatOf, type Outcome } from './fuzz.ts';
import { targets } from './targets.ts';

const ROOT = join(import.meta.dirname, '../..');
const DEFAULT_COUNT = 1_000_000;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: String(DEFAULT_COUNT) },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    target: { type: 'string', multiple: true },
    replay: { type: 'string' },
    counts: { type: 'boolean', default: false },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const whole = (text: string, flag: string): number => {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${flag}: a whole number is needed`);
  return number;
};

const names = targets.map(({ name }) => name);
const unknown = values.target?.find((name) => !names.includes(name));
if (unknown !== undefined)
  throw new Error(`--target: there is no ${unknown} (there are: ${names.join(', ')})`);
const chosen = targets.filter(({ name }) => values.target?.includes(name) ?? true);

if (values.replay === undefined) process.exitCode = await tryAll();
else process.exitCode = await tryAgain(values.replay);

async function tryAll(): Promise<number> {
  const [count, seed] = [whole(values.count, 'count'), whole(values.seed, 'seed')];
  const shares = chosen.reduce((sum, { share }) => sum + share, 0);
  let found = 0;
  for (const target of chosen) {
    const folder = join(ROOT, '.cache/fuzz');
    const outcome = await fuzz(target, { count: Math.ceil((count * target.share) / shares), seed, folder });
    tell(outcome, seed);
    found += outcome.findings.length;
  }
  return found === 0 ? 0 : 1;
}

function tell({ target, tried, ms, met, findings }: Outcome, seed: number): void {
  const what = findings.length === 0 ? 'nothing found' : `${findings.length} found`;
  say(
    `fuzz ${target}: ${tried} inputs, seed ${seed}, ${(ms / 1000).toFixed(1)} s, ${met.size} outcomes: ${what}`,
  );
  if (values.counts)
    for (const [word, times] of [...met].sort(([, a], [, b]) => b - a)) say(`  ${times}\t${word}`);
  for (const { index, what: text, file } of findings) {
    say(`  input ${index}: ${text}`);
    say(`  again: npm run fuzz -- --seed ${seed} --target ${target} --replay ${file}`);
  }
}

async function tryAgain(file: string): Promise<number> {
  const [target, ...more] = chosen;
  if (target === undefined || more.length > 0) throw new Error('--replay: name one --target');
  try {
    say(`fuzz ${target.name}: ${(await replay(target, await readFile(file))).join(', ')}`);
    return 0;
  } catch (thrown) {
    say(`fuzz ${target.name}: ${whatOf(thrown)}`);
    return 1;
  }
}

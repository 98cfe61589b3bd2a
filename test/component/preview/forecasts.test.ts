/** The process of the forecasts, and what becomes of reviews when it is slow, ends or has too much to do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { Forecasts } from '../../../src/preview/forecasts.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { observeLines } from '../../support/observed.ts';
import { until } from '../../unit/tls/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'forecasts-'));
afterAll(() => rmSync(folder, { recursive: true }));
let forecasts: Forecasts | undefined;
afterEach(() => forecasts?.stop());

let programs = 0;
/** @param hear what the process does with a question */
function start(hear: string, restMs = 20): { lines: string[]; all: Forecasts } {
  programs += 1;
  const file = join(folder, `${programs}.mjs`);
  writeFileSync(
    file,
    `import { closeSync } from 'node:fs';
     const say = (said) => process.send(said);
     process.on('disconnect', () => process.exit());
     const answer = ({ id, user }) => say({ what: 'forecast', id, warnings: ['for ' + user] });
     process.on('message', (asked) => { ${hear} });`,
  );
  const lines: string[] = [];
  const sink = {
    write: (line: string): void => {
      observeLines([line]);
      lines.push(line);
    },
  };
  const log = createLogger({ level: 'info', format: 'json', sink });
  forecasts = new Forecasts({
    setting: { names: 'Own', exemptNamespaces: [] },
    log,
    program: pathToFileURL(file),
    restMs,
  });
  return { lines, all: forecasts };
}

const question = (user: string) => ({ user, namespace: 'ns', object: {} });

test('an answer, and how it stands', async () => {
  const { lines, all } = start(
    `say({ what: 'state', ready: false, reason: 'no right' }); say({ what: 'state', ready: true, reason: '' }); answer(asked);`,
  );
  expect(await all.ask(question('alice'), 10_000)).toEqual(['for alice']);
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'no forecasts of preemption',
    'forecasts of preemption can be given',
  ]);
});

test('late: one warning that says so, and a quarter of a second is left for the review', async () => {
  const { all } = start('');
  expect(await all.ask(question('alice'), 350)).toEqual([
    'forecast: none within 0.1 s, the time of this request',
  ]);
});

test('too many at a time, of one person and of all together', async () => {
  const { all } = start('');
  const asked = [all.ask(question('alice'), 5_000), all.ask(question('alice'), 5_000)];
  const TOO_MANY = ['forecast: none: too many are asked for at a time'];
  expect(await all.ask(question('alice'), 5_000)).toEqual(TOO_MANY);
  for (let index = 0; index < 14; index += 1) asked.push(all.ask(question(`user ${index}`), 5_000));
  expect(await all.ask(question('last'), 5_000)).toEqual(TOO_MANY);
  all.stop();
  const told = ['forecast: none: it ended with SIGKILL'];
  expect(await Promise.all(asked)).toEqual(asked.map(() => told));
});

test('a process that ends is begun anew, and whoever waits is told', async () => {
  const { all, lines } = start(`if (asked.user === 'bad') process.exit(3); else answer(asked);`);
  expect(await all.ask(question('bad'), 10_000)).toEqual(['forecast: none: it ended with exit code 3']);
  expect(await all.ask(question('alice'), 10_000)).toEqual([
    'forecast: none: it is begun anew in some seconds',
  ]);
  expect(lines[0]).toContain('"msg":"the process of the forecasts has ended"');
  await until('it answers again', async () => {
    const [told] = await all.ask(question('alice'), 10_000);
    return told === 'for alice';
  });
});

test('a heap that is full ends that process, and no other', async () => {
  // What V8 writes of it would be taken for the end of the test's own process.
  const { all } = start(
    `closeSync(2); const all = []; for (;;) all.push(new Array(100_000).fill(asked.id));`,
    60_000,
  );
  expect(await all.ask(question('alice'), 60_000)).toEqual(['forecast: none: it ended with SIGABRT']);
}, 90_000);

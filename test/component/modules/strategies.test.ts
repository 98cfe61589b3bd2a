/** Strategies of modules, each in a process of its own. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { assign } from '../../../src/fleet/assign/assign.ts';
import { withPluginAnswers } from '../../../src/fleet/assign/plugin-answers.ts';
import { HostedPlugins, ModulePlugin } from '../../../src/modules/hosted-plugins.ts';
import { MODULE_LIMITS, type ModuleLimits } from '../../../src/modules/process-limits.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { until } from '../../cluster/control-plane/until.ts';
import { bindingOf, memberOf, rooms, shown } from '../../unit/fleet/assign/small-fleet.ts';
import { entryIn, PATIENT, type EntryParts } from './hosting.ts';

/** All into the first cluster; `parts` come last, and `before` is run when it is loaded. */
const text = (parts = '', before = ''): string => `
${before}
export default {
  name: 'mine',
  strategies: () => ['first'],
  assignReplica: (strategy, clusters, spec) => [{ name: clusters[0].name, replicas: spec.replicas }],
  ${parts}
};`;

let folder: string;
let plugins: HostedPlugins | undefined;
let ended: string[];
let wrote: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-strategies-'));
  [plugins, ended, wrote] = [undefined, [], []];
});
afterEach(async () => {
  await plugins?.stop();
  await rm(folder, { recursive: true });
});

const write = (module: string, name = 'mine.mjs'): Promise<void> => writeFile(join(folder, name), module);
const entry = (parts?: EntryParts) => entryIn(folder, 'fleet.assigner.plugins[0].module', parts);
async function begin(entries = [entry()], limits: Partial<ModuleLimits> = PATIENT): Promise<HostedPlugins> {
  plugins = await HostedPlugins.begin(
    entries,
    { ended: (_, reason) => ended.push(reason), wrote: (_, line) => wrote.push(line) },
    { ...MODULE_LIMITS, ...limits },
  );
  return plugins;
}
const placed = async (strategy = 'first', on = plugins as HostedPlugins): Promise<string> => {
  const binding = { ...bindingOf({ replicas: 4, placement: {} }), strategy };
  return shown(
    await withPluginAnswers(on, (strategies) => assign(binding, rooms(6, 4).map(memberOf), strategies)),
  );
};

test('one for an older version of the contract works, and is told of; one that says none is for the first', async () => {
  const noticed: string[] = [];
  const range = { oldest: 1, current: 2 };
  for (const said of ['contractVersion: 1', '']) {
    await write(text(said));
    const one = new ModulePlugin(
      entry(),
      {
        ended: () => undefined,
        wrote: () => undefined,
        noticed: (_name, notice) => void noticed.push(notice),
      },
      MODULE_LIMITS,
      range,
    );
    await one.restartable.ready();
    expect(one.strategies()).toEqual(['first']);
    await one.restartable.stop();
  }
  const notice =
    'plugin mine is written for version 1 of the contract; this is version 2, and a later Muster will refuse it: use a newer release of the plugin';
  expect(noticed).toEqual([notice, notice]);
});

describe('at start', () => {
  test('its strategies stand beside those of Muster, and it has its config', async () => {
    await write(
      text(
        'configure: (config) => { to = config.to; }, strategies: () => ["there", "first"], assignReplica: (strategy) => [{ name: strategy === "there" ? to : "m1", replicas: 4 }]',
        'let to; console.log("loaded");',
      ),
    );
    const { names, missing } = await begin([entry({ config: { to: 'm2' } })]);
    expect([names, missing]).toEqual([['default', 'first', 'gang-divided', 'gang-no-divided', 'there'], []]);
    expect([await placed('there'), await placed()]).toEqual(['m2:4', 'm1:4']);
    // Its output is another stream than its answers, and is whole once it has been stopped.
    await plugins?.stop();
    expect(wrote).toEqual(['loaded']);
  });

  test.each([
    ['one of another plugin', '["first"]', '"first" by mine and yours'],
    ['one of Muster’s own', '["default"]', '"default" by default and yours'],
  ])('a strategy that is claimed twice is an error with the list: %s', async (_, names, list) => {
    await write(text());
    await write(text(`name: 'yours', strategies: () => ${names}`), 'yours.mjs');
    await expect(begin([entry(), entry({ name: 'yours', module: './yours.mjs' })])).rejects.toMatchObject({
      code: 'STRATEGY_INVALID',
      message: `strategies are claimed twice: ${list}`,
    });
  });

  test('a file that is not there, or another than was meant, is told at once', async () => {
    await expect(begin()).rejects.toMatchObject({ code: 'BACKEND_MODULE_MISSING' });
    await write(text());
    const integrity = `sha256-${createHash('sha256').update('another').digest('base64')}`;
    await expect(begin([entry({ integrity })])).rejects.toMatchObject({ code: 'BACKEND_MODULE_INTEGRITY' });
    expect(
      (await begin([entry({ integrity: `sha256-${createHash('sha256').update(text()).digest('base64')}` })]))
        .names,
    ).toContain('first');
  });

  test.each([
    ['throws', 'throw new Error("no licence");', 'does not load: no licence'],
    [
      'exports no strategies',
      'export const one = 1;',
      'has no strategies as its default export or as "plugin" (its exports: one)',
    ],
    [
      'is another plugin',
      text('name: "yours"'),
      'exports the plugin "yours", and its entry is called "mine"',
    ],
    [
      'is written for a later contract',
      text('contractVersion: 2'),
      'plugin mine is written for version 2 of the contract, this is version 1',
    ],
    [
      'is written for no contract that there can be',
      text('contractVersion: "1"'),
      'contractVersion must be a number',
    ],
    ['has no strategies', text('strategies: () => []'), 'strategies() must return a list of 1 to 64 names'],
    [
      'has a wrong name',
      text('strategies: () => ["by price"]'),
      'strategies() names "by price": a name has at most 63',
    ],
    ['takes no config', text(), 'plugin mine has no configure(): leave out config', { to: 'm1' }],
    [
      'refuses its config',
      text('configure: () => { throw new Error("config.to must be given"); }'),
      'config.to must be given',
    ],
  ])(
    'one that %s keeps nobody from starting; who names its strategies is told',
    async (_, module, why, config: JsonObject = {}) => {
      await write(module);
      const { names, missing } = await begin([entry({ config })]);
      expect(names).toEqual(['default', 'gang-divided', 'gang-no-divided']);
      expect(missing).toEqual([expect.stringContaining(why)]);
      expect(await placed()).toContain(
        'unknown strategy "first": there are default, gang-divided, gang-no-divided; plugin mine does not run: ',
      );
      expect(await placed('gang-divided')).toBe('m1:4');
    },
  );
});

describe('while it runs', () => {
  const FAILS = 'strategy "first" of plugin mine gives no answer: ';

  test.each<[string, string, string, Partial<ModuleLimits>?]>([
    ['throws', 'throw new Error("no prices");', 'no prices'],
    [
      'never answers',
      'return new Promise(() => undefined);',
      'it did not answer within 0.3 s',
      { answerMs: 300 },
    ],
    ['loops for ever', 'for (;;);', 'it did not answer within 0.3 s', { answerMs: 300 }],
    ['ends its process', 'process.exit(3);', 'it ended itself, with exit code 3'],
    [
      'opens a file of others',
      'return fs.readFileSync("/etc/hostname");',
      'Access to this API has been restricted',
    ],
  ])(
    'one that %s: its binding is told why, and nobody else is any the worse',
    async (_, body, why, limits = { answerMs: 30_000 }) => {
      await write(text(`assignReplica: () => { ${body} }`, 'import fs from "node:fs";'));
      await begin([entry()], limits);
      expect(await placed()).toContain(`${FAILS}${why}`);
      expect(await placed('gang-divided')).toBe('m1:4');
    },
  );

  test('its answer is held to the rules', async () => {
    await write(text('assignReplica: (_, [{ name, available }]) => [{ name, replicas: available + 1 }]'));
    await begin();
    expect(await placed()).toContain('it gives 7 replicas to "m1", and 6 are available there');
  });

  test('it begins again by itself after a while, meanwhile its bindings wait with the reason', async () => {
    await write(text('assignReplica: () => process.exit(3)'));
    await begin();
    expect(await placed()).toContain('exit code 3');
    expect(ended).toEqual(['it ended itself, with exit code 3']);
    expect(await placed()).toContain(`${FAILS}it ended itself, with exit code 3`);
    await write(text('strategies: () => ["first", "second"]'));
    await until('it is as it was', async () => (await placed()) === 'm1:4');
    await until('what is new is known', async () => (await placed('second')) === 'm1:4');
  });

  test('begun again with a strategy of another’s, it has none, and the other goes on, and begins again', async () => {
    const places = '[{ name: clusters[0].name, replicas: spec.replicas }]';
    const once = `assignReplica: (strategy, clusters, spec) => (globalThis.asked ? process.exit(3) : (globalThis.asked = ${places}))`;
    await write(text('assignReplica: () => process.exit(3)'));
    await write(text(`name: 'yours', strategies: () => ['second'], ${once}`), 'yours.mjs');
    const both = await begin([entry(), entry({ name: 'yours', module: './yours.mjs' })]);
    await placed();
    await write(text('strategies: () => ["second"]'));
    await until('it is out', () => both.missing.some((why) => why.includes('claimed twice: "second"')));
    expect([await placed('second'), await placed(), await placed('second')]).toEqual([
      'm1:4',
      expect.stringContaining('unknown strategy "first"'),
      expect.stringContaining('exit code 3'),
    ]);
    await until('the other is back', async () => (await placed('second')) === 'm1:4');
    // A question may have begun it before whoever attends to it.
    await until('only one is out', () => both.missing.length === 1);
  });
});

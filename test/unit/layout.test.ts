import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { withMade } from '../support/made-documents.ts';
import { FOUNDATIONS, isAllowed, isOnPlan, kindOf, PACKAGES, PURE, ROOMS } from './layout-plan.ts';

/** Path below src, to text. */
type Sources = ReadonlyMap<string, string>;

const NAMES = FOUNDATIONS.map(({ name }) => name);

/** It marks the pieces of a body with a number that nobody can guess. */
const RANDOM = 'json/pieces.ts';
/** Computation only: no clock, no file, no socket. */
const PURE_MODULES = ['node:util', 'node:util/types'];

const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?\s*'([^']+)'|\bimport\(\s*'([^']+)'/g;

function roomOf(file: string): string {
  const folders = posix.dirname(file).split('/');
  if (folders[0] === '.') return file.replace(/\.ts$/, '');
  for (let depth = folders.length; depth > 0; depth -= 1) {
    const room = folders.slice(0, depth).join('/');
    if (isOnPlan(room)) return room;
  }
  return folders[0] ?? '';
}

const importsOf = (text: string): string[] =>
  [...text.matchAll(IMPORT)].flatMap(([, from, lazily]) => [from ?? lazily ?? '']);

/** Every import that goes where it must not. */
function wrongArrows(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const from = roomOf(file);
    return importsOf(text).flatMap((target) => {
      if (target.startsWith('.')) {
        const to = posix.join(posix.dirname(file), target);
        return isAllowed(from, roomOf(to)) ? [] : [`${file} imports ${to}`];
      }
      const owner = PACKAGES.find(({ name }) => name.test(target));
      const taken = owner !== undefined && !owner.rooms.includes(from);
      const allowed = file === RANDOM ? [...PURE_MODULES, 'node:crypto'] : PURE_MODULES;
      const impure = PURE.includes(from) && !allowed.includes(target);
      return taken || impure ? [`${file} imports ${target}`] : [];
    });
  });
}

/** What the plan allows and no import needs. */
function unusedArrows(sources: Sources): string[] {
  const used = new Set<string>();
  for (const [file, text] of sources) {
    const from = roomOf(file);
    for (const target of importsOf(text).filter((path) => path.startsWith('.'))) {
      const to = roomOf(posix.join(posix.dirname(file), target));
      for (const a of [from, kindOf(from)]) for (const b of [to, kindOf(to)]) used.add(`${a} → ${b}`);
    }
  }
  return ROOMS.flatMap(({ name, uses }) => uses.map((to) => `${name} → ${to}`)).filter(
    (arrow) => !used.has(arrow),
  );
}

/** Files that are reached from themselves. */
function ringsIn(sources: Sources): string[] {
  const targets = (file: string): string[] =>
    importsOf(sources.get(file) ?? '').flatMap((target) =>
      target.startsWith('.') ? [posix.join(posix.dirname(file), target)] : [],
    );
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const target of targets(from))
      if (!seen.has(target)) {
        seen.add(target);
        reached(target, seen);
      }
    return seen;
  };
  return [...sources.keys()].filter((file) => reached(file).has(file)).sort();
}

/** What else no file of src may be or have. */
function wrongHabits(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const found: string[] = [];
    const lines = text.replace(/\n$/, '').split('\n').length;
    if (lines > 250) found.push(`${file} has ${lines} lines`);
    if (/^export default\b/m.test(text)) found.push(`${file} has a default export`);
    if (/(^|[/-])(utils?|helpers?|types|common|misc)(\.ts$|\/)/.test(file)) found.push(`${file} is a drawer`);
    if (!/^[a-z0-9]+([-/][a-z0-9]+)*(\.d)?\.ts$/.test(file)) found.push(`${file} is not in kebab-case`);
    if (/(:|<|\bas|=>|\|)\s*any\b(?!\s+[a-z])|\bany\[\]/m.test(withoutComments(text)))
      found.push(`${file} uses any`);
    return found;
  });
}

const EXPORTED = /^export (?:abstract )?(?:async )?(?:const|function\*?|class|let) (\w+)/gm;

/** Values that are exported and that no other of `all` names. */
function exportedForNobody(sources: Sources, all: readonly string[]): string[] {
  const files = new Map<string, number>();
  for (const text of all)
    for (const word of new Set(text.match(/\w+/g))) files.set(word, (files.get(word) ?? 0) + 1);
  return [...sources].flatMap(([file, text]) =>
    Array.from(text.matchAll(EXPORTED), ([, name = '']) => name)
      .filter((name) => (files.get(name) ?? 0) < 2)
      .map((name) => `${file} exports ${name} for nobody`),
  );
}

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$|`[^`]*`|'[^'\n]*'/gm, '');

const one = (file: string, text: string): Sources => new Map([[file, text]]);

describe('the plan', () => {
  test('lists rooms from the innermost outwards, so that there is no circle', () => {
    // Backends and their registry are one step: the registry lists folders that keep to its contract.
    const step = (name: string): string => kindOf(name).replace(/^backends\/\*$/, 'backends');
    const order = ROOMS.map(({ name }) => step(name));
    const outward = ROOMS.flatMap(({ name, uses }, index) =>
      uses
        .filter((used) => order.indexOf(step(used)) > index)
        .map((used) => `${name} uses ${used}, which is listed after it`),
    );
    expect(outward).toEqual([]);
  });

  test('says of each room, once, what it is for', () => {
    const names = ROOMS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { purpose } of ROOMS) expect(purpose).toMatch(/^.{20,130}\.$/);
  });
});

test('docs/architecture.md has the table of rooms', () => {
  const file = join(import.meta.dirname, '../../docs/architecture.md');
  const page = readFileSync(file, 'utf8');
  const named = (rooms: readonly string[]): string => rooms.map((room) => `\`${room}\``).join(', ');
  const rows = [
    ...FOUNDATIONS.map((room, index) => ({ ...room, uses: NAMES.slice(0, index) })),
    ...ROOMS,
  ].map(({ name, purpose, uses }) => `| \`${name}\` | ${purpose} | ${named(uses)} |`);
  const text = ['| Room | What it is for | Imports |', '|---|---|---|', ...rows, ''].join('\n');
  const between = ['<!-- rooms -->\n', '<!-- /rooms -->\n'] as const;
  const expected = withMade(page, { file, between, text });
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, expected);
  else expect(page).toBe(expected);
});

describe('src', () => {
  const root = join(import.meta.dirname, '../../src');
  const sources: Sources = new Map(
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [file.replaceAll('\\', '/'), readFileSync(join(root, file), 'utf8')]),
  );

  test('is found', () => {
    expect(sources.size).toBeGreaterThan(30);
    expect([...sources.values()].flatMap(importsOf).length).toBeGreaterThan(100);
  });

  test('has arrows that point inwards only', () => {
    expect(wrongArrows(sources)).toEqual([]);
  });

  test('has no arrow on the plan that nothing takes', () => {
    expect(unusedArrows(sources)).toEqual([]);
  });

  test('has no files that import each other in a ring', () => {
    expect(ringsIn(sources)).toEqual([]);
  });

  test('has rooms that are on the plan', () => {
    const rooms = new Set([...sources.keys()].map(roomOf));
    expect([...rooms].filter((room) => !isOnPlan(room))).toEqual([]);
  });

  test('has small files with telling names, named exports, and no any', () => {
    expect(wrongHabits(sources)).toEqual([]);
  });

  test('exports no value that no other file names', () => {
    const others = ['test', 'demo', 'bench', 'manifests', 'docs', 'pictures', 'certs', 'monitoring'].flatMap(
      (folder) =>
        readdirSync(join(root, '..', folder), { recursive: true, encoding: 'utf8' })
          .filter((file) => /\.[jt]s$/.test(file))
          .map((file) => readFileSync(join(root, '..', folder, file), 'utf8')),
    );
    expect(exportedForNobody(sources, [...sources.values(), ...others])).toEqual([]);
  });
});

describe('the check itself finds', () => {
  test('a value that is exported for nobody, and no other', () => {
    const texts = new Map([
      ['api/a.ts', 'export const A = 1;\nexport async function b() {}\nexport interface C {}\n'],
      ['api/d.ts', `import { A } from './a.ts';\nexport class D {}\n`],
    ]);
    expect(exportedForNobody(texts, [...texts.values(), 'new D()'])).toEqual([
      'api/a.ts exports b for nobody',
    ]);
  });

  test('an arrow that no import takes, and none that one does', () => {
    const found = unusedArrows(one('main.ts', `import { run } from './cli/run.ts';`));
    expect(found).toContain('server → admission');
    expect(found).not.toContain('main → cli');
  });

  test('a clock, a file or a random number where everything is computed', () => {
    const texts = `import { randomBytes } from 'node:crypto';`;
    expect(wrongArrows(one('json/bounds.ts', texts))).toEqual(['json/bounds.ts imports node:crypto']);
    expect(wrongArrows(one('json/pieces.ts', texts))).toEqual([]);
  });

  test('a ring, also of types and through a third file', () => {
    const ring = new Map([
      ['preemption/a.ts', `import { b } from './b.ts';`],
      ['preemption/b.ts', `import type { C } from './read/c.ts';`],
      ['preemption/read/c.ts', `export { a } from '../a.ts';`],
      ['preemption/d.ts', `import { a } from './a.ts';`],
    ]);
    expect(ringsIn(ring)).toEqual(['preemption/a.ts', 'preemption/b.ts', 'preemption/read/c.ts']);
  });

  test.each([
    ['gang/a.ts', `import { x } from '../admission/b.ts';`, 'admission/b.ts'],
    ['gang/a.ts', `import type { X } from '../errors.ts';`, 'errors.ts'],
    ['api/a.ts', `export { x } from '../gang/b.ts';`, 'gang/b.ts'],
    ['api/a.ts', `import {\n  x,\n  y,\n} from '../gang/b.ts';`, 'gang/b.ts'],
    ['admission/a.ts', `const x = await import('../server/b.ts');`, 'server/b.ts'],
    ['admission/a.ts', `import { readFileSync } from 'node:fs';`, 'node:fs'],
    ['admission/a.ts', `import 'node:timers';`, 'node:timers'],
    ['admission/a.ts', `import { kai } from '../backends/kai/backend.ts';`, 'backends/kai/backend.ts'],
    ['backends/kube/a.ts', `import { x } from '../kai/b.ts';`, 'backends/kai/b.ts'],
    ['backends/kube/a.ts', `import { x } from '../../admission/b.ts';`, 'admission/b.ts'],
    ['server/a.ts', `import forge from 'node-forge';`, 'node-forge'],
    ['controller/a.ts', `import { request } from 'undici';`, 'undici'],
    ['controller/a.ts', `import Pool from 'undici/lib/dispatcher/pool.js';`, 'undici/lib/dispatcher/pool.js'],
    ['config/a.ts', `import { x } from '../cli/b.ts';`, 'cli/b.ts'],
    ['attic/a.ts', `import { x } from '../api/b.ts';`, 'api/b.ts'],
  ])('in %s: %s', (file, text, target) => {
    expect(wrongArrows(one(file, text))).toEqual([`${file} imports ${target}`]);
  });

  test.each([
    ['gang/a.ts', `import { x } from '../api/b.ts';\nimport { y } from './c.ts';`],
    ['backends/registry.ts', `import { kai } from './kai/backend.ts';`],
    ['backends/kai/a.ts', `import type { Backend } from '../backend.ts';\nimport { b } from './b.ts';`],
    [
      'server/a.ts',
      `import { mutate } from '../admission/endpoints.ts';\nimport { createServer } from 'node:https';`,
    ],
    ['tls/a.ts', `import forge from 'node-forge';`],
  ])('nothing in %s: %s', (file, text) => {
    expect(wrongArrows(one(file, text))).toEqual([]);
  });

  test.each([
    ['api/long.ts', 'x\n'.repeat(251), 'api/long.ts has 251 lines'],
    ['api/a.ts', 'export default 1;', 'api/a.ts has a default export'],
    ['api/string-utils.ts', '', 'api/string-utils.ts is a drawer'],
    ['helpers/a.ts', '', 'helpers/a.ts is a drawer'],
    ['api/podGang.ts', '', 'api/podGang.ts is not in kebab-case'],
    ['api/a.ts', 'const x: any = 1;', 'api/a.ts uses any'],
    ['api/a.ts', 'const x = y as any;', 'api/a.ts uses any'],
    ['api/a.ts', 'const x: Map<string, any> = y; const z: any[] = [];', 'api/a.ts uses any'],
  ])('in %s: %#', (file, text, says) => {
    expect(wrongHabits(one(file, text))).toEqual([says]);
  });

  test('no any where the word is only said', () => {
    expect(
      wrongHabits(one('api/a.ts', "// for: any case\n/** as any other */\nconst x = 'as any';")),
    ).toEqual([]);
  });
});

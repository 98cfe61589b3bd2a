/** README, and what every page is held to: links lead somewhere, scripts exist, tables are those of the source. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { SPEED_PAGES, withSpeed } from '../../pictures/pictures.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILE = join(ROOT, 'README.md');
const readme = readFileSync(FILE, 'utf8');

const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'certs', 'src'].flatMap(pagesIn),
];

/** Titles of a page as the fragments that lead to them. */
const fragmentsOf = (page: string): string[] =>
  [...page.replace(/^```[^]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('README.md', () => {
  test('is short: at most 10 KB', () => {
    expect(statSync(FILE).size).toBeLessThanOrEqual(10_000);
  });

  test('has exactly two commands that set a fresh machine up', () => {
    expect(readme.match(/^npm ci .*$/gm)).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
  });

  test('says what "gang" means without native gangs as loudly as the promise', () => {
    const bold = [...readme.matchAll(/\*\*([^*]+)\*\*/g)].map(([, words = '']) =>
      words.replaceAll('\n', ' '),
    );
    expect(bold).toContain('A gang cannot start half even while Muster is down');
    expect(bold).toContain(
      'On the plain kube-scheduler without native gangs a gang is gated until complete, then placed Pod by Pod.',
    );
  });

  test('leads to every page of docs', () => {
    const all = [readme, ...pagesIn('docs').map((page) => readFileSync(join(ROOT, page), 'utf8'))].join('\n');
    const lonely = pagesIn('docs').filter(
      (page) => !page.startsWith('docs/adr') && !all.includes(`${page.split('/').pop() ?? ''}`),
    );
    expect(lonely).toEqual([]);
  });
});

test.each(SPEED_PAGES)('%s: its line about speed is made from docs/benchmarks.md', (page) => {
  const file = join(ROOT, page);
  const text = readFileSync(file, 'utf8');
  const expected = withSpeed(text);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, expected);
  else expect(text).toBe(expected);
  expect(expected).toContain('measured on ');
});

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');

  test('links to files and sections that are there', () => {
    const dead = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = '', fragment] = link.split('#');
        const target = path === '' ? join(ROOT, page) : join(ROOT, page, '..', path);
        if (!existsSync(target)) return true;
        if (fragment === undefined || !target.endsWith('.md')) return false;
        return !fragmentsOf(readFileSync(target, 'utf8')).includes(fragment);
      });
    expect({ page: relative(ROOT, join(ROOT, page)), dead }).toEqual({ page, dead: [] });
  });

  test('names only scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...text.matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

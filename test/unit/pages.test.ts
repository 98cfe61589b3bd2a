/** What a page calls by name is there: Secrets, flags, settings, variables, metrics, rules, labels, checks. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { rules } from '../../src/api/rules.ts';
import { supportedSchedulers } from '../../src/backends/registry.ts';
import { verbs } from '../../src/cli/verbs.ts';
import { settings } from '../../src/config/settings.ts';
import { errorCatalogue } from '../../src/errors.ts';
import { metricCatalogue } from '../../src/telemetry/metric-catalogue.ts';
import { fakeIo } from './cli/fake-io.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));

/** CHANGELOG tells of names that are gone. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['docs', 'certs', 'src'].flatMap((folder) => filesIn(folder, /\.md$/)),
];
const SOURCE = [...filesIn('src', /\.ts$/), ...filesIn('manifests', /\.yaml$/)].map(read).join('\n');
const EXAMPLES = filesIn('docs/examples', /./).map(read).join('\n');

/** Everything that a page has in backticks, and its blocks. */
const codeOf = (page: string): string =>
  [...page.matchAll(/```[^]*?```|`[^`\n]+`/g)].map(([code]) => code).join('\n');

const namesIn = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? match[0])),
];

/** Of pages: names that are made up there, or another program's. */
const MADE_UP = /^muster-(line|certs|out|by-hand|backend|conformance|review|serve)$/;
const TEST_VARIABLES = ['TESTING_MUSTER_KUBERNETES', 'MUSTER_CHAOS_SEED', 'MUSTER_LONG'];
/** What Kubernetes makes of a Service called muster. */
const SERVICE_VARIABLES = ['MUSTER_SERVICE_HOST', 'MUSTER_PORT', 'MUSTER_SERVICE'];

/** Names of Kubernetes and of other projects that pages use and the source has no need of. */
const ELSEWHERE = [
  'GangScheduling',
  'MultiplePodTemplatesScheduling',
  'PatchResponseFromRaw',
  'PodGroupPreemptionPolicy',
];

/** A command that fetches whatever has that name on npm where it is not installed; programs of the checkout are named by path. */
const FETCHES =
  /\bnp[xm] (?:exec |x )?(?:-\S+ )*(?:muster|kubectl-muster|node|tsc)\b|npm (?:install|i|add)\b.* muster\b/;

test('no message of the program says such a command', () => {
  expect(SOURCE.match(FETCHES)).toBeNull();
});

describe.each(PAGES)('%s', (file) => {
  const page = read(file);
  const code = codeOf(page);

  test('objects called muster-… are those of the manifests or the source', () => {
    const names = namesIn(code, /(?<![\w./-])(muster-[a-z0-9-]*[a-z0-9])(?![\w./:-])/g);
    expect(names.filter((name) => !SOURCE.includes(name) && !MADE_UP.test(name))).toEqual([]);
  });

  test('no command asks a registry for a program of this name: there it is somebody else’s', () => {
    if (!file.includes('/adr/')) expect(page).not.toMatch(FETCHES);
  });

  test('labels and annotations are known', () => {
    const names = namesIn(code, /(?<![\w.])((?:grove\.io|muster\.dev|kai\.scheduler)\/[a-z][\w.-]*\w)/g);
    // The source puts some together from the prefix and the rest.
    const made = (name: string): boolean =>
      SOURCE.includes(name) ||
      EXAMPLES.includes(name) ||
      SOURCE.includes(`_PREFIX}${name.split('/')[1] ?? ''}`);
    expect(names.filter((name) => !made(name))).toEqual([]);
  });

  test('settings and variables exist', () => {
    const roots = [...new Set(settings.map(({ path }) => path.split(/[.[]/)[0] ?? ''))].filter(
      (root) => !['apiVersion', 'kind', 'metadata'].includes(root),
    );
    const paths = settings.map(({ path }) => path.replaceAll('[]', ''));
    const named = namesIn(
      code,
      new RegExp(`(?<![\\w./-])((?:${roots.join('|')})\\.[a-zA-Z]+(?:\\.[a-zA-Z]+)*)(?![\\w-])`, 'g'),
    );
    const known = (name: string): boolean =>
      paths.some((path) => path === name || path.startsWith(`${name}.`) || /\.(io|dev)$/.test(name));
    expect(named.filter((name) => !known(name))).toEqual([]);
    const variables = [
      ...settings.flatMap(({ environment }) => environment ?? []),
      ...namesIn(SOURCE, /['"](MUSTER_[A-Z_]+)['"]/g),
      ...TEST_VARIABLES,
      ...SERVICE_VARIABLES,
    ];
    expect(namesIn(code, /\bMUSTER_[A-Z_]*[A-Z]\b/g).filter((name) => !variables.includes(name))).toEqual([]);
  });

  test('metrics exist', () => {
    const known = Object.keys(metricCatalogue);
    const series = namesIn(code, /\b((?:muster|grove_scheduler)_[a-z_]+[a-z])\b/g);
    const plain = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');
    expect(series.filter((name) => !known.includes(name) && !known.includes(plain(name)))).toEqual([]);
  });

  test('rules, reasons and codes are those of the source', () => {
    const camel = namesIn(page, /(?:`|\[)([A-Z][a-z]+(?:[A-Z][a-z]+)+)(?:`|\])(?!\()/g);
    expect(
      camel.filter((name) => !(name in rules) && !SOURCE.includes(name) && !ELSEWHERE.includes(name)),
    ).toEqual([]);
    const codes = namesIn(page, /`((?:USAGE|(?:INPUT|CONFIG|BACKEND|TLS|LISTEN|GANG|CLUSTER)_[A-Z_]+))`/g);
    expect(codes.filter((name) => !(name in errorCatalogue) && !SOURCE.includes(name))).toEqual([]);
  });

  test('flags of muster’s verbs exist', async () => {
    const unknown: string[] = [];
    for (const [, name = '', rest = ''] of code.matchAll(/(?<![\w/-])muster ([a-z]+) ([^\n`|&]*)/g)) {
      const verb = verbs.find((one) => one.name === name);
      if (verb === undefined) continue;
      const command = await verb.load(fakeIo().io);
      const flags = command.options.flatMap(({ long, short }) => [long, short]).concat('--help', '-h');
      const used = rest.replace(/\s#.*/, '').match(/(?<=\s|^)--?[a-z][a-z-]*/g) ?? [];
      unknown.push(...used.filter((flag) => !flags.includes(flag)).map((flag) => `muster ${name} ${flag}`));
    }
    expect(unknown).toEqual([]);
  });
});

describe('what the source says of pages', () => {
  const texts = SOURCE.replace(/^\s*(?:\/\/|\*|\/\*|#).*$/gm, '');

  test('each page is there', () => {
    const named = namesIn(texts, /\b(docs\/[\w/-]+\.(?:md|json|yaml))/g);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });

  test('each section, in quotes behind its page, is there', () => {
    const named = [...texts.matchAll(/(docs\/[\w/-]+\.md), "([^"]+)"/g)];
    expect(named.length).toBeGreaterThan(0);
    const dead = named.filter(
      ([, page = '', title = '']) => !new RegExp(`^#+ ${title}$`, 'm').test(read(page)),
    );
    expect(dead.map(([whole]) => whole)).toEqual([]);
  });
});

describe('the schedulers that there are', () => {
  const { names } = supportedSchedulers();

  test('README says of each what a gang is there', () => {
    const table = read('README.md').split('| Scheduler (backend) |')[1]?.split('\n\n')[0] ?? '';
    const rows = namesIn(table, /^\| `([a-z-]+)`/gm);
    expect(rows.sort()).toEqual([...names].sort());
  });

  test('docs/configuration.md lists them as the refusal does', () => {
    expect(read('docs/configuration.md')).toContain(
      `unsupported scheduler "x" (supported: ${names.join(', ')})`,
    );
  });
});

test('README names the releases that the tests run on', () => {
  const versions = namesIn(read('test/cluster/control-plane/releases.ts'), /version: 'v([\d.]+)'/g);
  expect(versions).toHaveLength(4);
  for (const version of versions) expect(read('README.md')).toContain(version);
});

describe('docs/certificates.md', () => {
  test('shows the certificates that are installed', () => {
    const file = 'docs/certificates.md';
    const page = read(file);
    const yaml = read('manifests/overlays/cert-manager/certificates.yaml').trim();
    const block = /(<!-- certificates -->\n)[^]*?(<!-- \/certificates -->)/;
    expect(page).toMatch(block);
    const expected = page.replace(
      block,
      (_all, begin: string, end: string) => `${begin}\`\`\`yaml\n${yaml}\n\`\`\`\n${end}`,
    );
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(ROOT, file), expected);
    else expect(page).toBe(expected);
  });
});

describe('docs/operations.md', () => {
  const page = read('docs/operations.md');
  const rowsUnder = (title: string): string[][] =>
    (page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
      .slice(1)
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );

  test('its table of answers has every code that is not a decision', () => {
    const codes = namesIn(read('src/server/failure.ts'), /^ {2}(\d{3}): '/gm);
    expect(codes.length).toBeGreaterThan(8);
    expect(rowsUnder('What clients are told').flatMap(([code = '']) => code.split(', '))).toEqual(codes);
  });

  test('its ports are the defaults', () => {
    const rows = rowsUnder('Ports');
    expect(rows).toHaveLength(3);
    for (const [name = '', port] of rows) {
      const setting = settings.find(({ path }) => `\`${path}\`` === name);
      expect([name, Number(setting?.default)]).toEqual([name, Number(port)]);
    }
  });

  test('its table of checks names every check of /readyz', () => {
    const checks = namesIn(
      ['src/server/program.ts', 'src/cli/serve/serve.ts'].map(read).join('\n'),
      /\{\s*name: '([a-z-]+)',\s*check:/g,
    );
    expect(checks.length).toBeGreaterThanOrEqual(4);
    expect(rowsUnder('Probes').map(([name = '']) => name.replaceAll('`', ''))).toEqual(checks);
  });

  test('its limits are the defaults', () => {
    const of = (name: string): number =>
      Number(settings.find(({ path }) => path === `server.webhooks.${name}`)?.default);
    const MIB = 1024 * 1024;
    expect(
      rowsUnder('Limits')
        .slice(0, 3)
        .map(([, value]) => value),
    ).toEqual([
      `${of('limits.maxBodyBytes') / MIB} MiB`,
      `${of('limits.maxInFlightBytes') / MIB} MiB, ${of('limits.maxInFlight')} reviews`,
      String(of('limits.maxConnections')),
    ]);
    expect(page).toContain(`After \`drain.seconds\` (${of('drain.seconds')})`);
    expect(page).toContain(`\`drain.maxSeconds\` (${of('drain.maxSeconds')})`);
  });
});

test('the records of decisions are numbered one by one, each as its file', () => {
  const records = filesIn('docs/adr', /^\d{4}-.*\.md$/).sort();
  const numbers = records.map((file) => Number(/\/(\d{4})-/.exec(file)?.[1]));
  expect(numbers).toEqual(records.map((_, index) => index + 1));
  const headings = records.map((file) => Number(/^# (\d+)\. /.exec(read(file))?.[1]));
  expect(headings).toEqual(numbers);
});

// `npm run test:matrix`: the suites below on each Kubernetes release, and the table of docs that says how they ended.
// `npm run test:matrix -- 1.36` is about that release alone; what the table says of others stays. With `--if-built` nothing is
// built or written: what goes by native gangs runs on those of the releases that are here already.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { isBuilt } from './cluster/control-plane/binaries.ts';
import { KNOWN_RELEASES } from './cluster/control-plane/releases.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'test/cluster');
const PAGE = join(ROOT, 'src/backends/native/README.md');
const PLACE = /(<!-- matrix -->\n)[^]*?(<!-- end -->)/;

/** What goes by what a release serves, stores and schedules. */
const SUITES = `admission loop generations workloads priorities preemption doctor bystanders/bystanders
  native-gates kube-backend kube-backend-objects kube-backend-degraded composite-pod-groups workload-with-job
  policies policies-objects upgrade`.split(/\s+/);
/** What is not run where a release has no native gangs. */
const OF_NATIVE_GANGS = [
  ...['kube-backend', 'kube-backend-objects', 'composite-pod-groups'],
  ...['workload-with-job', 'upgrade'],
];
/** What is another thing in each release. */
const BY_NATIVE_GANGS = ['native-gates', ...OF_NATIVE_GANGS, 'kube-backend-degraded', 'generations'];
/** What is run with `--if-built` alone: it is about kube-scheduler, of which the planner knows 1.36 and later. */
const BESIDE_SCHEDULER = 'plan';
const NOT_RUN = 'not run';
const NO_GANGS = 'no native gangs';

interface JestResults {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/** How each suite ended on one release. */
type Column = ReadonlyMap<string, string>;

function runOn(minor: string, suites: readonly string[]): Column {
  const env = { ...process.env, TESTING_MUSTER_KUBERNETES: minor };
  const run = (...args: string[]): number | null =>
    spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }).status;
  if (run('test/cluster/control-plane/build.ts') !== 0) return new Map();
  const folder = mkdtempSync(join(tmpdir(), 'muster-matrix-'));
  try {
    const file = join(folder, 'results.json');
    const { gangApi } = KNOWN_RELEASES[minor] ?? {};
    const without = [
      ...(gangApi === undefined ? OF_NATIVE_GANGS : []),
      ...([undefined, 'v1alpha1'].includes(gangApi) ? [BESIDE_SCHEDULER] : []),
    ];
    const files = suites
      .filter((suite) => !without.includes(suite))
      .map((suite) => join(FOLDER, `${suite}.test.ts`));
    const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
    const jest = ['node_modules/jest/bin/jest.js', '--selectProjects=cluster', '--json'];
    run(...node, ...jest, `--outputFile=${file}`, ...files);
    const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as JestResults;
    return new Map([
      ...without.filter((suite) => suites.includes(suite)).map((suite) => [suite, NO_GANGS] as const),
      ...testResults.map((one) => [relative(FOLDER, one.name).replace('.test.ts', ''), endOf(one)] as const),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `12 passed`, `11 passed, 1 failed`; a suite that could not begin has failed as a whole. */
export function endOf({ assertionResults, message }: JestResults['testResults'][number]): string {
  const count = (status: string): number => assertionResults.filter((one) => one.status === status).length;
  const parts = ['passed', 'failed', 'pending'].map((status) => [count(status), status] as const);
  const said = parts
    .filter(([many]) => many > 0)
    .map(([many, status]) => `${many} ${status === 'pending' ? 'skipped' : status}`);
  return said.length === 0 ? `failed: ${message.split('\n')[0] ?? ''}` : said.join(', ');
}

export function tableOf(columns: ReadonlyMap<string, Column>): string {
  const releases = [...columns.keys()];
  const rows = [
    ['Suite', ...releases],
    ['---', ...releases.map(() => '---')],
    ...SUITES.map((suite) => [
      `\`${suite}\``,
      ...releases.map((release) => columns.get(release)?.get(suite) ?? NOT_RUN),
    ]),
  ];
  return rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** What such a table says, by release. */
export function columnsOf(table: string): Map<string, Column> {
  const [head = [], , ...rows] = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
  return new Map(
    head
      .slice(1)
      .map((release, index) => [
        release,
        new Map(rows.map(([suite = '', ...ends]) => [suite, ends[index] ?? NOT_RUN])),
      ]),
  );
}

function writeTable(columns: ReadonlyMap<string, Column>): void {
  const page = readFileSync(PAGE, 'utf8');
  const [known = ''] = PLACE.exec(page) ?? [];
  const newestFirst = [...new Map([...columnsOf(known), ...columns])].sort(([a], [b]) => b.localeCompare(a));
  const table = tableOf(new Map(newestFirst));
  writeFileSync(
    PAGE,
    page.replace(PLACE, (_, begin: string, end: string) => `${begin}\n${table}\n${end}`),
  );
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { 'if-built': { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const suites = values['if-built'] ? [...BY_NATIVE_GANGS, BESIDE_SCHEDULER] : SUITES;
  const unknown = positionals.filter((minor) => KNOWN_RELEASES[minor] === undefined);
  if (unknown.length > 0) {
    throw new Error(
      `no such release: ${unknown.join(', ')} (there are: ${Object.keys(KNOWN_RELEASES).join(', ')})`,
    );
  }
  const columns = new Map<string, Column>();
  for (const [minor, release] of Object.entries(KNOWN_RELEASES)) {
    if (positionals.length > 0 && !positionals.includes(minor)) continue;
    if (!values['if-built'] || isBuilt(release)) columns.set(release.version, runOn(minor, suites));
    else process.stdout.write(`Kubernetes ${release.version} is not built here: nothing runs on it\n`);
  }
  process.stdout.write(tableOf(columns));
  if (!values['if-built']) writeTable(columns);
  const ends = [...columns.values()].flatMap((column) => suites.map((suite) => column.get(suite) ?? NOT_RUN));
  if (ends.some((end) => /failed|not run/.test(end))) process.exitCode = 1;
}

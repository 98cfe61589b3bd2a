import { existsSync, readFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { Command } from 'commander';
import { POD_GANG_API_VERSION } from '../api/names.ts';
import { BACKEND_CONTRACT_VERSION } from '../backends/backend.ts';
import { supportedSchedulers } from '../backends/registry.ts';
import { outputOption } from './input/shared-options.ts';
import type { CliIo } from './output/io.ts';
import { fileURLToPath } from 'node:url';

/** The object that `muster version -o json` prints. */
export interface VersionReport {
  readonly version: string;
  /** Commit of the source, with `-dirty` where the build had changes beyond it; absent where the build did not know it. */
  readonly commit?: string;
  /** Time of that commit, ISO 8601 in UTC. */
  readonly date?: string;
  readonly node: string;
  /** Version of the contract between Muster and its backends. */
  readonly backendContract: number;
  /** API version of PodGangs that Muster supports. */
  readonly podGang: string;
  readonly schedulers: readonly string[];
  /** Former names of schedulers, each with the current one. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** The version in package.json. */
export function musterVersion(from: string = import.meta.url): string {
  const root = packageRoot(from);
  if (root === undefined) return 'unknown';
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/**
 * Commit and its time in dist/BUILD, which the build writes as `HASH SECONDS`. A program that runs from its source has none.
 * @param from URL of a file in dist/src/cli
 */
export function buildStamp(from: string = import.meta.url): Pick<VersionReport, 'commit' | 'date'> {
  const file = new URL('../../BUILD', from);
  const written = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const [, commit, seconds] = /^([0-9a-f]{7,64}(?:-dirty)?)(?: (\d{1,11}))?\s*$/.exec(written) ?? [];
  return {
    ...(commit !== undefined && { commit }),
    ...(seconds !== undefined && {
      date: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z'),
    }),
  };
}

function versionReport(): VersionReport {
  const { names, aliases } = supportedSchedulers();
  return {
    version: musterVersion(),
    ...buildStamp(),
    node: process.version,
    backendContract: BACKEND_CONTRACT_VERSION,
    podGang: POD_GANG_API_VERSION,
    schedulers: names,
    aliases,
  };
}

export const versionCommand = (io: CliIo): Command =>
  new Command('version')
    .description('print the version of Muster and what it serves')
    .addOption(outputOption())
    .addHelpText('after', '\nExample:\n  $ muster version -o json')
    .action(({ output }: { output: 'text' | 'json' }) => {
      const report = versionReport();
      if (output === 'json') {
        io.stdout(`${JSON.stringify(report, null, 2)}\n`);
        return;
      }
      const { commit, date } = report;
      const built = [commit && `commit ${commit}`, date].filter((part) => part !== undefined).join(', ');
      const aliases = Object.entries(report.aliases).map(([alias, now]) => `, ${alias} (now ${now})`);
      io.stdout(
        [
          `muster ${report.version}${built === '' ? '' : ` (${built})`}`,
          `node ${report.node}`,
          `backend contract ${report.backendContract}`,
          `gang API ${report.podGang}`,
          `schedulers ${report.schedulers.join(', ')}${aliases.join('')}`,
          '',
        ].join('\n'),
      );
    });

/**
 * The folder with package.json, two levels above the source and three above the build, so it is searched upwards from the
 * file `from`.
 * @returns undefined where there is none
 */
export function packageRoot(from: string = import.meta.url): string | undefined {
  let folder = dirname(fileURLToPath(from));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  return folder;
}

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
  /** Commit of the source; absent where the build did not know it. */
  readonly commit?: string;
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

/** Hash of the commit, from dist/COMMIT of a build or from npm's gitHead in a published package. */
export function musterCommit(from: string = import.meta.url): string | undefined {
  const root = packageRoot(from);
  if (root === undefined) return undefined;
  const file = join(root, 'dist', 'COMMIT');
  const written = existsSync(file)
    ? readFileSync(file, 'utf8').trim()
    : (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { gitHead?: string }).gitHead;
  return written !== undefined && /^[0-9a-f]{7,64}$/.test(written) ? written : undefined;
}

function versionReport(): VersionReport {
  const { names, aliases } = supportedSchedulers();
  const commit = musterCommit();
  return {
    version: musterVersion(),
    ...(commit !== undefined && { commit }),
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
      const aliases = Object.entries(report.aliases).map(([alias, now]) => `, ${alias} (now ${now})`);
      io.stdout(
        [
          `muster ${report.version}${report.commit === undefined ? '' : ` (commit ${report.commit})`}`,
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

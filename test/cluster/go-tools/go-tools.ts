import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheOfMuster, isExecutable, logToStderr, NO_GO, onPath } from '../control-plane/binaries.ts';
import { withBuildLock } from '../control-plane/build-lock.ts';
import { compile, GoFailed } from '../control-plane/compile.ts';

/** Programs that are Go modules: each has a folder here, whose go.mod and go.sum pin what is built. */
const GO_TOOLS = {
  helm: {
    version: 'v4.3.1',
    program: 'helm.sh/helm/v4/cmd/helm',
    stamp: 'helm.sh/helm/v4/internal/version.version=v4.3.1',
    variable: 'TESTING_MUSTER_HELM',
    asksVersion: ['version', '--short'],
    /** Programs that serve as well: helm's patch releases change no chart. */
    serves: /\bv4\.3\b/,
    takes: 'about 3 minutes, once',
  },
  kwok: {
    version: 'v0.8.0',
    program: 'sigs.k8s.io/kwok/cmd/kwok',
    stamp: 'sigs.k8s.io/kwok/pkg/consts.Version=0.8.0',
    variable: 'TESTING_MUSTER_KWOK',
    asksVersion: ['--version'],
    serves: /\bv0\.8\.\d/,
    takes: 'about 1 minute, once',
  },
} as const;

export type GoTool = keyof typeof GO_TOOLS;

export const isGoTool = (name: string): name is GoTool => name in GO_TOOLS;

/** A program is not here and could not be built; the message says where was looked and what to do. */
export class GoToolUnavailable extends Error {
  override readonly name = 'GoToolUnavailable';
}

export interface LocateGoToolOptions {
  /** Whether what is missing may be built with Go. */
  readonly build: boolean;
  readonly log?: (line: string) => void;
}

/**
 * Absolute path of a program: the one that its environment variable names, else one of its version on the PATH, else
 * the one in our cache, where a missing one is built.
 *
 * @throws GoToolUnavailable
 */
export async function locateGoTool(tool: GoTool, options: LocateGoToolOptions): Promise<string> {
  const { variable } = GO_TOOLS[tool];
  const named = process.env[variable];
  if (named) {
    const is = await versionOf(tool, named);
    if (GO_TOOLS[tool].serves.test(is)) return named;
    throw unavailable(tool, `${variable}=${named} is not it (its version: ${is})`);
  }
  const installed = await onPath(tool);
  if (installed !== undefined && GO_TOOLS[tool].serves.test(await versionOf(tool, installed)))
    return installed;
  const built = join(cacheOf(tool), tool);
  if (await isExecutable(built)) return built;
  if ((await onPath('go')) === undefined) throw unavailable(tool, NO_GO);
  if (!options.build) throw unavailable(tool, 'it has not been built yet');
  try {
    await build(tool, built, options.log ?? logToStderr);
  } catch (error) {
    if (error instanceof GoFailed) throw unavailable(tool, error.message, error);
    throw error;
  }
  return built;
}

/**
 * Why a test that needs a program cannot run here; undefined: it can. In CI the program is built, and nothing is
 * skipped: what fails there throws.
 */
export async function whyNoGoTool(tool: GoTool): Promise<string | undefined> {
  const inCi = Boolean(process.env['CI']);
  try {
    await locateGoTool(tool, { build: inCi });
    return undefined;
  } catch (error) {
    if (inCi || !(error instanceof GoToolUnavailable)) throw error;
    return error.message;
  }
}

const cacheOf = (tool: GoTool): string =>
  join(cacheOfMuster(), 'go-tools', `${tool}-${GO_TOOLS[tool].version}`);

async function build(tool: GoTool, built: string, log: (line: string) => void): Promise<void> {
  const { version, program, stamp } = GO_TOOLS[tool];
  const folder = cacheOf(tool);
  await mkdir(folder, { recursive: true });
  const enough = (): Promise<boolean> => isExecutable(built);
  const told = (owner: number): void => log(`process ${owner} is building ${tool}; waiting ...`);
  await withBuildLock(
    join(folder, '.lock'),
    async () => {
      if (await enough()) return;
      await compile({
        programs: { [tool]: program },
        module: join(import.meta.dirname, tool),
        name: `${tool} ${version}`,
        linkerFlags: [`-X ${stamp}`],
        folder,
        log,
      });
    },
    { told: (owner) => Promise.resolve(told(owner)), enough },
  );
}

async function versionOf(tool: GoTool, path: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(path, GO_TOOLS[tool].asksVersion);
    return stdout.trim();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function unavailable(tool: GoTool, reason: string, cause?: Error): GoToolUnavailable {
  const { version, variable, takes } = GO_TOOLS[tool];
  return new GoToolUnavailable(
    [
      `no ${tool} ${version}: ${reason}`,
      `  looked in: ${variable} (${process.env[variable] || 'not set'}), the PATH, ${cacheOf(tool)}`,
      `  to get it: with Go 1.26 or newer on the PATH run \`npm run go-tools ${tool}\` (${takes}),`,
      `  or let ${variable} name a program of that version`,
    ].join('\n'),
    { cause },
  );
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire, registerHooks } from 'node:module';
import { dirname, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject } from '../../api/json.ts';
import type { BackendFactory } from '../../backends/backend.ts';
import { builtInBackends } from '../../backends/registry.ts';
import type { SchedulerProfile } from '../../config/configuration.ts';
import { within } from '../../kube/loop/deadline.ts';
import { messageOf, MusterError } from '../../errors.ts';

/** How long a module may take to load. */
const LOAD_MS = 10_000;

/** A module as somebody names it, and how to speak about that place. */
export interface ModuleSource {
  /** A path, where it begins with `.` or `/`, else the name of a package. */
  readonly module: string;
  readonly integrity?: string | undefined;
  /** The folder that paths are relative to, and packages are looked for from. */
  readonly folder: string;
  /** Where it is named, such as `scheduler.profiles[1].module`, for errors. */
  readonly field: string;
}

/**
 * The backends that a configuration may enable: Muster's own, and those that its profiles bring along. A module is run
 * with all rights of this process.
 * @param fileName of the configuration: modules are named relative to it; undefined where there is no file
 * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY, BACKEND_MODULE_INVALID
 */
export async function backendsOf(
  profiles: readonly SchedulerProfile[],
  fileName: string | undefined,
): Promise<readonly BackendFactory[]> {
  const folder = dirname(resolve(fileName ?? 'configuration'));
  const brought: BackendFactory[] = [];
  for (const [index, { name, module, integrity }] of profiles.entries()) {
    if (module === undefined) continue;
    const field = `scheduler.profiles[${index}].module`;
    const factory = await loadBackend({ module, integrity, folder, field });
    if (factory.name !== name) {
      throw new MusterError(
        'BACKEND_MODULE_INVALID',
        `${field}: ${module} exports the backend ${JSON.stringify(factory.name)}, and the profile is called ${JSON.stringify(name)}`,
        `call the profile ${JSON.stringify(factory.name)}, or name the module of ${JSON.stringify(name)}`,
      );
    }
    brought.push(factory);
  }
  return [...builtInBackends, ...brought];
}

/** @throws MusterError as {@link backendsOf} */
export async function loadBackend(source: ModuleSource): Promise<BackendFactory> {
  const { module, integrity, field } = source;
  const file = locate(source);
  const content = await readFile(file).catch((thrown: unknown) => {
    throw missing(source, file, thrown);
  });
  if (integrity !== undefined) compare(source, integrity, content);
  letMusterBeFound();
  let exported: unknown;
  try {
    const never = new AbortController().signal;
    exported = await within(module, LOAD_MS, never, () => import(pathToFileURL(file).href));
  } catch (thrown) {
    throw new MusterError(
      'BACKEND_MODULE_INVALID',
      `${field}: ${module} does not load: ${messageOf(thrown)}`,
      'correct the module: `node --check` tells more of a syntax error, `node` of what it throws',
      { cause: thrown },
    );
  }
  return factoryIn(exported, source);
}

function locate(source: ModuleSource): string {
  const { module, folder } = source;
  if (/^[./]/.test(module)) return resolve(folder, module);
  for (const from of [resolve(folder, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve(module);
    } catch (thrown) {
      // A package that is there, and cannot be entered, says so itself.
      if ((thrown as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw missing(source, module, thrown);
    }
  }
  throw new MusterError(
    'BACKEND_MODULE_MISSING',
    `${source.field}: there is no package ${JSON.stringify(module)} in a node_modules above ${folder} or Muster itself`,
    `install it there, or write ./${module} if it is a file beside the configuration`,
  );
}

const missing = ({ field, module }: ModuleSource, file: string, cause: unknown): MusterError =>
  new MusterError(
    'BACKEND_MODULE_MISSING',
    `${field}: cannot read ${module === file ? module : `${module} (${file})`}: ${messageOf(cause)}`,
    'name a file that this user may read, relative to the configuration file, or an installed package',
    { cause },
  );

function compare({ field, module }: ModuleSource, integrity: string, content: Buffer): void {
  const algorithm = integrity.slice(0, integrity.indexOf('-'));
  const found = `${algorithm}-${createHash(algorithm).update(content).digest('base64')}`;
  if (found === integrity) return;
  throw new MusterError(
    'BACKEND_MODULE_INTEGRITY',
    `${field.replace(/module$/, 'integrity')}: ${module} should be ${integrity}, and is ${found}`,
    'put back the file that was meant, or, if the change is yours, write the hash that it has now',
  );
}

/** The default export, or one called `backend`; of a CommonJS module too, where both are inside of the default. */
function factoryIn(exported: unknown, { field, module }: ModuleSource): BackendFactory {
  const outer = isObject(exported) ? exported : {};
  const inner = isObject(outer['default']) ? outer['default'] : {};
  for (const candidate of [outer['default'], outer['backend'], inner['default'], inner['backend']]) {
    if (isFactory(candidate)) return candidate;
  }
  const names = Object.keys(outer);
  const found = names.length === 0 ? 'it exports nothing' : `its exports: ${names.join(', ')}`;
  throw new MusterError(
    'BACKEND_MODULE_INVALID',
    `${field}: ${module} has no backend as its default export or as "backend" (${found})`,
    'export a BackendFactory, an object with name and create()',
  );
}

const isFactory = (value: unknown): value is BackendFactory =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'create' in value &&
  typeof value.create === 'function';

let findable = false;

/**
 * From now on `import … from 'muster'` means this very program, wherever the module is: a backend needs nothing
 * installed, and both speak of the same classes.
 */
function letMusterBeFound(): void {
  if (findable) return;
  findable = true;
  const extension = extname(import.meta.url);
  const entries: Readonly<Record<string, string>> = {
    muster: new URL(`../../index${extension}`, import.meta.url).href,
    'muster/conformance': new URL(`../../conformance/conformance${extension}`, import.meta.url).href,
  };
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = Object.hasOwn(entries, specifier) ? entries[specifier] : undefined;
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
}

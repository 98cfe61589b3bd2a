import { isBuiltin, registerHooks } from 'node:module';
import { extname } from 'node:path';
import { isObject } from '../api/json.ts';
import type { BackendFactory } from '../backends/backend.ts';
import { messageOf, MusterError } from '../errors.ts';
import type { ModuleFile } from './module-file.ts';

/**
 * Runs a module, of which the bytes that were read are run and no others, and gives the backend that it exports.
 * @param field where it is named, for errors
 * @throws MusterError BACKEND_MODULE_INVALID
 */
export async function importModule(file: ModuleFile, field: string): Promise<BackendFactory> {
  hook(file);
  let exported: unknown;
  try {
    exported = await import(file.url);
  } catch (thrown) {
    throw doesNotLoad(file.module, field, thrown);
  }
  return factoryIn(exported, file.module, field);
}

export const doesNotLoad = (module: string, field: string, thrown: unknown): MusterError =>
  new MusterError(
    'BACKEND_MODULE_INVALID',
    `${field}: ${module} does not load: ${messageOf(thrown)}`,
    'correct the module: `node --check` tells more of a syntax error, `node` of what it throws',
    { cause: thrown },
  );

/**
 * `import … from 'muster'` means this very program, wherever the module is: a backend needs nothing installed, and both
 * speak of the same classes.
 */
const extension = extname(import.meta.url);
const MUSTER: Readonly<Record<string, string>> = {
  muster: new URL(`../index${extension}`, import.meta.url).href,
  'muster/conformance': new URL(`../conformance/conformance${extension}`, import.meta.url).href,
};

function hook({ url, text, format, pinned }: ModuleFile): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === url) return { url, format, shortCircuit: true };
      const own = Object.hasOwn(MUSTER, specifier) ? MUSTER[specifier] : undefined;
      if (own !== undefined) return { url: own, shortCircuit: true };
      if (pinned && context.parentURL === url && !isBuiltin(specifier)) {
        throw new Error(
          `it imports ${specifier}, for which its integrity does not speak: bundle it to one file`,
        );
      }
      return next(specifier, context);
    },
    load: (which, context, next) =>
      which === url ? { format, source: text, shortCircuit: true } : next(which, context),
  });
}

/** The default export, or one called `backend`; of a CommonJS module too, where both are inside of the default. */
function factoryIn(exported: unknown, module: string, field: string): BackendFactory {
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

/** @throws MusterError where the module is another backend than its profile says */
export function checkName(
  found: string,
  profile: string,
  { module, field }: { module: string; field: string },
): void {
  if (found === profile) return;
  throw new MusterError(
    'BACKEND_MODULE_INVALID',
    `${field}: ${module} exports the backend ${JSON.stringify(found)}, and the profile is called ${JSON.stringify(profile)}`,
    `call the profile ${JSON.stringify(found)}, or name the module of ${JSON.stringify(profile)}`,
  );
}

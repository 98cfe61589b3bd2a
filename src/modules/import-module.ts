import { isBuiltin, registerHooks } from 'node:module';
import { extname } from 'node:path';
import { isObject } from '../api/json.ts';
import type { BackendFactory } from '../backends/backend.ts';
import { messageOf, MusterError } from '../errors.ts';
import type { AssignReplicaPlugin } from '../fleet/assign/assign-replica-plugin.ts';
import type { ModuleFile } from './module-file.ts';

/**
 * Runs a module, of which the bytes that were read are run and no others, and gives the backend that it exports.
 * @param field where it is named, for errors
 * @throws MusterError BACKEND_MODULE_INVALID
 */
export const importModule = async (file: ModuleFile, field: string): Promise<BackendFactory> =>
  factoryIn(await exportsOf(file, field), file.module, field);

/**
 * The same of a module with strategies for bindings of a fleet.
 * @throws MusterError BACKEND_MODULE_INVALID
 */
export const importPlugin = async (file: ModuleFile, field: string): Promise<AssignReplicaPlugin> =>
  pluginIn(await exportsOf(file, field), file.module, field);

/**
 * Whichever of the two it is.
 * @throws MusterError BACKEND_MODULE_INVALID
 */
export async function importEither(
  file: ModuleFile,
  field: string,
): Promise<{ readonly backend: BackendFactory } | { readonly plugin: AssignReplicaPlugin }> {
  const exported = await exportsOf(file, field);
  const plugin = found(exported, PLUGIN_NAMES, isPlugin);
  return plugin === undefined ? { backend: factoryIn(exported, file.module, field) } : { plugin };
}

async function exportsOf(file: ModuleFile, field: string): Promise<unknown> {
  hook(file);
  try {
    return await import(file.url);
  } catch (thrown) {
    throw doesNotLoad(file.module, field, thrown);
  }
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

const BACKEND_NAMES = ['default', 'backend'];
const PLUGIN_NAMES = ['default', 'plugin'];

/** The export of one of these names; of a CommonJS module too, where both are inside of the default. */
function found<T>(
  exported: unknown,
  names: readonly string[],
  is: (one: unknown) => one is T,
): T | undefined {
  const outer = isObject(exported) ? exported : {};
  const inner = isObject(outer['default']) ? outer['default'] : {};
  return [outer, inner].flatMap((one) => names.map((name): unknown => one[name])).find(is);
}

function factoryIn(exported: unknown, module: string, field: string): BackendFactory {
  const factory = found(exported, BACKEND_NAMES, isFactory);
  if (factory !== undefined) return factory;
  throw new MusterError(
    'BACKEND_MODULE_INVALID',
    `${field}: ${module} has no backend as its default export or as "backend" (${exportedBy(exported)})`,
    'export a BackendFactory, an object with name and create()',
  );
}

function pluginIn(exported: unknown, module: string, field: string): AssignReplicaPlugin {
  const plugin = found(exported, PLUGIN_NAMES, isPlugin);
  if (plugin !== undefined) return plugin;
  throw new MusterError(
    'BACKEND_MODULE_INVALID',
    `${field}: ${module} has no strategies as its default export or as "plugin" (${exportedBy(exported)})`,
    'export an AssignReplicaPlugin, an object with name, strategies() and assignReplica()',
  );
}

const exportedBy = (exported: unknown): string => {
  const names = Object.keys(isObject(exported) ? exported : {});
  return names.length === 0 ? 'it exports nothing' : `its exports: ${names.join(', ')}`;
};

const isFactory = (value: unknown): value is BackendFactory => isNamed(value) && isMethod(value, 'create');

const isPlugin = (value: unknown): value is AssignReplicaPlugin =>
  isNamed(value) && isMethod(value, 'strategies') && isMethod(value, 'assignReplica');

const isNamed = (value: unknown): value is { readonly name: string } =>
  typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';

/** Of the prototype, too: it may be an instance of a class. */
const isMethod = (value: object, name: string): boolean =>
  typeof (value as Record<string, unknown>)[name] === 'function';

/** @throws MusterError where the module is another backend than its profile says */
export function checkName(
  name: string,
  profile: string,
  { module, field }: { module: string; field: string },
): void {
  if (name === profile) return;
  throw new MusterError(
    'BACKEND_MODULE_INVALID',
    `${field}: ${module} exports the backend ${JSON.stringify(name)}, and the profile is called ${JSON.stringify(profile)}`,
    `call the profile ${JSON.stringify(name)}, or name the module of ${JSON.stringify(profile)}`,
  );
}

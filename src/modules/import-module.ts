import { isBuiltin, registerHooks } from 'node:module';
import { extname } from 'node:path';
import { isObject, type JsonObject } from '../json/json.ts';
import type { BackendFactory } from '../backends/backend.ts';
import { messageOf, MusterError } from '../errors.ts';
import { quoted } from '../text/printable.ts';
import type { AssignReplicaPlugin, StrategyQuestion } from '../fleet/assign/assign-replica-plugin.ts';
import type { PreparationModule } from '../preparers/preparation-module.ts';
import type { ModuleFile } from './module-file.ts';

/** Kinds of modules, as messages call them. */
export type ModuleKind = 'backend' | 'plugin' | 'preparation';

/** The type that a module of each kind exports. */
interface Exported {
  readonly backend: BackendFactory;
  readonly plugin: AssignReplicaPlugin;
  readonly preparation: PreparationModule;
}

/**
 * Runs a module from the bytes that were read and checked, and returns its export of that kind.
 * @param field where the configuration names the module, for errors
 * @throws MusterError BACKEND_MODULE_INVALID
 */
export async function importModule<Kind extends ModuleKind>(
  kind: Kind,
  file: ModuleFile,
  field: string,
): Promise<Exported[Kind]> {
  const exported = await exportsOf(file, field);
  const found = exportIn(kind, exported);
  if (found !== undefined) return found;
  const { called, wanted } = KINDS[kind];
  throw new MusterError(
    'BACKEND_MODULE_INVALID',
    `${field}: ${file.module} has no ${called} as its default export or as "${kind}" (${exportedBy(exported)})`,
    `export ${wanted}`,
  );
}

/** The export of a module, with its kind. */
export type Brought = {
  readonly [Kind in ModuleKind]: { readonly kind: Kind; readonly value: Exported[Kind] };
}[ModuleKind];

/**
 * Runs a module of any kind.
 * @throws MusterError BACKEND_MODULE_INVALID
 */
export async function importAny(file: ModuleFile, field: string): Promise<Brought> {
  const exported = await exportsOf(file, field);
  const plugin = exportIn('plugin', exported);
  if (plugin !== undefined) return { kind: 'plugin', value: plugin };
  const preparation = exportIn('preparation', exported);
  if (preparation !== undefined) return { kind: 'preparation', value: preparation };
  return { kind: 'backend', value: await importModule('backend', file, field) };
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
 * A module's `import … from '@muster-dev/muster'` or `'muster'` resolves to this program, wherever the module is: a backend needs no package
 * installed, and both sides share the same classes.
 */
const extension = extname(import.meta.url);
const MUSTER: Readonly<Record<string, string>> = Object.fromEntries(
  ['@muster-dev/muster', 'muster'].flatMap((name) => [
    [name, new URL(`../index${extension}`, import.meta.url).href],
    [`${name}/conformance`, new URL(`../conformance/conformance${extension}`, import.meta.url).href],
  ]),
);

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

const KINDS: {
  readonly [Kind in ModuleKind]: {
    /** Noun for the message about a missing export. */
    readonly called: string;
    /** The part of the configuration that names the module. */
    readonly entry: string;
    readonly wanted: string;
    readonly is: (value: unknown) => value is Exported[Kind];
  };
} = {
  backend: {
    called: 'backend',
    entry: 'the profile',
    wanted: 'a BackendFactory, an object with name and create()',
    is: (value): value is BackendFactory => hasMethods(value, ['create']),
  },
  plugin: {
    called: 'strategies',
    entry: 'its entry',
    wanted: 'an AssignReplicaPlugin, an object with name, strategies() and assignReplica()',
    is: (value): value is AssignReplicaPlugin => hasMethods(value, ['strategies', 'assignReplica']),
  },
  preparation: {
    called: 'preparation',
    entry: 'its entry',
    wanted: 'a PreparationModule, an object with name, validate(), prepare() and objects()',
    is: (value): value is PreparationModule => hasMethods(value, ['validate', 'prepare', 'objects']),
  },
};

/** The export of the kind's name, or the default export; a CommonJS module has both inside of its default export. */
function exportIn<Kind extends ModuleKind>(kind: Kind, exported: unknown): Exported[Kind] | undefined {
  const outer = isObject(exported) ? exported : {};
  const inner = isObject(outer['default']) ? outer['default'] : {};
  return [outer, inner]
    .flatMap((one) => ['default', kind].map((name): unknown => one[name]))
    .find(KINDS[kind].is);
}

const exportedBy = (exported: unknown): string => {
  const names = Object.keys(isObject(exported) ? exported : {});
  return names.length === 0 ? 'it exports nothing' : `its exports: ${names.join(', ')}`;
};

/** Whether an object has these methods, on its prototype as well: it may be an instance of a class. */
const hasMethods = (value: unknown, methods: readonly string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');

/** Checks that the module's own name is that of its profile or entry. @throws MusterError where they differ */
export function checkName(
  kind: ModuleKind,
  found: string,
  name: string,
  { module, field }: { module: string; field: string },
): void {
  if (found === name) return;
  const { entry } = KINDS[kind];
  throw new MusterError(
    'BACKEND_MODULE_INVALID',
    `${field}: ${module} exports the ${kind} ${quoted(found)}, and ${entry} is called ${quoted(name)}`,
    `call ${entry.replace('its', 'the')} ${quoted(found)}, or name the module of ${quoted(name)}`,
  );
}

/** Passes a module the `config` of its entry. @throws the module's own error; Error where the module takes no `config` */
export function configure(
  kind: ModuleKind,
  module: { readonly name: string; configure?(config: JsonObject): void },
  config: JsonObject,
): void {
  if (module.configure !== undefined) module.configure(config);
  else if (Object.keys(config).length > 0)
    throw new Error(`${kind} ${module.name} has no configure(): leave out config`);
}

/** Asks a plugin for an assignment. @throws the plugin's own error */
export const assignBy = (plugin: AssignReplicaPlugin, question: StrategyQuestion): unknown => {
  const { strategy, clusters, spec, status } = question;
  return plugin.assignReplica(strategy, clusters, spec, status);
};

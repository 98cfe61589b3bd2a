import { dirname, resolve } from 'node:path';
import type { JsonObject } from '../../json/json.ts';
import type { BackendFactory } from '../../backends/backend.ts';
import { builtInBackends } from '../../backends/registry.ts';
import type { OperatorConfiguration, SchedulerProfile } from '../../config/configuration.ts';
import type { AssignReplicaPlugin } from '../../fleet/assign/assign-replica-plugin.ts';
import { within } from '../../kube/loop/deadline.ts';
import { messageOf, MusterError } from '../../errors.ts';
import {
  configure,
  checkName,
  doesNotLoad,
  importAny,
  importModule,
  type Brought,
  type ModuleKind,
} from '../../modules/import-module.ts';
import type { PreparerFactory } from '../../preparers/preparer-factory.ts';
import { preparerFactoryOf, type PreparationModule } from '../../preparers/preparation-module.ts';
import { readModule, type ModuleFile, type ModuleSource } from '../../modules/module-file.ts';
import type { ModuleEntry } from '../../modules/supervisor.ts';

/** How long (ms) a module may take to load. */
const LOAD_MS = 10_000;

/** A module that a profile names. */
export interface NamedModule extends ModuleSource {
  /** Name of the profile. */
  readonly name: string;
}

/**
 * The modules of the profiles.
 * @param fileName file that relative paths of modules start from; undefined where there is no file
 */
export function modulesOf(
  profiles: readonly SchedulerProfile[],
  fileName: string | undefined,
): NamedModule[] {
  const folder = dirname(resolve(fileName ?? 'configuration'));
  return profiles.flatMap(({ name, module, integrity }, index) =>
    module === undefined
      ? []
      : { name, module, integrity, folder, field: `scheduler.profiles[${index}].module` },
  );
}

/** The modules of a list of entries. @param path of the list in the configuration */
export function entriesOf(
  entries: OperatorConfiguration['fleet']['assigner']['plugins'],
  path: string,
  fileName: string | undefined,
): ModuleEntry[] {
  const folder = dirname(resolve(fileName ?? 'configuration'));
  return entries.map(({ name, module, integrity, config }, index) => ({
    name,
    source: { module, integrity, folder, field: `${path}[${index}].module` },
    // A configuration file holds nothing but JSON, whatever the type of `config` is.
    config: config as JsonObject,
  }));
}

/**
 * The backends that a configuration may enable: the built-in ones and those of its profiles' modules. Modules run in this
 * process with all its rights, so this is for verbs that a person runs.
 * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY, BACKEND_MODULE_INVALID
 */
export async function backendsOf(modules: readonly NamedModule[]): Promise<readonly BackendFactory[]> {
  const brought: BackendFactory[] = [];
  for (const source of modules) {
    const factory = await loadBackend(source);
    checkName('backend', factory.name, source.name, source);
    brought.push(factory);
  }
  return [...builtInBackends, ...brought];
}

/**
 * The preparations that a configuration names, each configured with its `config`; their modules run as in {@link
 * backendsOf}.
 * @throws MusterError as {@link backendsOf}
 */
export async function preparationsOf(entries: readonly ModuleEntry[]): Promise<readonly PreparerFactory[]> {
  const brought: PreparerFactory[] = [];
  for (const { name, source, config } of entries) {
    const module = await loadPreparation(source);
    checkName('preparation', module.name, name, source);
    configuredModule('preparation', module, config);
    brought.push(preparerFactoryOf(module));
  }
  return brought;
}

/** Passes a module its `config`. @throws MusterError BACKEND_MODULE_INVALID */
export function configuredModule(
  kind: Exclude<ModuleKind, 'backend'>,
  module: AssignReplicaPlugin | PreparationModule,
  config: JsonObject,
): void {
  try {
    configure(kind, module, config);
  } catch (thrown) {
    throw new MusterError(
      'BACKEND_MODULE_INVALID',
      `${kind} ${module.name} refuses its config: ${messageOf(thrown)}`,
      `give --config with the entry of its name in ${LISTS[kind]}, and correct its config`,
    );
  }
}

const LISTS = { plugin: 'fleet.assigner.plugins', preparation: 'hpc.preparations' } as const;

/** @throws MusterError as {@link backendsOf} */
const loadBackend = (source: ModuleSource): Promise<BackendFactory> =>
  loaded(source, (file, field) => importModule('backend', file, field));

/** @throws MusterError as {@link backendsOf} */
export const loadPlugin = (source: ModuleSource): Promise<AssignReplicaPlugin> =>
  loaded(source, (file, field) => importModule('plugin', file, field));

/** @throws MusterError as {@link backendsOf} */
export const loadPreparation = (source: ModuleSource): Promise<PreparationModule> =>
  loaded(source, (file, field) => importModule('preparation', file, field));

/** Loads a module of any kind. @throws MusterError as {@link backendsOf} */
export const loadAny = (source: ModuleSource): Promise<Brought> => loaded(source, importAny);

async function loaded<T>(
  source: ModuleSource,
  load: (file: ModuleFile, field: string) => Promise<T>,
): Promise<T> {
  const { module, field } = source;
  const file = await readModule(source);
  const never = new AbortController().signal;
  return within(module, LOAD_MS, never, () => load(file, field)).catch((thrown: unknown) => {
    throw thrown instanceof MusterError ? thrown : doesNotLoad(module, field, thrown);
  });
}

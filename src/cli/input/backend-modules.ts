import { dirname, resolve } from 'node:path';
import type { JsonObject } from '../../api/json.ts';
import type { BackendFactory } from '../../backends/backend.ts';
import { builtInBackends } from '../../backends/registry.ts';
import type { OperatorConfiguration, SchedulerProfile } from '../../config/configuration.ts';
import type { AssignReplicaPlugin } from '../../fleet/assign/assign-replica-plugin.ts';
import { within } from '../../kube/loop/deadline.ts';
import { MusterError } from '../../errors.ts';
import {
  checkName,
  doesNotLoad,
  importEither,
  importModule,
  importPlugin,
} from '../../modules/import-module.ts';
import { readModule, type ModuleFile, type ModuleSource } from '../../modules/module-file.ts';
import type { PluginEntry } from '../../modules/module-plugin.ts';

/** How long a module may take to load. */
const LOAD_MS = 10_000;

/** What profiles bring along, as it is named. */
export interface NamedModule extends ModuleSource {
  /** Of the profile. */
  readonly name: string;
}

/** @param fileName of the configuration: modules are named relative to it; undefined where there is no file */
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

/** The same of strategies for bindings of a fleet. */
export function pluginsOf(
  plugins: OperatorConfiguration['fleet']['assigner']['plugins'],
  fileName: string | undefined,
): PluginEntry[] {
  const folder = dirname(resolve(fileName ?? 'configuration'));
  return plugins.map(({ name, module, integrity, config }, index) => ({
    name,
    source: { module, integrity, folder, field: `fleet.assigner.plugins[${index}].module` },
    // What came from a file is JSON, whatever its type says.
    config: config as JsonObject,
  }));
}

/**
 * The backends that a configuration may enable: Muster's own, and those that its profiles bring along. A module is run
 * with all rights of this process: for verbs that a person waits for.
 * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY, BACKEND_MODULE_INVALID
 */
export async function backendsOf(modules: readonly NamedModule[]): Promise<readonly BackendFactory[]> {
  const brought: BackendFactory[] = [];
  for (const source of modules) {
    const factory = await loadBackend(source);
    checkName(factory.name, source.name, source);
    brought.push(factory);
  }
  return [...builtInBackends, ...brought];
}

/** @throws MusterError as {@link backendsOf} */
export const loadBackend = (source: ModuleSource): Promise<BackendFactory> => loaded(source, importModule);

/** @throws MusterError as {@link backendsOf} */
export const loadPlugin = (source: ModuleSource): Promise<AssignReplicaPlugin> =>
  loaded(source, importPlugin);

/** A backend or strategies. @throws MusterError as {@link backendsOf} */
export const loadEither = (source: ModuleSource): ReturnType<typeof importEither> =>
  loaded(source, importEither);

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

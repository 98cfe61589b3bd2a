import { dirname, resolve } from 'node:path';
import type { BackendFactory } from '../../backends/backend.ts';
import { builtInBackends } from '../../backends/registry.ts';
import type { SchedulerProfile } from '../../config/configuration.ts';
import { within } from '../../kube/loop/deadline.ts';
import { MusterError } from '../../errors.ts';
import { checkName, doesNotLoad, importModule } from '../../modules/import-module.ts';
import { readModule, type ModuleSource } from '../../modules/module-file.ts';

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
export async function loadBackend(source: ModuleSource): Promise<BackendFactory> {
  const { module, field } = source;
  const file = await readModule(source);
  const never = new AbortController().signal;
  return within(module, LOAD_MS, never, () => importModule(file, field)).catch((thrown: unknown) => {
    throw thrown instanceof MusterError ? thrown : doesNotLoad(module, field, thrown);
  });
}

import type { BackendFactory } from '../backends/backend.ts';
import { ModuleBackend } from './module-backend.ts';
import { readModule, type ModuleSource } from './module-file.ts';
import type { ModuleObserver } from './module-keeper.ts';

/**
 * The backends of modules, each for a process of its own. What is wrong with a file is a person's to mend, and told at
 * once; nothing of it is run before its `init`, and what comes of that keeps nobody else from starting.
 * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY
 */
export async function hostedModules(
  modules: readonly (ModuleSource & { readonly name: string })[],
  observer: ModuleObserver,
): Promise<readonly BackendFactory[]> {
  for (const source of modules) await readModule(source);
  return modules.map((source) => ({
    name: source.name,
    create: (settings) => new ModuleBackend({ name: source.name, source, settings }, observer),
  }));
}

import type { JsonObject } from '../json/json.ts';
import type { ModuleKind } from './import-module.ts';
import type { AssignReplicaPlugin, Question } from '../fleet/assign/assign-replica-plugin.ts';

/** Hands a module the `config` of its entry. @throws what it throws; Error where it takes none */
export function configure(
  kind: ModuleKind,
  module: { readonly name: string; configure?(config: JsonObject): void },
  config: JsonObject,
): void {
  if (module.configure !== undefined) module.configure(config);
  else if (Object.keys(config).length > 0)
    throw new Error(`${kind} ${module.name} has no configure(): leave out config`);
}

/** Asks a plugin. @throws what it throws */
export const answerOf = (plugin: AssignReplicaPlugin, question: Question): unknown => {
  const { strategy, clusters, spec, status } = question;
  return plugin.assignReplica(strategy, clusters, spec, status);
};

import type { JsonObject } from '../api/json.ts';
import type { AssignReplicaPlugin, Question } from '../fleet/assign/assign-replica-plugin.ts';

/** Hands a plugin its `config`. @throws what it throws; Error where it takes none */
export function configure(plugin: AssignReplicaPlugin, config: JsonObject): void {
  if (plugin.configure !== undefined) plugin.configure(config);
  else if (Object.keys(config).length > 0)
    throw new Error(`plugin ${plugin.name} has no configure(): leave out config`);
}

/** Asks a plugin. @throws what it throws */
export const answerOf = (plugin: AssignReplicaPlugin, question: Question): unknown => {
  const { strategy, clusters, spec, status } = question;
  return plugin.assignReplica(strategy, clusters, spec, status);
};

import { type Json, ownString } from '../api/json.ts';
import { type PathFault, error } from './config-fault.ts';

/** Names that are Muster's own. */
const BUILT_IN = ['default', 'gang'];

/** What the schema cannot say of `fleet.assigner.plugins`: two of a name, or one that comes with Muster. */
export function pluginFindings(plugins: Json | undefined): PathFault[] {
  const names = (Array.isArray(plugins) ? (plugins as readonly Json[]) : []).map((one) =>
    ownString(one, 'name'),
  );
  return names.flatMap((name, index) => {
    const path = ['fleet', 'assigner', 'plugins', index, 'name'];
    if (name === undefined) return [];
    if (BUILT_IN.includes(name))
      return [error(path, `"${name}" comes with Muster: give your plugin a name of its own`)];
    return names.indexOf(name) < index
      ? [error(path, 'duplicate plugin: one entry has all strategies of its module')]
      : [];
  });
}

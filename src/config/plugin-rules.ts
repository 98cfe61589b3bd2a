import { type Json, ownString } from '../api/json.ts';
import { type ConfigPath, type PathFault, error } from './config-fault.ts';

/** A list of modules, by the name of what each entry is. */
interface EntryList {
  readonly path: ConfigPath;
  readonly noun: string;
  /** Names that are Muster's own. */
  readonly builtIn: readonly string[];
  /** Why one entry is enough. */
  readonly once: string;
}

export const PLUGINS: EntryList = {
  path: ['fleet', 'assigner', 'plugins'],
  noun: 'plugin',
  builtIn: ['default', 'gang'],
  once: 'one entry has all strategies of its module',
};

export const PREPARATIONS: EntryList = {
  path: ['hpc', 'preparations'],
  noun: 'preparation',
  builtIn: ['flux', 'torch'],
  once: 'an HPCPolicy names one of them',
};

/** What the schema cannot say of such a list: two of a name, or one that comes with Muster. */
export function entryFindings(
  entries: Json | undefined,
  { path, noun, builtIn, once }: EntryList,
): PathFault[] {
  const names = (Array.isArray(entries) ? (entries as readonly Json[]) : []).map((one) =>
    ownString(one, 'name'),
  );
  return names.flatMap((name, index) => {
    const at = [...path, index, 'name'];
    if (name === undefined) return [];
    if (builtIn.includes(name))
      return [error(at, `"${name}" comes with Muster: give your ${noun} a name of its own`)];
    return names.indexOf(name) < index ? [error(at, `duplicate ${noun}: ${once}`)] : [];
  });
}

import { type Json, ownString } from '../json/json.ts';
import { quoted } from '../text/printable.ts';
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

/** What the schema cannot say of such a list: two of a name or of a module, or one that comes with Muster. */
export function entryFindings(
  entries: Json | undefined,
  { path, noun, builtIn, once }: EntryList,
): PathFault[] {
  const list = Array.isArray(entries) ? (entries as readonly Json[]) : [];
  const names = list.map((one) => ownString(one, 'name'));
  const modules = list.map((one) => ownString(one, 'module'));
  return names.flatMap((name, index) => {
    const at = [...path, index, 'name'];
    if (name === undefined) return [];
    if (builtIn.includes(name))
      return [error(at, `${quoted(name)} comes with Muster: give your ${noun} a name of its own`)];
    if (names.indexOf(name) < index) return [error(at, `duplicate ${noun}: ${once}`)];
    const module = modules[index];
    // Of several with one module at most one would run, and nothing would say so before somebody needs another.
    return module !== undefined && modules.indexOf(module) < index
      ? [error([...path, index, 'module'], `duplicate module: it has one name, that of one ${noun}`)]
      : [];
  });
}

import { type Json, ownString } from '../json/json.ts';
import { quoted } from '../text/printable.ts';
import { type ConfigPath, type PathFault, error } from './config-fault.ts';

/** A list of modules in the configuration, with the noun for its entries. */
interface EntryList {
  readonly path: ConfigPath;
  readonly noun: string;
  /** Names of Muster's own plugins or preparations. */
  readonly builtIn: readonly string[];
  /** Why one entry for each module is enough. */
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

/** Faults that the schema cannot express: two entries with one name or one module, or a built-in name. */
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
    // A module has one name, so at most one of several entries would load, and the others would fail only when they are
    // used.
    return module !== undefined && modules.indexOf(module) < index
      ? [error([...path, index, 'module'], `duplicate module: it has one name, that of one ${noun}`)]
      : [];
  });
}

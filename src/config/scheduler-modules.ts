import { isLabelValue } from '../api/name-syntax.ts';
import { type Finding, error } from './config-fault.ts';
import type { WrittenProfile } from './schedulers.ts';

const place = (index: number, key: keyof WrittenProfile): Finding['path'] => [
  'scheduler',
  'profiles',
  index,
  key,
];

/** What is wrong with profiles that bring their backend along, as far as the document alone shows. */
export const checkModules = (profiles: readonly WrittenProfile[], builtIn: readonly string[]): Finding[] =>
  profiles.flatMap(({ name = '', module, integrity }, index) => {
    if (module === undefined) {
      if (integrity === undefined) return [];
      return [error(place(index, 'integrity'), 'is the hash of a module: add module, or leave it out')];
    }
    if (builtIn.includes(name)) {
      return [
        error(
          place(index, 'module'),
          `"${name}" comes with Muster: leave out module, or give your backend a name of its own`,
        ),
      ];
    }
    if (name === '' || isLabelValue(name)) return [];
    return [
      error(
        place(index, 'name'),
        `must be a label value, since gangs name their scheduler in a label: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends, not ${JSON.stringify(name)}`,
      ),
    ];
  });

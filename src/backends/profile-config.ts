import { isObject, type Json, type JsonObject, own } from '../json/json.ts';
import { suggestion } from '../text/nearest-key.ts';
import { printable, quoted } from '../text/printable.ts';

/** Characters of an unknown key that a message shows: more than any known key has. */
const MAX_KEY = 80;

interface Kinds {
  readonly string: string;
  readonly boolean: boolean;
  readonly integer: number;
  readonly object: JsonObject;
}

/** A fault at one place of a profile's `config`. */
export interface ProfileConfigFault {
  /** Path from the profile or the top of the document: `config.queue`, `config.tiers["rack"]`. */
  readonly field: string;
  readonly message: string;
}

/** A profile's `config` is wrong, so that no backend can be created from it. */
export class ProfileConfigError extends Error {
  override readonly name = 'ProfileConfigError';
  readonly faults: readonly ProfileConfigFault[];

  constructor(faults: readonly ProfileConfigFault[]) {
    super(faults.map(({ field, message }) => `${field}: ${message}`).join('; '));
    this.faults = faults;
  }
}

/** One key that a backend reads from `scheduler.profiles[].config`. */
export type ProfileSetting = {
  readonly [K in keyof Kinds]: {
    readonly type: K;
    /** Absent: no default, and the backend reads undefined. */
    readonly default?: Kinds[K];
    /** For the operator; the same text as in the table of the backend's page. */
    readonly description: string;
    /** The fault of a value of the right type, beginning with "must"; undefined when there is none. */
    readonly check?: (value: Kinds[K]) => string | undefined;
  };
}[keyof Kinds];

export type ProfileSettings = Readonly<Record<string, ProfileSetting>>;

/** The values of the settings: defined for every key with a default, possibly undefined for others. */
export type ProfileConfig<S extends ProfileSettings> = {
  readonly [K in keyof S]: S[K] extends { readonly default: unknown }
    ? Kinds[S[K]['type']]
    : Kinds[S[K]['type']] | undefined;
};

/**
 * Reads a profile's `config` by the backend's table of settings. `null` counts as absent, as in YAML.
 * @throws ProfileConfigError that names every unknown or wrong key, its rule, and the way out
 */
export function readProfileConfig<const S extends ProfileSettings>(
  config: JsonObject,
  settings: S,
): ProfileConfig<S> {
  const wrong: ProfileConfigFault[] = [];
  const values: Record<string, unknown> = {};
  for (const key of Object.keys(config)) {
    if (Object.hasOwn(settings, key)) continue;
    const keys = Object.keys(settings);
    const known = keys.length === 0 ? 'this backend has none' : `keys: ${keys.join(', ')}`;
    const field = `config.${printable(key, MAX_KEY)}`;
    wrong.push({ field, message: `unknown key${suggestion(key, keys)}; ${known}` });
  }
  for (const [key, setting] of Object.entries(settings)) {
    const given = own(config, key) ?? setting.default;
    values[key] = given;
    const fault = given === undefined ? undefined : faultOf(given, setting);
    if (fault !== undefined)
      wrong.push({ field: `config.${key}`, message: `${fault}, not ${quoted(given)}` });
  }
  if (wrong.length > 0) throw new ProfileConfigError(wrong);
  return values as ProfileConfig<S>;
}

function faultOf(given: Json, setting: ProfileSetting): string | undefined {
  switch (setting.type) {
    case 'string':
      return typeof given === 'string' ? setting.check?.(given) : 'must be a string';
    case 'boolean':
      return typeof given === 'boolean' ? setting.check?.(given) : 'must be true or false';
    case 'integer':
      return Number.isInteger(given) ? setting.check?.(given as number) : 'must be a whole number';
    case 'object':
      return isObject(given) ? setting.check?.(given) : 'must be a map of keys to values';
  }
}

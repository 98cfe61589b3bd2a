import { isObject, type Json, type JsonObject, own } from '../json/json.ts';
import { suggestion } from '../text/nearest-key.ts';
import { printable, quoted } from '../text/printable.ts';

/** Of a key that is not known: long enough for any that is. */
const MAX_KEY = 80;

interface Kinds {
  readonly string: string;
  readonly boolean: boolean;
  readonly integer: number;
  readonly object: JsonObject;
}

/** What is wrong with one place of a profile's `config`. */
export interface ProfileConfigFault {
  /** `config.queue`, `config.tiers["rack"]`, or what else is at fault, from the profile or the top of the document. */
  readonly field: string;
  readonly message: string;
}

/** A profile's `config` that a backend cannot be made from. */
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
    /** Absent: there is none, and the backend reads undefined. */
    readonly default?: Kinds[K];
    /** For the operator, as it stands in the table of the backend's page. */
    readonly description: string;
    /** What is wrong with a value of the right type, beginning with "must"; undefined where nothing is. */
    readonly check?: (value: Kinds[K]) => string | undefined;
  };
}[keyof Kinds];

export type ProfileSettings = Readonly<Record<string, ProfileSetting>>;

/** What the settings come to: a value for every key that has a default, else perhaps undefined. */
export type ProfileConfig<S extends ProfileSettings> = {
  readonly [K in keyof S]: S[K] extends { readonly default: unknown }
    ? Kinds[S[K]['type']]
    : Kinds[S[K]['type']] | undefined;
};

/**
 * A profile's `config` by the backend's own table of settings. `null` counts as not given, as in YAML.
 * @throws ProfileConfigError that names every key that is unknown or wrong, its rule, and the way out
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

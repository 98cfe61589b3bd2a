import { type Json, type JsonObject, isObject, own } from '../json/json.ts';
import { suggestion } from '../text/nearest-key.ts';
import { printable } from '../text/printable.ts';
import { type Setting, settings } from './settings.ts';

/** A value for one setting from a flag or an environment variable. */
export interface Override {
  readonly setting: Setting;
  readonly value: Json;
  /** `MUSTER_LOG_LEVEL` or `command line`. */
  readonly origin: string;
}

/** Variable with the path of the configuration file; the command line reads it, it is no setting. */
export const CONFIG_FILE_VARIABLE = 'MUSTER_CONFIG';
/** Variables of the command line and of the test control plane, which are neither settings nor mistakes. */
const OTHER_VARIABLES = new Set([CONFIG_FILE_VARIABLE, 'MUSTER_DEBUG', 'MUSTER_CONTROL_PLANE_DIR']);

const byVariable = new Map(
  settings.flatMap((setting) =>
    setting.environment === undefined ? [] : [[setting.environment, setting] as const],
  ),
);
const byPath = new Map(settings.map((setting) => [setting.path, setting]));

/**
 * Kubernetes sets variables with the address of every Service of the namespace: for one called `muster`,
 * MUSTER_SERVICE_HOST, MUSTER_SERVICE_PORT_HTTPS, MUSTER_PORT and MUSTER_PORT_443_TCP_ADDR; for one called
 * `muster-server-metrics` even MUSTER_SERVER_METRICS_PORT, which is a setting’s name. That one is recognized by a value such
 * as `tcp://10.0.0.1:443`.
 */
const SERVICE_VARIABLE =
  /^MUSTER_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

const isServiceVariable = (name: string, value: string): boolean =>
  SERVICE_VARIABLE.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value));

/** Converts text to the setting's type. Text that does not fit stays text, and the schema reports it. */
function coerce(setting: Setting, value: unknown): Json {
  if (typeof value !== 'string') return value as Json;
  const { type } = setting;
  if (type === 'integer' || type === 'number') {
    return /^-?\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : value;
  }
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  if (type !== 'strings') return value;
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Origin of values from flags. */
export const COMMAND_LINE = 'command line';

/** The settings in `env`, and a warning for each unknown MUSTER_ variable. An empty variable counts as unset. */
export function environmentOverrides(env: Readonly<Record<string, string | undefined>>): {
  readonly overrides: readonly Override[];
  readonly unknown: readonly { readonly variable: string; readonly message: string }[];
} {
  const overrides: Override[] = [];
  const unknown: { variable: string; message: string }[] = [];
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith('MUSTER_') || value === undefined || value === '') continue;
    if (OTHER_VARIABLES.has(variable) || isServiceVariable(variable, value)) continue;
    const setting = byVariable.get(variable);
    if (setting !== undefined) overrides.push({ setting, value: coerce(setting, value), origin: variable });
    else {
      const hint = suggestion(variable, [...byVariable.keys(), CONFIG_FILE_VARIABLE]);
      unknown.push({ variable, message: `unknown environment variable ${printable(variable, 80)}${hint}` });
    }
  }
  return { overrides, unknown };
}

/**
 * The settings from command-line flags, by path; undefined counts as unset.
 * @throws RangeError for an unknown path, which is a defect of the command line’s code, not of the user’s input
 */
export function flagOverrides(flags: Readonly<Record<string, unknown>>): readonly Override[] {
  return Object.entries(flags).flatMap(([path, value]) => {
    if (value === undefined) return [];
    const setting = byPath.get(path);
    if (setting === undefined || path.includes('[]')) throw new RangeError(`no setting is called "${path}"`);
    return [{ setting, value: coerce(setting, value), origin: COMMAND_LINE }];
  });
}

/** `document` with one value set. A parent that is no mapping stays: the schema reports it. */
function withValue(document: JsonObject, [key, ...rest]: readonly string[], value: Json): JsonObject {
  if (key === undefined) return document;
  if (rest.length === 0) return { ...document, [key]: value };
  const inner = own(document, key) ?? {};
  return isObject(inner) ? { ...document, [key]: withValue(inner, rest, value) } : document;
}

function withoutDefaultProfile(document: JsonObject): JsonObject {
  const scheduler = own(document, 'scheduler');
  if (!isObject(scheduler)) return document;
  const kept = Object.entries(scheduler).filter(([key]) => key !== 'defaultProfileName');
  return { ...document, scheduler: Object.fromEntries(kept) };
}

/**
 * `document` with `overrides` applied in order, so that later ones win. The short form `schedulerName` sets the default
 * profile, so it replaces a `scheduler.defaultProfileName` from a source of lower precedence.
 */
export function applyOverrides(document: JsonObject, overrides: readonly Override[]): JsonObject {
  return overrides.reduce((merged, { setting, value }) => {
    const base = setting.path === 'schedulerName' && value !== '' ? withoutDefaultProfile(merged) : merged;
    return withValue(base, setting.keys, value);
  }, document);
}

import { fault, keyed, type Fault } from '../api/fault.ts';
import { asObject, isObject, own, ownString, type Json, type JsonObject } from '../api/json.ts';
import { didYouMean } from '../api/nearest-key.ts';
import { fluxDefaults, fluxSettingRows, type FluxSettings, type SettingRow } from './flux-settings.ts';
import { TORCH_FIELDS, torchSettings, type TorchSettings } from './torch-settings.ts';

/** An HPCPolicy: how the Pods of the gangs that name it are prepared. One of the parts is there. */
export interface HpcPolicy {
  readonly namespace: string;
  readonly name: string;
  readonly flux: FluxSettings | undefined;
  readonly torch: TorchSettings | undefined;
}

/**
 * An HPCPolicy from JSON, with a fault for everything in it that is unknown or not so; what could not be read has its
 * default, so that one answer names every fault.
 */
export function parseHpcPolicy(
  object: JsonObject,
  namespace: string,
): { policy: HpcPolicy; faults: Fault[] } {
  const faults: Fault[] = [];
  const spec = objectAt(own(object, 'spec'), 'spec', ['hpc', 'torch'], faults);
  const hpc = objectAt(own(spec, 'hpc'), 'spec.hpc', ['manager', 'settings'], faults);
  const torch = objectAt(own(spec, 'torch'), 'spec.torch', TORCH_FIELDS, faults);
  if (hpc === undefined && torch === undefined && faults.length === 0) {
    faults.push(fault('HpcPolicyEmpty', 'spec'));
  }
  // Flux gives every task the environment of the first Pod, and so its rank.
  if (hpc !== undefined && torch !== undefined) faults.push(fault('HpcPolicyTwofold', 'spec.torch'));
  const policy = {
    namespace,
    name: ownString(own(object, 'metadata'), 'name') ?? '',
    flux: hpc && fluxOf(hpc, faults),
    torch: torch && torchSettings(torch, faults),
  };
  return { policy, faults };
}

function fluxOf(hpc: JsonObject, faults: Fault[]): FluxSettings {
  const manager = own(hpc, 'manager') ?? 'flux';
  if (manager !== 'flux') {
    faults.push(fault('HpcManagerUnknown', 'spec.hpc.manager', { value: manager }));
    return fluxDefaults;
  }
  const path = 'spec.hpc.settings';
  const written = objectAt(own(hpc, 'settings'), path, undefined, faults) ?? {};
  const set: Record<string, unknown> = {};
  for (const key of Object.keys(written)) {
    const value = written[key];
    const row = Object.hasOwn(fluxSettingRows, key) ? fluxSettingRows[key] : undefined;
    if (row === undefined) {
      const detail = didYouMean(key, Object.keys(fluxSettingRows));
      faults.push(fault('HpcSettingUnknown', keyed(path, key), { detail }));
    } else if (typeof value !== 'string') {
      faults.push(fault('FieldType', keyed(path, key), { value, detail: 'a string is needed: quote it' }));
    } else {
      const read = row.read(value);
      if (read === undefined) faults.push(invalid(keyed(path, key), value, row.form));
      else set[row.field] = read;
    }
  }
  return { ...fluxDefaults, ...set };
}

const invalid = (path: string, value: string, form: string): Fault =>
  fault('HpcSettingInvalid', path, { value, detail: `must be ${form}` });

/**
 * `settings` with the variables of the runner container that go before them, as Kubeflow's users know them; the very same
 * where there is none. Only those
 * with a literal value count; of two of one name the later one holds, as in the container.
 * @param path of `env`
 */
export function withEnvironment(
  settings: FluxSettings,
  environment: readonly Json[],
  path: string,
): { settings: FluxSettings; faults: Fault[] } {
  const places = new Map<string, number>();
  for (let index = 0; index < environment.length; index += 1) {
    const name = asObject(environment[index])?.['name'];
    if (typeof name === 'string' && VARIABLES.has(name)) places.set(name, index);
  }
  const faults: Fault[] = [];
  if (places.size === 0) return { settings, faults };
  const set: Record<string, unknown> = {};
  for (const [name, row] of VARIABLES) {
    const index = places.get(name) ?? -1;
    const value = ownString(environment[index], 'value');
    if (value === undefined || value === '') continue;
    const read = row.read(value);
    if (read === undefined) faults.push(invalid(`${path}[${index}].value`, value, row.form));
    else set[row.field] = read;
  }
  return { settings: { ...settings, ...set }, faults };
}

const VARIABLES: ReadonlyMap<string, SettingRow> = new Map(
  Object.values(fluxSettingRows).flatMap((row) =>
    row.environment === undefined ? [] : [[row.environment, row]],
  ),
);

/** The object at `path`, undefined where there is none; `known`: all keys that it may have. Null counts as absent. */
function objectAt(
  value: Json | undefined,
  path: string,
  known: readonly string[] | undefined,
  faults: Fault[],
): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) {
    faults.push(fault('FieldType', path, { value, detail: 'an object is needed' }));
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (known === undefined || known.includes(key)) continue;
    faults.push(fault('HpcFieldUnknown', `${path}.${key}`, { detail: didYouMean(key, known) }));
  }
  return value;
}

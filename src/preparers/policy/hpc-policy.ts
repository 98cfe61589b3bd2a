import { fault, keyed, type Fault } from '../../api/fault.ts';
import { FaultReader } from '../../api/fault-reader.ts';
import { asObject, own, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { didYouMean } from '../../text/nearest-key.ts';
import { settingMeant } from '../flux/meant-setting.ts';
import { fluxDefaults, fluxSettingRows, type FluxSettings, type SettingRow } from '../flux/settings.ts';
import { TORCH_FIELDS, torchSettings, type TorchSettings } from '../torch/settings.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { ANNOTATION_HPC_POLICY } from '../../api/names.ts';

/** An HPCPolicy: how Pods of the gangs that name it are prepared. One of `flux`, `torch` and `managed` is set. */
export interface HpcPolicy {
  readonly namespace: string;
  readonly name: string;
  readonly flux: FluxSettings | undefined;
  readonly torch: TorchSettings | undefined;
  /** Settings for a third party's workload manager. */
  readonly managed?: ManagedSettings | undefined;
}

/** `spec.hpc.settings` as text. */
export type ManagerSettings = Readonly<Record<string, string>>;

/** Settings for a third party's workload manager, which validates them itself. */
export interface ManagedSettings {
  readonly manager: string;
  readonly settings: ManagerSettings;
}

/**
 * Parses an HPCPolicy, with a fault for every unknown or wrong field. A field with a fault gets its default, so that one
 * answer names every fault.
 * @param managers known managers besides Flux; `any` when only the process that prepares the Pods knows them
 */
export function parseHpcPolicy(
  object: JsonObject,
  namespace: string,
  managers: readonly string[] | 'any' = [],
): { policy: HpcPolicy; faults: Fault[] } {
  const read = new FaultReader();
  const { faults } = read;
  const spec = objectAt(own(object, 'spec'), 'spec', ['hpc', 'torch'], read);
  const hpc = objectAt(own(spec, 'hpc'), 'spec.hpc', ['manager', 'settings'], read);
  const torch = objectAt(own(spec, 'torch'), 'spec.torch', TORCH_FIELDS, read);
  if (hpc === undefined && torch === undefined && faults.length === 0) {
    faults.push(fault('HpcPolicyEmpty', 'spec'));
  }
  // Flux passes the environment of the first Pod to every task, so every task would get the first Pod's rank.
  if (hpc !== undefined && torch !== undefined) faults.push(fault('HpcPolicyTwofold', 'spec.torch'));
  const policy = {
    namespace,
    name: ownString(own(object, 'metadata'), 'name') ?? '',
    ...(hpc && managerOf(hpc, managers, read)),
    torch: torch && torchSettings(torch, faults),
  };
  return { policy: { flux: undefined, ...policy }, faults };
}

const FLUX = 'flux';
const MANAGER_FIELD = 'spec.hpc.manager';
const SETTINGS_FIELD = 'spec.hpc.settings';

/** Reads the manager. An unknown one is a fault and is read as Flux. */
function managerOf(
  hpc: JsonObject,
  managers: readonly string[] | 'any',
  read: FaultReader,
): Pick<HpcPolicy, 'flux' | 'managed'> {
  const manager = own(hpc, 'manager') ?? FLUX;
  if (manager === FLUX) return { flux: fluxOf(hpc, read) };
  if (typeof manager === 'string' && (managers === 'any' || managers.includes(manager)))
    return { flux: undefined, managed: { manager, settings: textsOf(hpc, read) } };
  const known = [FLUX, ...(managers === 'any' ? [] : managers)];
  const meant = typeof manager === 'string' ? didYouMean(manager, known) : undefined;
  const detail = [`known: ${known.join(', ')}`, meant].filter((part) => part !== undefined).join('; ');
  read.faults.push(fault('HpcManagerUnknown', MANAGER_FIELD, { value: manager, detail }));
  return { flux: fluxDefaults };
}

const settingsOf = (hpc: JsonObject, read: FaultReader): JsonObject =>
  read.optional(own(hpc, 'settings'), SETTINGS_FIELD, (item) => item) ?? {};

function textsOf(hpc: JsonObject, read: FaultReader): ManagerSettings {
  const written = settingsOf(hpc, read);
  return Object.fromEntries(
    Object.entries(written).flatMap(([key, value]) => {
      if (typeof value === 'string') return [[key, value]];
      read.faults.push(notText(key, value));
      return [];
    }),
  );
}

const notText = (key: string, value: Json | undefined): Fault =>
  fault('FieldType', keyed(SETTINGS_FIELD, key), { value, detail: 'a string is needed: quote it' });

function fluxOf(hpc: JsonObject, read: FaultReader): FluxSettings {
  const path = SETTINGS_FIELD;
  const written = settingsOf(hpc, read);
  const set: Record<string, unknown> = {};
  for (const key of Object.keys(written)) {
    const value = written[key];
    const row = Object.hasOwn(fluxSettingRows, key) ? fluxSettingRows[key] : undefined;
    if (row === undefined) {
      const detail = settingMeant(key);
      read.faults.push(fault('HpcSettingUnknown', keyed(path, key), { detail }));
    } else if (typeof value !== 'string') {
      read.faults.push(notText(key, value));
    } else {
      const setting = row.read(value);
      if (setting === undefined) read.faults.push(invalid(keyed(path, key), value, row.form));
      else set[row.field] = setting;
    }
  }
  return { ...fluxDefaults, ...set };
}

const invalid = (path: string, value: string, form: string): Fault =>
  fault('HpcSettingInvalid', path, { value, detail: `must be ${form}` });

/**
 * `settings` overridden by variables of the runner container, which Kubeflow's users know; the same object when there are
 * none. Only variables with a literal value count; of two with the same name the later one is used, as in the container.
 * @param path of `env`
 */
export function withEnvironment(
  settings: FluxSettings,
  environment: readonly Json[],
  path: string,
): { settings: FluxSettings; faults: Fault[] } {
  let places: Map<string, number> | undefined;
  for (let index = 0; index < environment.length; index += 1) {
    const name = asObject(environment[index])?.['name'];
    if (typeof name === 'string' && VARIABLES.has(name))
      (places ??= new Map<string, number>()).set(name, index);
  }
  const faults: Fault[] = [];
  if (places === undefined) return { settings, faults };
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

/** The object at `path`, undefined when there is none. @param known all keys that it may have */
function objectAt(
  value: Json | undefined,
  path: string,
  known: readonly string[],
  read: FaultReader,
): JsonObject | undefined {
  const found = read.optional(value, path, (item) => item);
  for (const key of Object.keys(found ?? {})) {
    if (known.includes(key)) continue;
    read.faults.push(fault('HpcFieldUnknown', `${path}.${key}`, { detail: didYouMean(key, known) }));
  }
  return found;
}

export const HPC_POLICY_FIELD = keyed('metadata.annotations', ANNOTATION_HPC_POLICY);

/** Name of the HPCPolicy of a gang, in the gang's namespace; undefined for a gang without one. */
export const policyNameOf = ({ annotations }: Pick<PodGang, 'annotations'>): string | undefined =>
  annotations.get(ANNOTATION_HPC_POLICY);

/** @param elsewhere namespaces with a policy of this name */
export function policyMissing(name: string, elsewhere: readonly string[]): Fault {
  const detail = elsewhere.length === 0 ? {} : { detail: `there is one in ${elsewhere.join(', ')}` };
  return fault('HpcPolicyMissing', HPC_POLICY_FIELD, { value: name, ...detail });
}

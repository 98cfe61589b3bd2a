import type { BackendFactory } from '../../backends/backend.ts';
import { supportedSchedulers, withoutGangPreemption } from '../../backends/registry.ts';
import type { ConfigFault } from '../../config/config-fault.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import { loadConfiguration, readConfigurationFile } from '../../config/load.ts';
import { CONFIG_FILE_VARIABLE } from '../../config/overrides.ts';
import type { ModuleEntry } from '../../modules/supervisor.ts';
import type { PreparerFactory } from '../../preparers/preparer-factory.ts';
import { backendsOf, entriesOf, modulesOf, preparationsOf, type NamedModule } from './backend-modules.ts';
import { gangKinds } from '../../workloads/kinds.ts';

interface Given {
  /** As the flag names it. */
  readonly file?: string | undefined;
  /** The content, where it is no file of this machine. */
  readonly text?: string | undefined;
  /** Of the process, where `$MUSTER_CONFIG` and `MUSTER_*` count. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, unknown>>;
  /** A backend that is there without being named in the configuration. */
  readonly brought?: BackendFactory | undefined;
}

/** What a verb goes by. */
export interface VerbConfiguration {
  readonly configuration: OperatorConfiguration;
  readonly warnings: readonly ConfigFault[];
  /** undefined where there is none, and the defaults hold. */
  readonly file: string | undefined;
  /** Those that its profiles name. */
  readonly modules: readonly NamedModule[];
  /** Those that bring strategies for bindings of a fleet. */
  readonly plugins: readonly ModuleEntry[];
  /** Those that bring a workload manager for HPCPolicies. */
  readonly preparations: readonly ModuleEntry[];
  /** Muster's own backends and those that profiles bring along, whose modules are run by this. */
  readonly factories: () => Promise<readonly BackendFactory[]>;
  /** What HPCPolicies may ask for beside what comes with Muster; the modules are run by this. */
  readonly prepared: () => Promise<readonly PreparerFactory[]>;
}

/**
 * The configuration, for every verb in the same way: flag over environment over file over default.
 * @throws MusterError CONFIG_UNREADABLE, CONFIG_INVALID, USAGE where a flag is what is wrong
 */
export function verbConfiguration({
  text,
  env = {},
  flags = {},
  brought,
  ...given
}: Given): VerbConfiguration {
  const file = given.file ?? (env[CONFIG_FILE_VARIABLE] || undefined);
  const { names } = supportedSchedulers();
  const { configuration, warnings } = loadConfiguration({
    ...(file === undefined ? {} : { text: text ?? readConfigurationFile(file), fileName: file }),
    env,
    flags,
    supportedSchedulers: brought === undefined ? names : [...names, brought.name],
    actsFor: withoutGangPreemption(),
    workloads: gangKinds,
  });
  const modules = modulesOf(configuration.schedulers.profiles, file);
  const preparations = entriesOf(configuration.hpc.preparations, 'hpc.preparations', file);
  return {
    configuration,
    warnings,
    file,
    modules,
    plugins: entriesOf(configuration.fleet.assigner.plugins, 'fleet.assigner.plugins', file),
    preparations,
    prepared: () => preparationsOf(preparations),
    factories: () => backendsOf(modules),
  };
}

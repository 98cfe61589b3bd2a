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
  /** The file that `--config` names. */
  readonly file?: string | undefined;
  /** Content of a configuration that is not in a local file, such as a ConfigMap's. */
  readonly text?: string | undefined;
  /** Environment of the process, where `$MUSTER_CONFIG` and `MUSTER_*` apply. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, unknown>>;
  /** A backend that is available without being named in the configuration. */
  readonly brought?: BackendFactory | undefined;
}

/** The configuration of a verb. */
export interface VerbConfiguration {
  readonly configuration: OperatorConfiguration;
  readonly warnings: readonly ConfigFault[];
  /** Path of the file; undefined where there is none, and the defaults apply. */
  readonly file: string | undefined;
  /** Modules of the profiles. */
  readonly modules: readonly NamedModule[];
  /** Modules with strategies for a fleet's bindings. */
  readonly plugins: readonly ModuleEntry[];
  /** Modules with preparations for HPCPolicies. */
  readonly preparations: readonly ModuleEntry[];
  /** The built-in backends and those of profiles' modules; the call runs these modules. */
  readonly factories: () => Promise<readonly BackendFactory[]>;
  /** Preparers of the configuration's modules, for HPCPolicies; the call runs these modules. */
  readonly prepared: () => Promise<readonly PreparerFactory[]>;
}

/**
 * Reads the configuration in the same way for every verb: flag over environment over file over default.
 * @throws MusterError CONFIG_UNREADABLE, CONFIG_INVALID, USAGE where a flag is wrong
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

import { BackendRegistry, builtInBackends } from '../../backends/registry.ts';
import { EVERY_GANG } from '../../gang/gang-selection.ts';
import type { Judge } from '../../status/gang-status.ts';
import { verbConfiguration } from '../input/configured.ts';
import { neverEvictedFrom, policyFrom } from '../input/policy.ts';
import type { CliIo } from '../output/io.ts';

export interface ConfiguredJudge extends Omit<Judge, 'view'> {
  /** Namespaces from which the plan evicts nothing. */
  readonly exemptNamespaces: readonly string[];
  /** A registry of the same backends that has asked nobody yet: what they answered one user is no answer for another. */
  freshRegistry(): BackendRegistry;
}

/** The judge by the configuration; without one it has every backend, and no known default. */
export async function configuredJudge(
  config: string | undefined,
  io: Pick<CliIo, 'env'>,
): Promise<ConfiguredJudge> {
  const { file, configuration, factories } = verbConfiguration({ file: config, env: io.env });
  const exemptNamespaces = neverEvictedFrom(configuration);
  if (file === undefined) {
    const profiles = builtInBackends.map((factory) => ({ name: factory.name }));
    const freshRegistry = (): BackendRegistry => new BackendRegistry(profiles, 'default-scheduler');
    return {
      ...{ registry: freshRegistry(), freshRegistry, exemptNamespaces },
      ...{ selectors: EVERY_GANG, defaultBackend: '(default)' },
    };
  }
  const known = { factories: await factories() };
  const { registry, gangKinds } = policyFrom(configuration, known);
  return {
    ...{ registry, gangKinds },
    freshRegistry: () => policyFrom(configuration, known).registry,
    selectors: configuration.controllers.podGang,
    exemptNamespaces,
  };
}

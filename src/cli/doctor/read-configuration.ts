import { ownObject, ownString, type JsonObject } from '../../json/json.ts';
import type { BackendFactory } from '../../backends/backend.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import { readConfigurationFile } from '../../config/load.ts';
import { messageOf } from '../../errors.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Resource } from '../../kube/client/resources.ts';
import { verbConfiguration } from '../input/configured.ts';
import { policyFrom } from '../input/policy.ts';
import { environmentOf, mountedConfigMap } from './program-objects.ts';
import { saying, attempt, RIGHTS_FIX, valueOf, type Diagnosis, type Read } from './diagnosis.ts';

const CONFIG_MAPS: Resource = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

/** The configuration that the installed Muster runs with. */
export interface InstalledConfiguration {
  readonly configuration: OperatorConfiguration;
  readonly registry: BackendRegistry;
  /** The enabled backends, in the order of the configuration. */
  readonly factories: readonly BackendFactory[];
  readonly finding: Diagnosis;
}

/**
 * Reads the named file; else the ConfigMap that the Deployment mounts, with its environment; else the defaults.
 * @throws MusterError for a named file with an error
 */
export async function readConfigured(
  client: KubeClient,
  file: string | undefined,
  deployment: Read<JsonObject>,
  namespace: string,
): Promise<InstalledConfiguration> {
  const say = saying('program', 'configuration');
  if (file !== undefined) {
    return { ...(await configuredBy(readConfigurationFile(file), file)), finding: say.ok(`by ${file}`) };
  }
  const name = mountedConfigMap(valueOf(deployment));
  if (name === undefined) {
    const finding = say.notChecked(
      'no configuration is known: the defaults are taken for it',
      'name the file that Muster runs with as --config',
    );
    return { ...(await configuredBy(undefined, undefined)), finding };
  }
  const where = `ConfigMap ${namespace}/${name}`;
  const read = await attempt(() => client.get<JsonObject>({ resource: CONFIG_MAPS, namespace, name }));
  const defaults = await configuredBy(undefined, undefined);
  if (read.state === 'unread') return { ...defaults, finding: say.notChecked(read.reason, RIGHTS_FIX) };
  const text = ownString(ownObject(valueOf(read), 'data'), 'config.yaml');
  if (text === undefined) {
    const finding = say.problem(
      `${where}, which the Deployment mounts, has no config.yaml: Pods of Muster do not start`,
      'kubectl apply -k manifests/base',
    );
    return { ...defaults, finding };
  }
  try {
    const env = environmentOf(valueOf(deployment));
    return { ...(await configuredBy(text, where, env)), finding: say.ok(`by ${where}`) };
  } catch (thrown) {
    const finding = text.includes('module:')
      ? say.notChecked(
          `${where}: ${messageOf(thrown)}; the defaults are taken for it`,
          'a module of a backend is not in the ConfigMap: name a file beside it as --config',
        )
      : say.problem(
          `${where} is wrong: ${messageOf(thrown)}`,
          'muster validate -f says where, for the same text',
        );
    return { ...defaults, finding };
  }
}

async function configuredBy(
  text: string | undefined,
  fileName: string | undefined,
  env: Readonly<Record<string, string>> = {},
): Promise<Omit<InstalledConfiguration, 'finding'>> {
  const { configuration, ...given } = verbConfiguration({ text, file: fileName, env });
  const known = await given.factories();
  const { registry } = policyFrom(configuration, { factories: known });
  const factories = registry.enabled.flatMap((name) => known.find((one) => one.name === name) ?? []);
  return { configuration, registry, factories };
}

/** Reads the command line of a control plane program from its Pod. */
import { ownList, ownObject, ownString, type JsonObject, type Json } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import { gatedReleaseOf, minorOf, type FeatureGate, type GatedRelease } from '../../backends/native-gates.ts';

export interface ControlPlaneProgram {
  readonly component: string;
  /** Name of the program's Pod. */
  readonly pod: string;
  /** Minor version such as `1.37`, from the tag of the image; from the API server's version where the tag has none. */
  readonly minor: string | undefined;
  readonly release: GatedRelease | undefined;
  /** Whether `--feature-gates` names the gate, on or off. */
  names(gate: string): boolean;
  isOn(gate: Pick<FeatureGate, 'name' | 'stage'>): boolean;
  /** Whether `--runtime-config` has the API server serve a version of `scheduling.k8s.io`, which is off by default. */
  serves(version: string): boolean;
  /** Whether `--runtime-config` names the version itself, not only its stage. */
  servesByName(version: string): boolean;
}

/** The component of a control plane Pod, such as `kube-apiserver`. */
export const componentOf = (pod: JsonObject): string =>
  ownString(ownObject(ownObject(pod, 'metadata'), 'labels'), 'component') ?? '';

export function programOf(pod: JsonObject, serverVersion: string): ControlPlaneProgram {
  const containers = ownList(ownObject(pod, 'spec'), 'containers') ?? [];
  const words = containers
    .flatMap((one) => [...(ownList(one, 'command') ?? []), ...(ownList(one, 'args') ?? [])])
    .filter((one) => typeof one === 'string');
  const gates = pairsOf('--feature-gates', words);
  const served = pairsOf('--runtime-config', words);
  const tag = /:(v?\d+\.\d+\.[^@]*)/.exec(ownString(containers[0] ?? null, 'image') ?? '')?.[1];
  const version = tag ?? serverVersion;
  return {
    ...{ component: componentOf(pod), pod: objectName(pod), minor: minorOf(version) },
    release: gatedReleaseOf(version),
    names: (gate) => gates.has(gate),
    // A gate's own entry overrides those of its stage, such as `AllAlpha`.
    isOn: ({ name, stage }) => (gates.get(name) ?? gates.get(STAGES[stage])) === 'true',
    serves: (api) =>
      (served.get(`scheduling.k8s.io/${api}`) ??
        served.get(api.includes('alpha') ? 'api/alpha' : 'api/beta') ??
        served.get('api/all')) === 'true',
    servesByName: (api) => served.get(`scheduling.k8s.io/${api}`) === 'true',
  };
}

const STAGES = { alpha: 'AllAlpha', beta: 'AllBeta' } as const;

/**
 * Entries of a flag of the form `key=value,…`, written as one word or as two. A key alone is true, and the last entry of a
 * key counts.
 */
function pairsOf(flag: string, words: readonly string[]): ReadonlyMap<string, string> {
  const given = words.flatMap((word, index) =>
    word === flag ? (words[index + 1] ?? '') : word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : [],
  );
  return new Map(
    given
      .flatMap((one) => one.split(','))
      .map((pair): [string, string] => {
        const [key = '', value = 'true'] = pair.split('=');
        return [key.trim(), value.trim()];
      }),
  );
}

export const podSpecOf = (deployment: JsonObject | undefined): JsonObject | undefined =>
  ownObject(ownObject(ownObject(deployment, 'spec'), 'template'), 'spec');

const named = (list: readonly Json[] | undefined, name: string): Json | undefined =>
  list?.find((one) => ownString(one, 'name') === name);

const volume = (deployment: JsonObject | undefined, name: string): Json | undefined =>
  named(ownList(podSpecOf(deployment), 'volumes'), name);

/** Name of the ConfigMap that Muster's Deployment mounts; kustomize puts a hash of the content at its end. */
export const mountedConfigMap = (deployment: JsonObject | undefined): string | undefined =>
  ownString(ownObject(volume(deployment, 'config'), 'configMap'), 'name');

/** Name of the Secret with the serving certificate; without a Deployment the name in manifests/base. */
export const mountedSecret = (deployment: JsonObject | undefined): string =>
  ownString(ownObject(volume(deployment, 'certs'), 'secret'), 'secretName') ?? 'muster-serving-cert';

/** The container `muster`, or the first one. */
function containerOf(deployment: JsonObject | undefined): Json | undefined {
  const containers = ownList(podSpecOf(deployment), 'containers');
  return named(containers, 'muster') ?? containers?.[0];
}

export const imageOf = (deployment: JsonObject): string => ownString(containerOf(deployment), 'image') ?? '';

/** Environment variables with a literal value; those with `valueFrom` are left out. */
export const environmentOf = (deployment: JsonObject | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (ownList(containerOf(deployment), 'env') ?? []).flatMap((one) => {
      const [name, value] = [ownString(one, 'name'), ownString(one, 'value')];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );

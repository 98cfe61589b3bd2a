/** How a program of the control plane was started, as its Pod shows it. */
import { ownList, ownObject, ownString, type JsonObject, type Json } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import { gatedReleaseOf, minorOf, type FeatureGate, type GatedRelease } from '../../backends/native-gates.ts';

export interface ControlPlaneProgram {
  readonly component: string;
  /** Name of its Pod. */
  readonly pod: string;
  /** `1.37`, by its image; where that has no such tag, as the API server says. */
  readonly minor: string | undefined;
  readonly release: GatedRelease | undefined;
  /** Whether it is given the gate, on or off. */
  names(gate: string): boolean;
  isOn(gate: Pick<FeatureGate, 'name' | 'stage'>): boolean;
  /** Whether an API server is told to serve a version of `scheduling.k8s.io`, which is off by default. */
  serves(version: string): boolean;
  /** The same, by the name of the version and not of its stage. */
  servesByName(version: string): boolean;
}

/** What a Pod of the control plane is: `kube-apiserver`. */
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
    // A gate that is named counts before those that switch on a stage.
    isOn: ({ name, stage }) => (gates.get(name) ?? gates.get(STAGES[stage])) === 'true',
    serves: (api) =>
      (served.get(`scheduling.k8s.io/${api}`) ??
        served.get(api.includes('alpha') ? 'api/alpha' : 'api/beta') ??
        served.get('api/all')) === 'true',
    servesByName: (api) => served.get(`scheduling.k8s.io/${api}`) === 'true',
  };
}

const STAGES = { alpha: 'AllAlpha', beta: 'AllBeta' } as const;

/** Values of a flag that takes `key=value,…`, in one word or in two; a key alone is true, and the last one counts. */
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

/** The ConfigMap that Muster's Deployment mounts: its name has a hash of the content at its end. */
export const mountedConfigMap = (deployment: JsonObject | undefined): string | undefined =>
  ownString(ownObject(volume(deployment, 'config'), 'configMap'), 'name');

/** The Secret with the serving certificate; that of manifests/base where there is no Deployment. */
export const mountedSecret = (deployment: JsonObject | undefined): string =>
  ownString(ownObject(volume(deployment, 'certs'), 'secret'), 'secretName') ?? 'muster-serving-cert';

/** The container `muster`, or the first. */
function containerOf(deployment: JsonObject | undefined): Json | undefined {
  const containers = ownList(podSpecOf(deployment), 'containers');
  return named(containers, 'muster') ?? containers?.[0];
}

export const imageOf = (deployment: JsonObject): string => ownString(containerOf(deployment), 'image') ?? '';

/** What its environment says by itself; what it takes from elsewhere is left out. */
export const environmentOf = (deployment: JsonObject | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (ownList(containerOf(deployment), 'env') ?? []).flatMap((one) => {
      const [name, value] = [ownString(one, 'name'), ownString(one, 'value')];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );

import { ownList, ownObject, ownString, type JsonObject } from '../../api/json.ts';
import { nameOf } from '../../api/resource.ts';
import { neededGates, type FeatureGate } from '../../backends/native-gates.ts';
import { saying, type Diagnosis } from './diagnosis.ts';
import { valueOf, type Read } from './read.ts';

export interface FeatureGates {
  /** `scheduling.k8s.io/v1alpha2`: what native gangs speak here; `none` without them. */
  readonly api: string;
  /** Pods of the control plane, by the label that kubeadm gives its static Pods. */
  readonly pods: Read<readonly JsonObject[]>;
}

const CONSEQUENCE: Readonly<Record<string, string>> = {
  'kube-scheduler': 'PodGroups are stored and nobody counts by them, so a gang is placed Pod by Pod',
  'kube-controller-manager': 'PodGroups that are deleted never go, nor do their namespaces',
};

/**
 * The API server shows by what it serves that its gates are on. Those of the scheduler and of the controllers show in how
 * they are started, where they run as Pods.
 */
export function checkGates({ api, pods }: FeatureGates): Diagnosis[] {
  const say = saying('backends', 'feature gates');
  const version = api.slice(api.lastIndexOf('/') + 1);
  if (api === 'none' || pods.state !== 'found') return [];
  const seen = Object.keys(CONSEQUENCE).flatMap((component) => {
    const gates = neededGates(version, component);
    return (valueOf(pods) ?? [])
      .filter((pod) => gates.length > 0 && componentOf(pod) === component)
      .map((pod) => ({ component, pod, off: gates.filter((gate) => !isOn(gate, flagsOf(pod))) }));
  });
  const wrong = seen.filter(({ off }) => off.length > 0);
  if (wrong.length === 0) {
    const names = [...new Set(seen.map(({ component }) => component))].join(' and ');
    return seen.length === 0 ? [] : [say.ok(`${names} run with the feature gates of ${api}`)];
  }
  return wrong.map(({ component, pod, off }) =>
    say.problem(
      `the API server has native gangs (${api}), and ${component} (Pod ${nameOf(pod)}) runs without the feature gate ${off.map(({ name }) => name).join(', ')}: ${CONSEQUENCE[component] ?? ''}`,
      `add --feature-gates=${off.map(({ name }) => `${name}=true`).join(',')} to the flags of ${component}, or set config.api to none in the profile default-scheduler`,
    ),
  );
}

/** What a Pod of the control plane is: `kube-apiserver`. */
export const componentOf = (pod: JsonObject): string =>
  ownString(ownObject(ownObject(pod, 'metadata'), 'labels'), 'component') ?? '';

const flagsOf = (pod: JsonObject): readonly string[] =>
  (ownList(ownObject(pod, 'spec'), 'containers') ?? []).flatMap((container) =>
    [...(ownList(container, 'command') ?? []), ...(ownList(container, 'args') ?? [])].filter(
      (one) => typeof one === 'string',
    ),
  );

const FLAG = '--feature-gates';

/** The last that names it counts; else the one that switches on all of its stage. */
function isOn({ name, stage }: FeatureGate, flags: readonly string[]): boolean {
  const given = flags.flatMap((flag, index) =>
    flag === FLAG ? (flags[index + 1] ?? '') : flag.startsWith(`${FLAG}=`) ? flag.slice(FLAG.length + 1) : [],
  );
  const gates = new Map(
    given.flatMap((one) => one.split(',')).map((pair) => pair.split('=') as [string, string]),
  );
  return (gates.get(name) ?? gates.get(stage === 'alpha' ? 'AllAlpha' : 'AllBeta')) === 'true';
}

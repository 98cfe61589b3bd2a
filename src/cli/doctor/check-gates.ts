import type { JsonObject } from '../../json/json.ts';
import { gatedReleaseWith, strangeGates, type FeatureGate } from '../../backends/native-gates.ts';
import { programOf, type ControlPlaneProgram } from './program-objects.ts';
import { saying, valueOf, type Diagnosis, type Read } from './diagnosis.ts';

export interface FeatureGates {
  /** API version of native gangs in this cluster, such as `scheduling.k8s.io/v1alpha2`; `none` without them. */
  readonly api: string;
  /** Version of the API server. */
  readonly kubernetes: string;
  /** Pods of the control plane, by the label that kubeadm gives its static Pods. */
  readonly pods: Read<readonly JsonObject[]>;
}

const CONSEQUENCE: Readonly<Record<string, string>> = {
  'kube-scheduler': 'PodGroups are stored and nobody counts by them, so a gang is placed Pod by Pod',
  'kube-controller-manager': 'PodGroups that are deleted never go, nor do their namespaces',
};

const say = saying('backends', 'feature gates');

/**
 * Checks feature gates and `--runtime-config` of the three programs that native gangs depend on, by the command lines of
 * their Pods. Programs that do not run as Pods are not checked.
 */
export function checkGates({ api, kubernetes, pods }: FeatureGates): Diagnosis[] {
  const programs = (valueOf(pods) ?? []).map((pod) => programOf(pod, kubernetes));
  const gates = gatedReleaseWith(api.slice(api.lastIndexOf('/') + 1))?.gates ?? [];
  const goBy = programs.filter(
    ({ component }) => component in CONSEQUENCE && gates.some((one) => of(one, component) && one.needed),
  );
  const waits = waiting(programs);
  const wrong = [
    ...programs.flatMap(notStarting),
    ...waits,
    ...goBy.flatMap((program) =>
      notStarting(program).length > 0 ? [] : without(program, gates, api, programs),
    ),
    ...(waits.length === 0 ? halfServing(programs) : []),
  ];
  if (wrong.length > 0 || goBy.length === 0) return wrong;
  const names = [...new Set(goBy.map(({ component }) => component))].join(' and ');
  return [say.ok(`${names} run with the feature gates of ${api}`)];
}

const of = ({ components }: FeatureGate, component: string): boolean =>
  components.some((one) => one === component);
const who = ({ component, pod }: ControlPlaneProgram): string => `${component} (Pod ${pod})`;
const gate = (name: string): string => `--feature-gates=${name}=true`;
const served = (version: string): string => `--runtime-config=scheduling.k8s.io/${version}=true`;

/** A program exits at start where a feature gate is unknown to its release, or depends on another one that is off. */
function notStarting(program: ControlPlaneProgram): Diagnosis[] {
  const { component, release, minor } = program;
  if (minor === undefined) return [];
  const strange = strangeGates(minor).filter((name) => program.names(name));
  const gates = release?.gates ?? [];
  const unmet = gates.flatMap((base) => {
    const names = gates
      .filter((one) => one.needs.includes(base.name) && program.isOn(one))
      .map(({ name }) => name);
    return names.length === 0 || program.isOn(base) ? [] : [[names.join(', '), base.name] as const];
  });
  return [
    ...strange.map((name) =>
      say.problem(
        `${who(program)} is given the feature gate ${name}, which Kubernetes ${minor} does not have: it does not start again`,
        `take ${name} out of the --feature-gates of ${component}`,
      ),
    ),
    ...unmet.map(([names, base]) =>
      say.problem(
        `${who(program)} has ${base} off, on which its feature gate ${names} builds: it does not start again`,
        `add ${gate(base)} to the flags of ${component}, or take ${names} out of them`,
      ),
    ),
  ];
}

/** A scheduler that reads an API version that is not served waits for it and schedules no Pod. */
const waiting = (programs: readonly ControlPlaneProgram[]): Diagnosis[] =>
  programs
    .filter(({ component }) => component === 'kube-scheduler')
    .flatMap((scheduler) =>
      (scheduler.release?.gates ?? []).flatMap((one) => {
        const { name, reads } = one;
        if (reads === undefined || !scheduler.isOn(one)) return [];
        const servers = serversOf(programs).filter(({ release }) => release === scheduler.release);
        return servers.flatMap((server) => {
          const lacks = lackingFor(server, reads).join(' ');
          if (lacks === '') return [];
          return say.problem(
            `${who(scheduler)} runs with the feature gate ${name}, and ${who(server)} without ${lacks}: the scheduler waits for what is not served, and schedules no Pod at all`,
            `add ${lacks} to the flags of kube-apiserver, or take ${name} out of those of kube-scheduler`,
          );
        });
      }),
    );

const serversOf = (programs: readonly ControlPlaneProgram[]): readonly ControlPlaneProgram[] =>
  programs.filter(({ component }) => component === 'kube-apiserver');

/** Flags that are missing for an API server to serve a version. */
const lackingFor = (server: ControlPlaneProgram, version: string): readonly string[] => [
  ...(server.release?.gates ?? [])
    .filter((one) => one.serves === version && !server.isOn(one))
    .map(({ name }) => gate(name)),
  ...(server.serves(version) ? [] : [served(version)]),
];

/** Reports feature gates that the API server has on and another program has off. */
function without(
  program: ControlPlaneProgram,
  gates: readonly FeatureGate[],
  api: string,
  programs: readonly ControlPlaneProgram[],
): Diagnosis[] {
  const { component } = program;
  const off = gates.filter((one) => of(one, component) && !program.isOn(one));
  const needed = off.filter((one) => one.needed).map(({ name }) => name);
  const kept = off.filter((one) => !one.needed && serversOf(programs).some((server) => server.isOn(one)));
  return [
    ...(needed.length === 0
      ? []
      : [
          say.problem(
            `the API server has native gangs (${api}), and ${who(program)} runs without the feature gate ${needed.join(', ')}: ${CONSEQUENCE[component] ?? ''}`,
            `add --feature-gates=${needed.map((name) => `${name}=true`).join(',')} to the flags of ${component}, or set config.api to none in the profile default-scheduler`,
          ),
        ]),
    ...kept.map(({ name }) =>
      say.problem(
        `kube-apiserver runs with the feature gate ${name} and ${who(program)} without: what stands on it is stored, and nothing is placed by it`,
        `add ${gate(name)} to the flags of ${component}, or take ${name} out of those of kube-apiserver`,
      ),
    ),
  ];
}

/**
 * Reports API servers with the feature gate but without the served version, or the other way round: either does nothing
 * alone.
 */
const halfServing = (programs: readonly ControlPlaneProgram[]): Diagnosis[] =>
  serversOf(programs).flatMap((server) =>
    (server.release?.gates ?? []).flatMap((one) => {
      const { name, serves: version, needed } = one;
      if (version === undefined) return [];
      const on = server.isOn(one);
      // `AllAlpha` or `api/alpha` alone switches on all versions of a stage, which shows no wish for gangs.
      const meant = on ? server.names(name) : needed && server.servesByName(version);
      if (on === server.serves(version) || !meant) return [];
      const [has, lacks] = on ? [gate(name), served(version)] : [served(version), gate(name)];
      return say.warning(
        `${who(server)} runs with ${has} and without ${lacks}: one does nothing without the other`,
        `add ${lacks} to the flags of kube-apiserver, or take ${has} out of them`,
      );
    }),
  );

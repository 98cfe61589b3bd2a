import type { ContractRange } from '../api/contract-range.ts';
import type { JsonObject } from '../json/json.ts';
import { hostGroups, hostNames, type HpcGang } from './hosts/hosts.ts';
import type { ManagerSettings } from './policy/hpc-policy.ts';
import type { ObjectsGiven, PreparerFactory } from './preparer-factory.ts';
import { hostNameOf, setHostName, type HostName } from './hosts/host-name.ts';
import {
  NO_FINDINGS,
  podRefused,
  type PatchSurface,
  type PodGangVerdict,
  type PodPatch,
  type PodReader,
} from './preparer.ts';

export { gangService } from './hosts/hosts.ts';
export type { HostName, HpcGang, ManagerSettings, ObjectsGiven };

/** Version of this contract. New optional members do not raise it; a change that breaks a preparation raises it. */
export const PREPARATION_CONTRACT_VERSION = 1;

export const PREPARATION_CONTRACT_RANGE: ContractRange = {
  oldest: 1,
  current: PREPARATION_CONTRACT_VERSION,
};

/** Input for preparing a Pod. */
export interface PodAsked {
  readonly gang: HpcGang;
  /** Group of the Pod in the gang. */
  readonly group: string;
  readonly settings: ManagerSettings;
}

/**
 * A third party's workload manager, as its module exports it: an HPCPolicy selects it by `spec.hpc.manager`. All methods
 * only compute from their arguments: no I/O, no clock, no random numbers.
 */
export interface PreparationModule {
  /** {@link PREPARATION_CONTRACT_VERSION} at the time when the preparation was written. */
  readonly contractVersion: number;
  /** Value of `spec.hpc.manager`: lower-case letters, digits and "-". */
  readonly name: string;
  readonly patchSurface: PatchSurface;
  /**
   * Called first, with `config` of its entry. Absent: it accepts no `config`. @throws with the reason when `config` is wrong
   */
  configure?(config: JsonObject): void;
  /**
   * Faults and warnings for `spec.hpc.settings`; fields of faults are paths in the HPCPolicy, `spec.hpc.settings[key]`.
   * @param gang a gang with these settings; absent: the policy itself is checked
   */
  validate(settings: ManagerSettings, gang?: HpcGang): PodGangVerdict;
  /**
   * Prepares one Pod: the same Pod gives the same patch, and a prepared Pod gives an empty one.
   * @throws {PodRefused} when this Pod cannot be prepared
   */
  prepare(pod: PodReader, asked: PodAsked, patch: PodPatch): void;
  /** ConfigMaps, Secrets and Services that must exist before the first Pod may start. */
  objects(gang: HpcGang, settings: ManagerSettings, given: ObjectsGiven): readonly JsonObject[];
  /** Settings and container for `muster conformance`. Absent: no settings and a default container. */
  readonly conformance?: { readonly settings?: ManagerSettings; readonly container?: JsonObject };
}

/** Host names of all expected Pods, in the order of the groups. */
export const gangHosts = (gang: HpcGang): readonly string[] => hostNames(hostGroups(gang));

/**
 * Gives a Pod its name from {@link gangHosts}, in the domain of the gang's Service. A Pod with a subdomain of its own keeps
 * its name and subdomain. Needs `spec.hostname` and `spec.subdomain` in the patch surface.
 * @throws {PodRefused} when no name from the list fits the Pod
 */
export function takeHostName(pod: PodReader, { gang, group }: PodAsked, patch: PodPatch): HostName {
  const host = hostNameOf(pod, gang, group, hostGroups(gang));
  if ('rule' in host) throw podRefused([host]);
  setHostName(pod, host, patch);
  return host;
}

/** Wraps a module as a preparer of this process. */
export function preparerFactoryOf(module: PreparationModule): PreparerFactory {
  const { name } = module;
  return {
    name,
    judge: ({ managed }) => (managed?.manager === name ? module.validate(managed.settings) : NO_FINDINGS),
    preparer: (gang, { managed }) =>
      managed?.manager === name
        ? {
            name,
            patchSurface: module.patchSurface,
            prepare: (pod, { group }, patch) =>
              module.prepare(pod, { gang, group, settings: managed.settings }, patch),
          }
        : undefined,
    validate: (gang, { managed }) =>
      managed?.manager === name ? module.validate(managed.settings, gang) : NO_FINDINGS,
    objects: (gang, { managed }, given) =>
      managed?.manager === name ? module.objects(gang, managed.settings, given) : [],
  };
}

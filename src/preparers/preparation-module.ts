import type { ContractRange } from '../api/contract-range.ts';
import type { JsonObject } from '../json/json.ts';
import { hostGroups, type HpcGang } from './hosts/hosts.ts';
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

/** Version of this contract. It grows by optional members; a change that breaks a preparation raises it. */
export const PREPARATION_CONTRACT_VERSION = 1;

export const PREPARATION_CONTRACT_RANGE: ContractRange = {
  oldest: 1,
  current: PREPARATION_CONTRACT_VERSION,
};

/** What a Pod is prepared by. */
export interface PodAsked {
  readonly gang: HpcGang;
  /** The group of the gang that the Pod is of. */
  readonly group: string;
  readonly settings: ManagerSettings;
}

/**
 * A workload manager of somebody else's, as its module exports it: what an HPCPolicy asks for with `spec.hpc.manager`. All of it
 * is computation from what is given: no I/O, no clock, no chance.
 */
export interface PreparationModule {
  /** {@link PREPARATION_CONTRACT_VERSION} as it was when the preparation was written. */
  readonly contractVersion: number;
  /** What `spec.hpc.manager` says: lower-case letters, digits and "-". */
  readonly name: string;
  readonly patchSurface: PatchSurface;
  /** Takes `config` of its entry, before all else. Absent: it takes none. @throws with the reason where it is wrong */
  configure?(config: JsonObject): void;
  /**
   * What is wrong with `spec.hpc.settings`; fields of faults are as in the HPCPolicy, `spec.hpc.settings[key]`.
   * @param gang one that would be prepared so; absent: where the policy itself is judged
   */
  validate(settings: ManagerSettings, gang?: HpcGang): PodGangVerdict;
  /**
   * Prepares one Pod: the same Pod gives the same patch, and the prepared Pod gives none.
   * @throws {PodRefused} where this Pod cannot be prepared
   */
  prepare(pod: PodReader, asked: PodAsked, patch: PodPatch): void;
  /** ConfigMaps, Secrets and Services that have to be there before the first Pod may start. */
  objects(gang: HpcGang, settings: ManagerSettings, given: ObjectsGiven): readonly JsonObject[];
  /** By what `muster conformance` tries it out where no settings would not do. */
  readonly conformance?: { readonly settings?: ManagerSettings; readonly container?: JsonObject };
}

/** The host names of all Pods that are expected, in the order of the groups. */
export const gangHosts = (gang: HpcGang): readonly string[] =>
  hostGroups(gang).flatMap(({ group, hosts }) => Array.from({ length: hosts }, (_, at) => `${group}-${at}`));

/**
 * Gives a Pod the name by which {@link gangHosts} has it, in the domain of the gang's Service; one with a subdomain of its own keeps
 * both. It takes `spec.hostname` and `spec.subdomain` of the patch surface.
 * @throws {PodRefused} where it cannot be one of them
 */
export function takeHostName(pod: PodReader, { gang, group }: PodAsked, patch: PodPatch): HostName {
  const host = hostNameOf(pod, gang, group, hostGroups(gang));
  if ('rule' in host) throw podRefused([host]);
  setHostName(pod, host, patch);
  return host;
}

/** A module as one of the preparations of this process. */
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

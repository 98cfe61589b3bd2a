import type { Json, JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { GangPod } from '../backends/cluster.ts';
import type { TopologyLevels } from '../gang/rules/check-topology.ts';
import type { ManagerSettings } from '../preparers/preparation-module.ts';
import type { ModuleFile } from './module-file.ts';

/**
 * What Muster and a module say to each other: JSON, one message a line. What comes from the module is believed in nothing
 * (`heard.ts`); what goes there is Muster's own.
 */

/** So many characters may a line of the module's have: more than any object that an API server takes. */
export const MAX_LINE = 4 * 1024 * 1024;

/** What a module is asked for. `ping` shows only that anything in it gets to run. */
export type Operation =
  | 'load'
  | 'loadPlugin'
  | 'assignReplica'
  | 'loadPreparation'
  | 'validatePolicy'
  | 'prepareMember'
  | 'makeObjects'
  | 'ping'
  | 'init'
  | 'preparePod'
  | 'checkGang'
  | 'syncPodGang'
  | 'onPodGangDelete'
  | 'syncCluster'
  | 'explain';

/** Which module is to be loaded. */
export interface LoadFile {
  readonly file: ModuleFile;
  /** Where the configuration names it, for errors. */
  readonly field: string;
}

export interface LoadGiven extends LoadFile {
  readonly settings: { readonly config: JsonObject; readonly topology: TopologyLevels };
}

/** A PodGang as it was said. */
export type SaidGang = Omit<PodGang, 'labels' | 'annotations'> & {
  readonly labels: readonly (readonly [string, string])[];
  readonly annotations: readonly (readonly [string, string])[];
};

/** As much of it as a preparation goes by. */
export type SaidHpcGang = Pick<SaidGang, 'namespace' | 'name' | 'annotations' | 'spec'>;

export interface SyncGiven {
  readonly gang: SaidGang;
  readonly pods: readonly GangPod[];
  readonly owned: readonly (readonly [string, readonly JsonObject[]])[];
}

/** The same for what is told its `config` once: strategies, a preparation. */
export interface LoadConfigured extends LoadFile {
  readonly config: JsonObject;
}

/** What a preparation judges: settings, and the gang that would be prepared by them. */
export interface ValidateGiven {
  readonly settings: ManagerSettings;
  readonly gang?: SaidHpcGang;
}

/** A Pod to be prepared. */
export interface PrepareGiven {
  readonly pod: JsonObject;
  readonly gang: SaidHpcGang;
  readonly group: string;
  readonly settings: ManagerSettings;
}

/** A gang whose objects are asked for. */
export interface ObjectsAsked {
  readonly gang: SaidHpcGang;
  readonly settings: ManagerSettings;
  readonly certificate: string;
  readonly subdomain?: string | undefined;
}

export type ToModule =
  | { readonly what: 'call'; readonly id: number; readonly operation: Operation; readonly given: unknown }
  /** Nobody waits for that call any more. */
  | { readonly what: 'over'; readonly id: number; readonly reason: string }
  | HandAnswer;

/** What became of something that the module asked for while it was called. */
export interface HandAnswer {
  readonly what: 'hand';
  readonly id: number;
  readonly number: number;
  readonly value?: unknown;
  /** The message of what was thrown. */
  readonly failed?: string;
}

/** What was thrown in the module. */
export interface Thrown {
  readonly message: string;
  /** Of a PodRefused. */
  readonly field?: string | undefined;
  /** Of a call of its hands, whose failure it let through. */
  readonly hand?: number | undefined;
}

export type FromModule =
  | { readonly what: 'value'; readonly id: number; readonly value: Json }
  | { readonly what: 'thrown'; readonly id: number; readonly thrown: Thrown }
  | {
      readonly what: 'ask';
      readonly id: number;
      readonly number: number;
      readonly method: string;
      readonly given: readonly Json[];
    }
  /** It ends, and why. */
  | { readonly what: 'last'; readonly reason: string };

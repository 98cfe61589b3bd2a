import type { Json, JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { GangPod } from '../backends/cluster.ts';
import type { TopologyLevels } from '../gang/rules/check-topology.ts';
import type { ManagerSettings } from '../preparers/preparation-module.ts';
import type { ModuleFile } from './module-file.ts';

/**
 * The protocol between Muster and a module's process: JSON, one message a line. Muster decodes what the module sends
 * (`decode.ts`); the module trusts what Muster sends.
 */

/** Characters of one line from the module: more than any object that an API server accepts. */
export const MAX_LINE = 4 * 1024 * 1024;

/** What a module is asked for. `ping` shows only that anything in it gets to run. */
export type ModuleOperation =
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

export interface LoadBackend extends LoadFile {
  readonly settings: { readonly config: JsonObject; readonly topology: TopologyLevels };
}

/** A PodGang as it was said. */
export type EncodedGang = Omit<PodGang, 'labels' | 'annotations'> & {
  readonly labels: readonly (readonly [string, string])[];
  readonly annotations: readonly (readonly [string, string])[];
};

/** As much of it as a preparation goes by. */
export type EncodedHpcGang = Pick<EncodedGang, 'namespace' | 'name' | 'annotations' | 'spec'>;

export interface SyncRequest {
  readonly gang: EncodedGang;
  readonly pods: readonly GangPod[];
  readonly owned: readonly (readonly [string, readonly JsonObject[]])[];
}

/** The same for what is told its `config` once: strategies, a preparation. */
export interface LoadConfigured extends LoadFile {
  readonly config: JsonObject;
}

/** What a preparation judges: settings, and the gang that would be prepared by them. */
export interface ValidateRequest {
  readonly settings: ManagerSettings;
  readonly gang?: EncodedHpcGang;
}

/** A Pod to be prepared. */
export interface PrepareRequest {
  readonly pod: JsonObject;
  readonly gang: EncodedHpcGang;
  readonly group: string;
  readonly settings: ManagerSettings;
}

/** A gang whose objects are asked for. */
export interface ObjectsRequest {
  readonly gang: EncodedHpcGang;
  readonly settings: ManagerSettings;
  readonly certificate: string;
  readonly subdomain?: string | undefined;
}

export type ToModule =
  | {
      readonly what: 'call';
      readonly id: number;
      readonly operation: ModuleOperation;
      readonly given: unknown;
    }
  /** The call was given up. */
  | { readonly what: 'over'; readonly id: number; readonly reason: string }
  | CallbackAnswer;

/** The outcome of a callback. */
export interface CallbackAnswer {
  readonly what: 'callback';
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
  /** The number of the callback whose failure the module let through. */
  readonly callback?: number | undefined;
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
  /** The process ends, for this reason. */
  | { readonly what: 'last'; readonly reason: string };

/** Cuts a stream of text into lines, and keeps no more of one than `most` characters. */
export class Lines {
  readonly #most: number;
  readonly #line: (text: string) => void;
  readonly #tooLong: () => void;
  #parts: string[] = [];
  #length = 0;

  constructor(most: number, line: (text: string) => void, tooLong: () => void) {
    this.#most = most;
    this.#line = line;
    this.#tooLong = tooLong;
  }

  push(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#add(text.slice(from, end));
      const line = this.#parts.join('');
      const whole = this.#length <= this.#most;
      this.#parts = [];
      this.#length = 0;
      from = end + 1;
      if (whole) this.#line(line);
    }
    if (from < text.length) this.#add(text.slice(from));
  }

  #add(part: string): void {
    const before = this.#length;
    this.#length += part.length;
    if (this.#length <= this.#most) this.#parts.push(part);
    else if (before <= this.#most) {
      this.#parts = [];
      this.#tooLong();
    }
  }
}

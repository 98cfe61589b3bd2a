import type { Json, JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { GangPod } from '../backends/cluster.ts';
import type { TopologyLevels } from '../gang/rules/check-topology.ts';
import type { ManagerSettings } from '../preparers/preparation-module.ts';
import type { ModuleFile } from './module-file.ts';

/**
 * The protocol between Muster and a module's process: JSON, one message a line. Muster decodes the module's messages
 * (`decode.ts`); the module trusts Muster's.
 */

/** Characters of one line from the module: more than any object that an API server accepts. */
export const MAX_LINE = 4 * 1024 * 1024;

/** Operations that Muster calls in a module. `ping` only shows that the event loop of the process turns. */
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

/** The file to load. */
export interface LoadFile {
  readonly file: ModuleFile;
  /** Path in the configuration that names the module, for errors. */
  readonly field: string;
}

export interface LoadBackend extends LoadFile {
  readonly settings: { readonly config: JsonObject; readonly topology: TopologyLevels };
}

/** A PodGang as JSON. */
export type EncodedGang = Omit<PodGang, 'labels' | 'annotations'> & {
  readonly labels: readonly (readonly [string, string])[];
  readonly annotations: readonly (readonly [string, string])[];
};

/** The fields of a PodGang that a preparation reads. */
export type EncodedHpcGang = Pick<EncodedGang, 'namespace' | 'name' | 'annotations' | 'spec'>;

export interface SyncRequest {
  readonly gang: EncodedGang;
  readonly pods: readonly GangPod[];
  readonly owned: readonly (readonly [string, readonly JsonObject[]])[];
}

/** As {@link LoadFile}, for modules that receive their `config` once: plugins and preparations. */
export interface LoadConfigured extends LoadFile {
  readonly config: JsonObject;
}

/** Settings of an HPCPolicy for a preparation to validate, and the gang that they would apply to. */
export interface ValidateRequest {
  readonly settings: ManagerSettings;
  readonly gang?: EncodedHpcGang;
}

/** A Pod for a preparation to prepare. */
export interface PrepareRequest {
  readonly pod: JsonObject;
  readonly gang: EncodedHpcGang;
  readonly group: string;
  readonly settings: ManagerSettings;
}

/** A gang for which a preparation makes objects. */
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
  /** Muster has given the call up. */
  | { readonly what: 'over'; readonly id: number; readonly reason: string }
  | CallbackAnswer;

/** The outcome of a callback. */
export interface CallbackAnswer {
  readonly what: 'callback';
  readonly id: number;
  readonly number: number;
  readonly value?: unknown;
  /** The message of the error that the callback threw. */
  readonly failed?: string;
}

/** An error of the module's code. */
export interface Thrown {
  readonly message: string;
  /** Field of a PodRefused. */
  readonly field?: string | undefined;
  /** Number of the callback whose error the module did not catch. */
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
  /** The process exits, for this reason. */
  | { readonly what: 'last'; readonly reason: string };

/** Splits a stream of text into lines; a line of more than `most` characters is dropped and reported. */
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

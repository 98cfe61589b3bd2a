import { own, type JsonObject } from '../json/json.ts';
import type { KubeObject } from '../kube/client/resources.ts';
import type { NodeSelectorTerm, Pod } from '../preemption/snapshot.ts';
import { claimsOf, hasPodEnded, readSnapshotPod, SharedByTemplate } from '../preemption/read/read-pod.ts';
import { FieldReader, type ObjectFault } from '../k8s/field-reader.ts';

/** A Pod as the planner reads it, and what a cache wants to know. */
export interface KeptPod extends Pod {
  readonly resourceVersion: string;
  /** Names of its claims: where their volumes are may change. */
  readonly claims: readonly string[];
  /** What of it cannot be counted with. */
  readonly faults: readonly ObjectFault[];
}

/** Past so many different values they are collected anew, since Pods come and go. */
const MOST_SHARED = 20_000;
const NONE: readonly never[] = [];

/**
 * Reads Pods so that what many have in common is kept once: constraints, labels, requests, names of nodes and namespaces.
 * A Pod then takes some hundred bytes.
 */
export class KeptPodReader {
  #templates = new SharedByTemplate();
  readonly #shared = new Map<string, unknown>();

  /** undefined for those that have ended, and those without a node that are in no gang: nobody asks about them. */
  read(object: KubeObject): KeptPod | undefined {
    const json = object as unknown as JsonObject;
    if (hasPodEnded(json)) return undefined;
    if (this.#shared.size > MOST_SHARED) {
      this.#shared.clear();
      this.#templates = new SharedByTemplate();
    }
    const reading = new FieldReader(`Pod ${object.metadata.namespace ?? ''}/${object.metadata.name}`);
    // Stored Pods have the number of their class written in.
    const context = { classes: NO_CLASSES, claims: NO_CLAIMS, namespace: '', shared: this.#templates };
    const pod = readSnapshotPod(json, context, reading);
    if (pod.nodeName === '' && pod.gang === '') return undefined;
    const claims = claimsOf(own(json, 'spec'), pod.name);
    return {
      ...pod,
      namespace: this.#text(pod.namespace),
      nodeName: this.#text(pod.nodeName),
      className: this.#text(pod.className),
      gang: this.#text(pod.gang),
      group: this.#text(pod.group),
      podGroup: this.#text(pod.podGroup),
      labels: this.#map('labels', pod.labels),
      scored: this.#one(`scored ${pod.scored.cpu} ${pod.scored.memory}`, pod.scored),
      resourceVersion: object.metadata.resourceVersion ?? '',
      claims: claims.length === 0 ? NONE : claims,
      faults: reading.faults.length === 0 ? NONE : reading.faults,
    };
  }

  /** With the nodes from which its volumes can be reached, as they are bound now. */
  withVolumes(pod: KeptPod, bound: ReadonlyMap<string, readonly NodeSelectorTerm[]>): Pod {
    if (pod.claims.length === 0) return pod;
    const volumeNodes = pod.claims.flatMap((claim) => {
      const terms = bound.get(`${pod.namespace}/${claim}`);
      return terms === undefined ? [] : [terms];
    });
    if (volumeNodes.length === 0) return pod;
    return { ...pod, constraints: this.#templates.constraints({ ...pod.constraints, volumeNodes }) };
  }

  #text(text: string): string {
    return text === '' ? '' : this.#one(`text ${text}`, text);
  }

  #map<V>(kind: string, map: ReadonlyMap<string, V>): ReadonlyMap<string, V> {
    return this.#one(`${kind} ${JSON.stringify([...map])}`, map);
  }

  #one<T>(key: string, value: T): T {
    const known = this.#shared.get(key);
    if (known !== undefined) return known as T;
    this.#shared.set(key, value);
    return value;
  }
}

const NO_CLASSES = new Map<string, never>();
const NO_CLAIMS = new Map<string, never>();

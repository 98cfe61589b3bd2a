import { own, type JsonObject } from '../json/json.ts';
import type { KubeObject } from '../kube/client/resources.ts';
import type { NodeSelectorTerm, Pod } from '../preemption/snapshot.ts';
import { claimsOf, hasPodEnded, readSnapshotPod, SharedByTemplate } from '../preemption/read/read-pod.ts';
import { FieldReader, type ObjectFault } from '../k8s/field-reader.ts';

/** A Pod as the planner reads it, with what a reflector's cache needs. */
export interface KeptPod extends Pod {
  readonly resourceVersion: string;
  /** Names of its PersistentVolumeClaims, kept since a claim may be bound later. */
  readonly claims: readonly string[];
  /** Fields of the Pod that could not be read. */
  readonly faults: readonly ObjectFault[];
}

/** Number of distinct values after which all are dropped and collected again, since Pods come and go. */
const MOST_SHARED = 20_000;
const NONE: readonly never[] = [];

/**
 * Reads Pods and keeps values that many Pods share once: constraints, labels, requests, names of nodes and namespaces. A Pod
 * then takes some hundred bytes.
 */
export class KeptPodReader {
  #templates = new SharedByTemplate();
  readonly #shared = new Map<string, unknown>();

  /**
   * Returns undefined for Pods that no forecast needs: Pods that have ended, and Pods without a node that are in no gang.
   */
  read(object: KubeObject): KeptPod | undefined {
    const json = object as unknown as JsonObject;
    if (hasPodEnded(json)) return undefined;
    if (this.#shared.size > MOST_SHARED) {
      this.#shared.clear();
      this.#templates = new SharedByTemplate();
    }
    const reading = new FieldReader(`Pod ${object.metadata.namespace ?? ''}/${object.metadata.name}`);
    // No classes are needed: a stored Pod has the number of its priority in its spec.
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

  /** Returns the Pod with the node terms of its volumes, as its claims are bound now. */
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

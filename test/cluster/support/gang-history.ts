import { findConnection } from '../../../src/kube/client/find-connection.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { POD_GANGS, PODS, type KubeObject, type Resource } from '../../../src/kube/client/resources.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { GATE } from './registered-muster.ts';

interface PodSpec {
  readonly nodeName?: string;
  readonly schedulingGates?: readonly { name: string }[];
}
interface GangSpec {
  readonly podgroups: readonly { name: string; podReferences?: readonly { name: string }[] }[];
}

/**
 * Everything that happened to Pods and PodGangs of a namespace, from watches of its own. etcd's revisions put both kinds
 * in one order, which the arrival of events over two connections does not.
 */
export class GangHistory {
  readonly #plane: ControlPlane;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  readonly #pods: KubeObject[] = [];
  readonly #gangs: KubeObject[] = [];
  #client: KubeClient | undefined;
  #watches: Promise<unknown> | undefined;

  constructor(plane: ControlPlane, namespace: string) {
    this.#plane = plane;
    this.#namespace = namespace;
  }

  async start(): Promise<void> {
    const client = createKubeClient(await findConnection({ kubeconfig: this.#plane.kubeconfig }));
    this.#client = client;
    const from = await Promise.all(
      [PODS, POD_GANGS].map(
        async (kind) => (await client.list(kind, { namespace: this.#namespace })).resourceVersion,
      ),
    );
    this.#watches = Promise.all([
      this.#watch(client, PODS, from[0] ?? '', this.#pods),
      this.#watch(client, POD_GANGS, from[1] ?? '', this.#gangs),
    ]);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('over'));
    await this.#watches;
    await this.#client?.close();
  }

  /** Goes on from the last event over any break, so that nothing is missed. */
  async #watch(client: KubeClient, kind: Resource, from: string, into: KubeObject[]): Promise<void> {
    let resourceVersion = from;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const options = { namespace: this.#namespace, resourceVersion, timeoutSeconds: 300, signal };
        for await (const batch of client.watch(kind, options)) {
          for (const { type, object } of batch) {
            resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
            if (type === 'ADDED' || type === 'MODIFIED') into.push(object);
          }
        }
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** Names of Pods that lost the gate before their gang was Initialized and named them. */
  ungatedEarly(): string[] {
    return this.#firstWithoutGate().flatMap((pod) => {
      const labels = pod.metadata.labels ?? {};
      const gang = this.#gangs
        .filter(({ metadata }) => metadata.name === labels['grove.io/podgang'])
        .filter((state) => version(state) < version(pod))
        .at(-1);
      const group = (gang?.spec as GangSpec | undefined)?.podgroups.find(
        ({ name }) => name === labels['grove.io/podclique'],
      );
      const named = group?.podReferences?.some(({ name }) => name === pod.metadata.name) === true;
      return gang !== undefined && isInitialized(gang) && named ? [] : [pod.metadata.name];
    });
  }

  /** Names of gangs that were Initialized and then were not. */
  initializedTakenBack(): string[] {
    const initialized = new Set<string>();
    return this.#gangs.flatMap((gang) => {
      const uid = gang.metadata.uid ?? '';
      if (isInitialized(gang)) initialized.add(uid);
      return initialized.has(uid) && !isInitialized(gang) ? [gang.metadata.name] : [];
    });
  }

  /** The revision at which something first was so of a Pod. */
  order(name: string, what: 'ungated' | 'bound'): number {
    const states = this.#pods.filter(({ metadata }) => metadata.name === name);
    const found = states.find((pod) =>
      what === 'ungated' ? !isGated(pod) : specOf(pod).nodeName !== undefined,
    );
    if (found === undefined) throw new Error(`${name} was never seen ${what}`);
    return version(found);
  }

  /** Every state of a gang, in order. */
  statesOf(name: string): readonly KubeObject[] {
    return this.#gangs.filter(({ metadata }) => metadata.name === name);
  }

  #firstWithoutGate(): KubeObject[] {
    const seen = new Set<string>();
    return this.#pods.filter((pod) => {
      const uid = pod.metadata.uid ?? '';
      if (pod.metadata.labels?.['grove.io/podgang'] === undefined || isGated(pod) || seen.has(uid))
        return false;
      seen.add(uid);
      return true;
    });
  }
}

const version = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion);
const specOf = (pod: KubeObject): PodSpec => pod.spec as PodSpec;
const isGated = (pod: KubeObject): boolean =>
  specOf(pod).schedulingGates?.some(({ name }) => name === GATE) === true;
const isInitialized = (gang: KubeObject): boolean =>
  (gang.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions?.some(
    ({ type, status }) => type === 'Initialized' && status === 'True',
  ) === true;

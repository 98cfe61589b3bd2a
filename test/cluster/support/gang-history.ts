import { findConnection } from '../../../src/kube/client/find-connection.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { POD_GANGS, PODS, type KubeObject, type Resource } from '../../../src/kube/client/resources.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { GATE } from './registered-muster.ts';

interface PodSpec {
  readonly nodeName?: string;
  readonly schedulingGates?: readonly { name: string }[];
}
interface GangSpec {
  readonly podgroups: readonly { name: string; podReferences?: readonly { name: string }[] }[];
}

/** What a watch has told, and of which revision last. */
interface Told {
  readonly states: KubeObject[];
  upTo: number;
}

/**
 * Everything that happened to Pods and PodGangs of a namespace, from watches of its own. etcd's revisions put both kinds
 * in one order, which the arrival of events over two connections does not. A watch tells later than a read shows:
 * every question waits until all that is stored when it is asked has been told.
 */
export class GangHistory {
  readonly #plane: ControlPlane;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  readonly #pods: Told = { states: [], upTo: 0 };
  readonly #gangs: Told = { states: [], upTo: 0 };
  #client: KubeClient | undefined;
  #watches: Promise<unknown> | undefined;

  constructor(plane: ControlPlane, namespace: string) {
    this.#plane = plane;
    this.#namespace = namespace;
  }

  async start(): Promise<void> {
    const client = createKubeClient(await findConnection({ kubeconfig: this.#plane.kubeconfig }));
    this.#client = client;
    this.#watches = Promise.all([
      this.#watch(client, PODS, this.#pods, await this.#head(client, PODS)),
      this.#watch(client, POD_GANGS, this.#gangs, await this.#head(client, POD_GANGS)),
    ]);
  }

  async #head(client: KubeClient, kind: Resource): Promise<string> {
    return (await client.list(kind, { namespace: this.#namespace })).resourceVersion;
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('over'));
    await this.#watches;
    await this.#client?.close();
  }

  /** Goes on from the last event over any break, so that nothing is missed. */
  async #watch(client: KubeClient, kind: Resource, told: Told, from: string): Promise<void> {
    let resourceVersion = from;
    told.upTo = Number(from);
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const options = { namespace: this.#namespace, resourceVersion, timeoutSeconds: 300, signal };
        for await (const batch of client.watch(kind, options)) {
          for (const { type, object } of batch) {
            resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
            if (type === 'ADDED' || type === 'MODIFIED') told.states.push(object);
            told.upTo = Number(resourceVersion);
          }
        }
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  async #caughtUp(): Promise<void> {
    for (const [kind, told] of [
      [PODS, this.#pods],
      [POD_GANGS, this.#gangs],
    ] as const) {
      const stored = await this.#client?.list(kind, { namespace: this.#namespace });
      const newest = Math.max(0, ...(stored?.items ?? []).map(version));
      await until(`the history of ${kind.plural} is told up to ${newest}`, () => told.upTo >= newest);
    }
  }

  /** Names of Pods that lost the gate before their gang was Initialized and named them. */
  async ungatedEarly(): Promise<string[]> {
    await this.#caughtUp();
    return this.#firstWithoutGate().flatMap((pod) => {
      const labels = pod.metadata.labels ?? {};
      const gang = this.#gangs.states
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
  async initializedTakenBack(): Promise<string[]> {
    await this.#caughtUp();
    const initialized = new Set<string>();
    return this.#gangs.states.flatMap((gang) => {
      const uid = gang.metadata.uid ?? '';
      if (isInitialized(gang)) initialized.add(uid);
      return initialized.has(uid) && !isInitialized(gang) ? [gang.metadata.name] : [];
    });
  }

  /** The revision at which something first was so of a Pod. */
  async order(name: string, what: 'ungated' | 'bound'): Promise<number> {
    await this.#caughtUp();
    const states = this.#pods.states.filter(({ metadata }) => metadata.name === name);
    const found = states.find((pod) =>
      what === 'ungated' ? !isGated(pod) : specOf(pod).nodeName !== undefined,
    );
    if (found === undefined) throw new Error(`${name} was never seen ${what}`);
    return version(found);
  }

  /** Every state of a gang, in order. */
  async statesOf(name: string): Promise<readonly KubeObject[]> {
    await this.#caughtUp();
    return this.#gangs.states.filter(({ metadata }) => metadata.name === name);
  }

  #firstWithoutGate(): KubeObject[] {
    const seen = new Set<string>();
    return this.#pods.states.filter((pod) => {
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

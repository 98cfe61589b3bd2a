import { MUSTER_USER } from '../../../src/api/names.ts';
import type { Serving } from '../../support/serving.ts';
import type { Client, KubeList } from '../control-plane/client.ts';
import type { ControlPlane, ControlPlaneOptions } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { requestsOf, type Audited } from './audited.ts';
import { GangHistory } from './gang-history.ts';
import { verb } from './muster-cli.ts';
import { readerOf } from './reader.ts';
import {
  group,
  type Condition,
  type Gang,
  type Group,
  type Pod,
  type Told,
  type ToldEvent,
} from './gang-objects.ts';
import { GATE, NAMESPACE } from './registered-muster.ts';
import { withMuster, type OnMuster } from './with-muster.ts';

export const KUBE = { 'grove.io/scheduler-name': 'default-scheduler' };
const SHORT_DELETE = { query: { gracePeriodSeconds: 0 } };

/**
 * A control plane with its scheduler, Muster under its own account, and hands to make gangs with. Pods of gang `g` are
 * called `g-<name>`.
 */
export class GangCluster {
  readonly plane: ControlPlane;
  readonly client: Client;
  readonly history: GangHistory;
  readonly #on: OnMuster;
  readonly #reader: string;

  private constructor(on: OnMuster, history: GangHistory, reader: string) {
    this.#on = on;
    this.plane = on.plane;
    this.client = on.plane.client;
    this.history = history;
    this.#reader = reader;
  }

  /**
   * @param given.webhooks whether the API server calls Muster; else anything at all gets in, as it was sent
   * @param given.settings of Muster, beside the usual ones
   * @param given.nodes false: none; else there is one, with `cpu`
   */
  static async start(given: {
    webhooks: boolean;
    settings?: Readonly<Record<string, unknown>>;
    node?: readonly string[];
    plane?: ControlPlaneOptions;
    cpu?: number;
    nodes?: boolean;
  }): Promise<GangCluster> {
    const plane = {
      scheduler: true,
      controllerManager: true,
      auditPolicy: 'Metadata' as const,
      ...given.plane,
    };
    const { cpu = 64, nodes = true } = given;
    const on = await withMuster({ ...given, plane, cpu: nodes ? cpu : undefined });
    try {
      const reader = await readerOf(on.plane, NAMESPACE);
      const history = new GangHistory(on.plane, NAMESPACE);
      await history.start();
      on.before(() => history.stop());
      return new GangCluster(on, history, reader);
    } catch (error) {
      await on.close();
      throw error;
    }
  }

  /** The process that runs now. */
  get muster(): Serving {
    return this.#on.muster;
  }

  /** The directory of Muster's certificate, for a server beside it. */
  get certificates(): string {
    return this.#on.certificates.path;
  }

  stop(): Promise<void> {
    return this.#on.close();
  }

  /** Kills the process and starts another, with other settings where they are given. */
  restart(settings?: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#on.restart(settings);
  }

  createNamespace(name: string): Promise<unknown> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    return this.client.ok('POST', '/api/v1/namespaces', namespace);
  }

  gangs = (namespace = NAMESPACE): string =>
    `/apis/scheduler.grove.io/v1alpha1/namespaces/${namespace}/podgangs`;
  pods = (namespace = NAMESPACE): string => `/api/v1/namespaces/${namespace}/pods`;

  createGang(
    name: string,
    groups: readonly Group[],
    given: {
      namespace?: string;
      labels?: Record<string, string>;
      annotations?: Record<string, string>;
      spec?: object;
    } = {},
  ): Promise<Gang> {
    const { annotations = {}, labels = {}, spec = {} } = given;
    return this.client.ok<Gang>('POST', this.gangs(given.namespace), {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name, annotations, labels: { ...KUBE, ...labels } },
      spec: { podgroups: groups, ...spec },
    });
  }

  /** With the gate, whether or not a webhook adds it. */
  createPod(
    gang: string,
    name: string,
    podclique: string,
    given: {
      namespace?: string;
      finalizers?: readonly string[];
      labels?: Record<string, string>;
      spec?: object;
    } = {},
  ): Promise<Pod> {
    const labels = { 'grove.io/podgang': gang, 'grove.io/podclique': podclique, ...KUBE, ...given.labels };
    return this.client.ok<Pod>('POST', this.pods(given.namespace), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${gang}-${name}`, labels, finalizers: given.finalizers ?? [] },
      spec: {
        containers: [{ name: 'main', image: 'example/train:1' }],
        schedulingGates: [{ name: GATE }],
        ...given.spec,
      },
    });
  }

  removePod(name: string, namespace?: string): Promise<unknown> {
    return this.client.ok('DELETE', `${this.pods(namespace)}/${name}`, undefined, SHORT_DELETE);
  }

  removeGang(name: string, namespace?: string): Promise<unknown> {
    return this.client.ok('DELETE', `${this.gangs(namespace)}/${name}`);
  }

  gang(name: string, namespace?: string): Promise<Gang> {
    return this.client.ok<Gang>('GET', `${this.gangs(namespace)}/${name}`);
  }

  async podsOf(gang: string, namespace?: string): Promise<readonly Pod[]> {
    const query = { labelSelector: `grove.io/podgang=${gang}` };
    return (await this.client.ok<KubeList<Pod>>('GET', this.pods(namespace), undefined, { query })).items;
  }

  async references(gang: string): Promise<string[][]> {
    const { spec } = await this.gang(gang);
    return spec.podgroups.map(({ podReferences }) => podReferences.map(({ name }) => name));
  }

  async condition(gang: string, type: string, namespace?: string): Promise<Condition | undefined> {
    return (await this.gang(gang, namespace)).status?.conditions?.find((one) => one.type === type);
  }

  /** Waits until a condition is as given. */
  untilCondition(
    gang: string,
    type: string,
    wanted: Partial<Condition>,
    namespace?: string,
  ): Promise<Condition> {
    const so = Object.entries(wanted) as [keyof Condition, unknown][];
    return until(`${type} of ${gang} is ${JSON.stringify(wanted)}`, async () => {
      const found = await this.condition(gang, type, namespace);
      if (found !== undefined && so.every(([key, value]) => found[key] === value)) return found;
      throw new Error(`it is ${JSON.stringify(found)}`);
    });
  }

  /** Waits until the gang has as many Pods and a scheduler has bound each. */
  untilBound(gang: string, count: number, namespace?: string): Promise<boolean> {
    return until(`${count} Pods of ${gang} are bound`, async () => {
      const pods = await this.podsOf(gang, namespace);
      if (pods.length === count && pods.every((pod) => pod.spec.nodeName !== undefined)) return true;
      const { metadata } = await this.gang(gang, namespace);
      const told = this.muster.log().slice(-5);
      throw new Error(JSON.stringify({ pods: pods.map(shownOf), metadata, told }));
    });
  }

  /** The whole life of a gang of two, so that a test knows that the loop has been at work meanwhile. */
  async life(name: string): Promise<void> {
    await this.createGang(name, [group('worker', 2)]);
    await this.createPod(name, 'worker-0', 'worker');
    await this.createPod(name, 'worker-1', 'worker');
    await this.untilBound(name, 2);
    await this.untilCondition(name, 'Scheduled', { status: 'True' });
  }

  /** What a kubelet writes of a Pod. */
  kubelet(pod: string, phase: 'Running' | 'Failed', ready: boolean): Promise<unknown> {
    const condition = {
      type: 'Ready',
      status: ready ? 'True' : 'False',
      lastTransitionTime: new Date().toISOString(),
    };
    return this.client.ok(
      'PATCH',
      `${this.pods()}/${pod}/status`,
      { status: { phase, conditions: [condition] } },
      { contentType: 'application/strategic-merge-patch+json' },
    );
  }

  /** Events about an object, by kind and name. */
  async events(kind: 'Pod' | 'PodGang', name: string): Promise<ToldEvent[]> {
    const path = `/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`;
    const { items } = await this.client.ok<KubeList<ToldEvent & { reportingController: string }>>(
      'GET',
      path,
    );
    return items.filter(
      ({ regarding, reportingController }) =>
        reportingController === 'muster' && regarding.kind === kind && regarding.name === name,
    );
  }

  untilEvent(kind: 'Pod' | 'PodGang', name: string, reason: string): Promise<ToldEvent> {
    return until(`Event ${reason} of ${name}`, async () =>
      (await this.events(kind, name)).find((one) => one.reason === reason),
    );
  }

  /** `muster status`, by somebody who may view the namespace and no more. */
  async status(gang: string): Promise<Told> {
    const args = ['status', gang, '-n', NAMESPACE, '-o', 'json', '--kubeconfig', this.#reader];
    const { out } = await verb(args);
    const found = (JSON.parse(out.slice(out.indexOf('{'), out.lastIndexOf('}') + 1)) as { gangs: Told[] })
      .gangs[0];
    if (found === undefined) throw new Error(`muster status knows nothing of ${gang}: ${out}`);
    return found;
  }

  /** Muster's requests about a gang, its Pods and their Events, so far. */
  async requestsAbout(gang: string): Promise<Audited[]> {
    const all = await requestsOf(this.plane, MUSTER_USER);
    return all.filter(
      ({ name }) => name === gang || name.startsWith(`${gang}-`) || name.startsWith(`${gang}.`),
    );
  }
}

/** What says why a Pod is not bound. */
const shownOf = ({ metadata: { name }, spec: { nodeName, schedulingGates }, status }: Pod): object => ({
  name,
  nodeName,
  schedulingGates,
  status,
});

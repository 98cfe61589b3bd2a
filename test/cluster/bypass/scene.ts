import { MUSTER_NAMESPACE, MUSTER_USER } from '../../../src/api/names.ts';
import type { Serving } from '../../support/serving.ts';
import type { Client, KubeList, KubeObject, RequestOptions } from '../control-plane/client.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { GANGS } from '../control-plane/releases.ts';
import { until as wait } from '../control-plane/until.ts';
import { GATE } from '../support/registered-muster.ts';
import type { Stage } from './stage.ts';
import type { Answer, State } from './way.ts';

/** A dozen scenes wait at the same time, for the same loop: each asks less often than one that waits alone. */
const until = <T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> =>
  wait(what, probe, { everyMs: 200 });

export const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** An identity, by impersonation: rights, policies and webhooks see it and nobody else. */
export type Identity = Pick<RequestOptions, 'as' | 'asGroups'>;

export const MASTERS: Identity = {};
export const MUSTER: Identity = {
  as: MUSTER_USER,
  asGroups: ['system:serviceaccounts', `system:serviceaccounts:${MUSTER_NAMESPACE}`, 'system:authenticated'],
};
/** What Muster accepts here: few enough to be taken all at little cost. */
export const MAX_CONNECTIONS = 256;
/** The node that all scenes share. */
export const NODE = 'n1';
export const KUBELET: Identity = {
  as: `system:node:${NODE}`,
  asGroups: ['system:nodes', 'system:authenticated'],
};
export const NOBODY: Identity = { as: 'system:anonymous', asGroups: ['system:unauthenticated'] };

export interface Pod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly ownerReferences?: readonly object[] };
  readonly spec: {
    readonly nodeName?: string;
    readonly schedulerName?: string;
    readonly schedulingGates?: readonly { readonly name: string }[];
    readonly containers: readonly { readonly name: string; readonly image: string }[];
  };
}
export interface Gang extends KubeObject {
  readonly spec: {
    readonly podgroups: readonly {
      readonly name: string;
      readonly minReplicas: number;
      readonly podReferences?: readonly { readonly namespace: string; readonly name: string }[];
    }[];
  };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message: string;
    }[];
  };
}

export interface PodGiven {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly metadata?: object;
  readonly spec?: object;
}

/** The labels of a Pod of the gang that every scene may have. */
export const TRAIN = { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' };

/** What a container asks for, where `pods/resize` is to find something to change. */
export const REQUESTING = {
  containers: [{ name: 'main', image: 'example/train:1', resources: { requests: { cpu: '1' } } }],
};

/** One way in one state: a namespace with a tenant of its own, one more that is not his, and hands. */
export class Scene {
  readonly plane: ControlPlane;
  readonly state: State;
  readonly namespace: string;
  /** Somebody else's: there once something of his is {@link waiting}. */
  readonly other: string;
  /** May `edit` the namespace, and has no rights elsewhere. */
  readonly tenant: Identity;
  readonly #stage: Stage;
  readonly #opened: string[] = [];

  constructor(stage: Stage, state: State, number: number) {
    this.plane = stage.plane;
    this.#stage = stage;
    this.state = state;
    this.namespace = `w${number}-${state}`;
    this.other = `${this.namespace}-other`;
    this.tenant = { as: `tenant-${number}-${state}`, asGroups: ['tenants', 'system:authenticated'] };
  }

  /** The process that answers reviews. */
  get muster(): Serving {
    return this.#stage.muster;
  }

  /** The folder with a certificate for loopback and its authority's. */
  get certificates(): string {
    return this.#stage.certificates;
  }

  async open(): Promise<void> {
    const { client } = this.plane;
    await this.#openNamespace(this.namespace);
    await client.ok('POST', `${RBAC}/namespaces/${this.namespace}/rolebindings`, {
      metadata: { name: 'tenant' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: this.tenant.as }],
    });
  }

  async #openNamespace(name: string): Promise<void> {
    this.#opened.push(name);
    await this.make('/api/v1/namespaces', { metadata: { name, labels: { scene: 'yes' } } });
  }

  send = (
    who: Identity,
    method: string,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<Answer> => this.plane.client.request<unknown>(method, path, body, { ...options, ...who });

  /** A client that is somebody by his certificate, where impersonation itself is tried. */
  clientOf = async ({ as = '', asGroups = [] }: Identity): Promise<Client> =>
    this.plane.clientFor(await this.plane.kubeconfigFor(as, asGroups));

  /** Lets the tenant write Kubernetes' own gangs in his namespace. */
  grantNative = async (): Promise<void> => {
    const base = `${RBAC}/namespaces/${this.namespace}`;
    await this.make(`${base}/roles`, {
      metadata: { name: 'native' },
      rules: [{ apiGroups: ['scheduling.k8s.io'], resources: ['podgroups', 'workloads'], verbs: ['*'] }],
    });
    await this.make(`${base}/rolebindings`, {
      metadata: { name: 'native' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'native' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: this.tenant.as }],
    });
  };

  /** As somebody who may: the scene breaks where it is refused. */
  make = <T = KubeObject>(path: string, body: object, who: Identity = MASTERS): Promise<T> =>
    this.plane.client.ok<T>('POST', path, body, who);

  get = <T>(path: string): Promise<T> => this.plane.client.ok<T>('GET', path);

  pods = (name = '', sub = '', namespace = this.namespace): string =>
    pathOf(`/api/v1/namespaces/${namespace}/pods`, name, sub);
  gangs = (name = '', sub = '', namespace = this.namespace): string =>
    pathOf(`/apis/scheduler.grove.io/v1alpha1/namespaces/${namespace}/podgangs`, name, sub);
  /** Kubernetes' own gangs. */
  native = (name = '', namespace = this.namespace): string =>
    pathOf(`/apis/${GANGS}/namespaces/${namespace}/podgroups`, name);

  /** A Pod of the gang, unless told otherwise. */
  pod = (
    name: string,
    { labels = TRAIN, annotations = {}, metadata = {}, spec = {} }: PodGiven = {},
  ): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels, annotations, ...metadata },
    spec: { containers: [{ name: 'main', image: 'example/train:1' }], ...spec },
  });

  gang = (
    name = 'train',
    minReplicas = 2,
    more: { metadata?: object; spec?: object; references?: readonly object[] } = {},
  ): object => ({
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name, ...more.metadata },
    spec: {
      podgroups: [{ name: 'worker', minReplicas, podReferences: more.references ?? [] }],
      ...more.spec,
    },
  });

  /** Gang `train` of two with one Pod, `w0`, which waits for the other; Muster has taken notice. */
  waiting = async (namespace = this.namespace, spec: object = {}): Promise<void> => {
    if (!this.#opened.includes(namespace)) await this.#openNamespace(namespace);
    await this.make(this.gangs('', '', namespace), this.gang());
    await this.make(this.pods('', '', namespace), this.pod('w0', { spec }));
    await this.untilSaid('worker 1/2', 'train', namespace);
  };

  /** Waits until the loop has said so of a gang. */
  untilSaid = async (words: string, name = 'train', namespace = this.namespace): Promise<void> => {
    await until(`Muster says "${words}" of ${namespace}/${name}`, async () => {
      const { status } = await this.storedGang(name, namespace);
      const said = JSON.stringify(status?.conditions ?? []);
      if (said.includes(words)) return true;
      throw new Error(said);
    });
  };

  untilPods = (count: number, namespace = this.namespace): Promise<readonly Pod[]> =>
    until(`${count} Pods in ${namespace}`, async () => {
      const { items } = await this.get<KubeList<Pod>>(this.pods('', '', namespace));
      return items.length >= count && items;
    });

  /** Waits for an Event of Muster's in the namespace. */
  untilEvent = async (reason: string): Promise<void> => {
    const path = `/apis/events.k8s.io/v1/namespaces/${this.namespace}/events`;
    await until(`Event ${reason} in ${this.namespace}`, async () => {
      const { items } = await this.get<KubeList<KubeObject & { reportingController: string }>>(path);
      return items.some((one) => one.reportingController === 'muster' && one.reason === reason);
    });
  };

  /** Waits until the loop has seen what there is now: it hears of everything in its order. */
  untilLoopWasBusy = async (): Promise<void> => {
    await this.make(this.gangs(), this.gang('probe', 1));
    const labels = { ...TRAIN, 'grove.io/podgang': 'probe' };
    await this.make(this.pods(), this.pod('probe-0', { labels }));
    await until(`the loop knows ${this.namespace}`, async () => (await this.initialized('probe')) === 'True');
  };

  untilUngated = (...names: readonly string[]): Promise<void> =>
    this.untilUngatedIn(this.namespace, ...names);

  untilUngatedIn = async (namespace: string, ...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      await until(`${namespace}/${name} is released`, async () => {
        if (!gatesOf(await this.storedPod(name, namespace)).includes(GATE)) return true;
        throw new Error(JSON.stringify((await this.storedGang('train', namespace)).status));
      });
    }
  };

  /** The native gang that Muster makes. */
  untilNative = (name: string): Promise<KubeObject> =>
    until(`Muster has made the native gang ${this.namespace}/${name}`, () =>
      this.get<KubeObject>(this.native(name)),
    );

  storedPod = (name = 'w0', namespace = this.namespace): Promise<Pod> =>
    this.get<Pod>(this.pods(name, '', namespace));
  storedGang = (name = 'train', namespace = this.namespace): Promise<Gang> =>
    this.get<Gang>(this.gangs(name, '', namespace));
  referencesOf = async (name = 'train', namespace = this.namespace): Promise<string[]> =>
    (await this.storedGang(name, namespace)).spec.podgroups.flatMap(({ podReferences = [] }) =>
      podReferences.map((reference) => reference.name),
    );
  initialized = async (name = 'train', namespace = this.namespace): Promise<string | undefined> =>
    (await this.storedGang(name, namespace)).status?.conditions?.find(({ type }) => type === 'Initialized')
      ?.status;

  /** JSON patch that takes the gate off a stored Pod. */
  ungating = async (name = 'w0', namespace = this.namespace): Promise<object[]> => {
    const index = gatesOf(await this.storedPod(name, namespace)).indexOf(GATE);
    return [{ op: 'remove', path: `/spec/schedulingGates/${index}` }];
  };

  /** What matters of everything in its namespaces, so that two moments can be compared. */
  async snapshot(): Promise<unknown> {
    const found: Record<string, unknown> = {};
    for (const namespace of this.#opened) {
      const { items } = await this.get<KubeList<Pod>>(this.pods('', '', namespace));
      for (const { metadata, spec } of items)
        found[`pod ${namespace}/${metadata.name}`] = [identity(metadata), spec];
      const gangs = await this.get<KubeList<Gang>>(this.gangs('', '', namespace));
      for (const { metadata, spec, status } of gangs.items) {
        const words = (status?.conditions ?? []).find(({ type }) => type === 'Initialized');
        found[`gang ${namespace}/${metadata.name}`] = [identity(metadata), spec, words?.status];
      }
    }
    return found;
  }
}

export const gatesOf = (pod: Pod): string[] => (pod.spec.schedulingGates ?? []).map(({ name }) => name);
export const STRATEGIC = { contentType: 'application/strategic-merge-patch+json' };
export const MERGE = { contentType: 'application/merge-patch+json' };
export const APPLY = (fieldManager: string, force = true): RequestOptions => ({
  contentType: 'application/apply-patch+yaml',
  query: { fieldManager, force },
});

const pathOf = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('/');

const identity = ({ uid, labels, annotations, finalizers }: KubeObject['metadata']): unknown => [
  uid,
  labels,
  annotations,
  finalizers,
];

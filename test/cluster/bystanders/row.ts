import type { RequestOptions } from '../control-plane/client.ts';

/** One request as a client sends it: method, path, body. */
export type Request = readonly [method: string, path: string, body?: unknown, options?: RequestOptions];

/** What a component that knows no gangs sends, of objects that are of none. */
export interface Row {
  /** The account under which it sends. */
  readonly as: string;
  readonly groups?: readonly string[];
  readonly does: string;
  /** Where to read that it does: a public project's file, or the API's own page. */
  readonly source: string;
  /** Whether a Pod of it names a group that somebody has named by hand: such a Pod gets a label of Muster's, and no other. */
  readonly named?: true;
  /** What is there before, made by an administrator. */
  readonly given?: (on: Place) => readonly Request[];
  readonly sends: (on: Place) => readonly Request[];
}

/** Where a row finds and leaves its objects: a namespace of its own, in each state. */
export class Place {
  readonly namespace: string;

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  /** A path of the core group, such as `pods/x/status`. */
  core = (path: string, namespace = this.namespace): string => `/api/v1/namespaces/${namespace}/${path}`;
  /** Of a group and its version, such as `apps/v1`. */
  of = (group: string, path: string, namespace = this.namespace): string =>
    `/apis/${group}/namespaces/${namespace}/${path}`;
}

export const account = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`;
export const KUBE = 'kubernetes/kubernetes v1.36.3';
export const STRATEGIC: RequestOptions = { contentType: 'application/strategic-merge-patch+json' };
export const apply = (fieldManager: string): RequestOptions => ({
  contentType: 'application/apply-patch+yaml',
  query: { fieldManager, force: true },
});

export const UID = '11111111-2222-4333-8444-555555555555';
export const CONTAINERS = [{ name: 'main', image: 'example/a', resources: { requests: { cpu: '1' } } }];
export const owner = (apiVersion: string, kind: string, name = 'x'): object => ({
  ...{ apiVersion, kind, name, uid: UID, controller: true, blockOwnerDeletion: true },
});
export const pod = (metadata: object = {}, spec: object = {}): object => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', ...metadata } },
  spec: { containers: CONTAINERS, ...spec },
});
/** One that a node runs. */
export const placed = (metadata: object = {}): object => pod(metadata, { nodeName: 'n1' });
export const binding = (metadata: object = {}): object => ({
  ...{ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'x', ...metadata } },
  target: { kind: 'Node', name: 'n1' },
});
export const condition = (type: string, status: string, reason: string): object => ({
  ...{ type, status, reason, message: 'x', lastTransitionTime: '2026-01-01T00:00:00Z' },
});
/** How a scheduler takes a Pod's room: it says so on the Pod and deletes it. */
export const preempts: Row['sends'] = ({ core }) => [
  [
    'PATCH',
    core('pods/x/status'),
    { status: { conditions: [condition('DisruptionTarget', 'True', 'PreemptionByScheduler')] } },
    STRATEGIC,
  ],
  ['DELETE', core('pods/x')],
];
export const template = { metadata: { labels: { app: 'x' } }, spec: { containers: CONTAINERS } };
export const selector = { matchLabels: { app: 'x' } };
/** With a Pod template, as most workloads have one. */
export const workload = (apiVersion: string, kind: string, spec: object, metadata: object = {}): object => ({
  ...{ apiVersion, kind, metadata: { name: 'x', ...metadata }, spec },
});
export const JOB = workload('batch/v1', 'Job', {
  template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } },
});
export const SET = workload('apps/v1', 'StatefulSet', { serviceName: 'x', selector, template });

import type { ServerResponse } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { event, FaultServer, json, list, status, type Answer } from '../kube/fault-server.ts';

export const GATE = { name: 'grove.io/podgang-pending-creation' };
export const PODS = 'GET /api/v1/namespaces/ml/pods?';
export const GANGS = 'GET /apis/scheduler.grove.io/v1alpha1/namespaces/ml/podgangs?';

/** Requests for one gang, which no watch makes, and those about its scheduler. */
const TIMELINE =
  /\/(podgangs)\?.*fieldSelector=metadata\.name|\/(pods)\?.*labelSelector=[^&]*%3D|\/(events)\?|^GET \/apis\/(apiextensions|scheduling)/;

type Group = readonly [name: string, minReplicas: number, ...references: string[]];

export const gangObject = (name: string, version: number, groups: readonly Group[], initialized = false) => ({
  metadata: {
    namespace: 'ml',
    name,
    uid: `uid-${name}`,
    resourceVersion: String(version),
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { 'grove.io/scheduler-name': 'kai-scheduler' },
  },
  spec: {
    podgroups: groups.map(([group, minReplicas, ...references]) => ({
      name: group,
      minReplicas,
      podReferences: references.map((reference) => ({ namespace: 'ml', name: reference })),
    })),
  },
  status: { conditions: initialized ? [{ type: 'Initialized', status: 'True' }] : [] },
});

export const podObject = (
  name: string,
  version: number,
  { gang = 'train', node }: { gang?: string; node?: string } = {},
) => ({
  metadata: {
    namespace: 'ml',
    name,
    uid: `uid-${name}`,
    resourceVersion: String(version),
    labels: { 'grove.io/podgang': gang, 'grove.io/podclique': name.replace(/-\d+$/, '') },
  },
  spec: node === undefined ? { schedulingGates: [GATE] } : { nodeName: node },
  status:
    node === undefined
      ? { phase: 'Pending' }
      : { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});

/** An API server of lists and watches that a test writes into; `kubeconfig` leads to its namespace `ml`. */
export class WatchedApi {
  readonly server: FaultServer;
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #open = new Map<string, ServerResponse>();

  private constructor(server: FaultServer, folder: string) {
    this.server = server;
    this.#folder = folder;
    this.kubeconfig = join(folder, 'kubeconfig');
  }

  static async start(): Promise<WatchedApi> {
    const api = new WatchedApi(await FaultServer.start(), await mkdtemp(join(tmpdir(), 'muster-status-')));
    const { server, tls } = api.server.connection();
    const ca = Buffer.from(tls.ca ?? '').toString('base64');
    const config = {
      clusters: [{ name: 'x', cluster: { server, 'certificate-authority-data': ca } }],
      contexts: [{ name: 'x', context: { cluster: 'x', namespace: 'ml' } }],
      'current-context': 'x',
    };
    await writeFile(api.kubeconfig, JSON.stringify(config));
    api.server.answer('GET /version', json({}));
    return api;
  }

  /** What is there, as both lists tell it. */
  has(gangs: readonly object[], pods: readonly object[]): this {
    this.server.answer(GANGS, list(1, gangs));
    this.server.answer(PODS, list(1, pods));
    return this;
  }

  /** What `muster timeline` reads, from now on. Lists that are left out may not be read. */
  tellsTimeline(lists: Readonly<Partial<Record<'podgangs' | 'pods' | 'events', readonly object[]>>>): this {
    this.server.standing = (line) => {
      const plural = TIMELINE.exec(line)?.slice(1).find(Boolean);
      if (plural === undefined) return undefined;
      const found = new Map<string, readonly object[]>(Object.entries(lists)).get(plural);
      return found === undefined ? status(403, `${plural} is forbidden`) : list(1, found);
    };
    return this;
  }

  /** Accepts the next watch of each kind. */
  accepts(): this {
    for (const path of [GANGS, PODS]) this.server.answer(path, this.#held(path));
    return this;
  }

  /** Whether both are watched now. */
  get watched(): boolean {
    return this.#open.size === 2;
  }

  /** Whether one is watched, by the path of its list. */
  watches(path: string): boolean {
    return this.#open.has(path);
  }

  tell(path: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', ...objects: readonly object[]): void {
    for (const object of objects) this.#open.get(path)?.write(event(type, object));
  }

  /** Ends both watches in the middle, and whatever else is open. What comes then is refused, `accepts` comes after. */
  goesAway(times: number): this {
    for (const path of [GANGS, PODS])
      this.server.answer(path, ...Array.from({ length: times }, () => status(503, 'etcd is away')));
    return this.cuts();
  }

  /** Ends both watches in the middle, and whatever else is open. */
  cuts(): this {
    this.#open.clear();
    this.server.cutAll();
    return this;
  }

  async close(): Promise<void> {
    await this.server.close();
    await rm(this.#folder, { recursive: true });
  }

  #held(path: string): Answer {
    return (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      this.#open.set(path, response);
    };
  }
}

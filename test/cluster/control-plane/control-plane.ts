import type { AuditLevel } from './audit.ts';
import type { Binaries, Binary } from './binaries.ts';
import type { Client } from './client.ts';
import type { Kubectl } from './kubectl.ts';
import type { NodeSize } from './nodes.ts';
import type { Release } from './releases.ts';

export interface ControlPlaneOptions {
  /** Progress of a build, should one be necessary. Default: stderr. */
  readonly log?: (line: string) => void;
  /** Whether missing binaries may be built, which takes minutes. Default true. */
  readonly build?: boolean;
  /** Default: the one that this run is about. */
  readonly release?: Release;
  /** Default false. */
  readonly scheduler?: boolean;
  /** Deployments, Jobs, namespaces, garbage collection, service accounts ... Default false. */
  readonly controllerManager?: boolean;
  /**
   * With the controller manager: nodes that are silent for this long (seconds) are given up, as in a real cluster. Then
   * `addNode` makes a node that has to be kept alive by heartbeats. Default: no node is ever given up.
   */
  readonly nodeGraceSeconds?: number;
  /** Of the controller manager: controllers that it is to do without, by the names that its `--controllers` knows. */
  readonly withoutControllers?: readonly string[];
  /** Folder for all state, kept afterwards. Default: a temporary one, removed by `stop()`. */
  readonly dir?: string;
  /** Keep an audit log; `true` means level `Request`, which holds the patches of webhooks. Default: none. */
  readonly auditPolicy?: boolean | AuditLevel;
  readonly admissionControlConfigFile?: string;
  /** On top of the release's own, for API server, scheduler and controller manager alike. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** On top of the release's own. */
  readonly runtimeConfig?: Readonly<Record<string, string>>;
  readonly extraApiServerArgs?: readonly string[];
  /** Aborting stops a start-up under way and everything it started; without effect afterwards. */
  readonly signal?: AbortSignal;
}

/** The programs that can run; kubectl is a tool, not one of them. */
export type Component = Exclude<Binary, 'kubectl'>;

/** A running control plane. All of it listens on 127.0.0.1 only. */
export interface ControlPlane {
  /** Of the API server that was started first, e.g. `v1.36.3`. */
  readonly version: string;
  /** `https://127.0.0.1:<port>`; stays the same over a restart. */
  readonly url: string;
  /** `http://127.0.0.1:<port>` of etcd, which also serves JSON over HTTP below `/v3/`. */
  readonly etcdUrl: string;
  /** Of the scheduler, where one was asked for: its metrics lie below it. */
  readonly schedulerUrl: string;
  /** PEM file that the API server's certificate is checked against. */
  readonly caFile: string;
  readonly dir: string;
  readonly binaries: Readonly<Partial<Binaries>>;
  /** Path of the kubeconfig of `admin` in `system:masters`. */
  readonly kubeconfig: string;
  /**
   * Path of a kubeconfig that makes its bearer any user at all, by a client certificate. The groups of a service
   * account are added when none are given; `system:authenticated` always comes by itself.
   */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>;
  /** As admin. */
  readonly client: Client;
  /** A client under any of the kubeconfigs; closed by `stop()`. */
  clientFor(kubeconfig: string): Promise<Client>;
  /** As admin. */
  readonly kubectl: Kubectl;
  readonly auditLog?: string;
  /** Makes a Ready node without a kubelet. */
  addNode(name: string, size?: NodeSize): Promise<void>;
  /** Kills the scheduler with SIGKILL. */
  killScheduler(): Promise<void>;
  /** Starts it again, and waits until it is ready. */
  startScheduler(): Promise<void>;
  /** Ends the API server, by SIGKILL if `kill`; everything else keeps running, and clients see a dead server. */
  stopApiServer(options?: { readonly kill?: boolean }): Promise<void>;
  /** Starts it again on the same port, over the same data, and waits until it is ready. */
  startApiServer(): Promise<void>;
  restartApiServer(): Promise<void>;
  /**
   * Ends all programs but etcd, and starts those of another release in their place: on the same ports, over the same data.
   * @param meanwhile what is done while none of them runs
   */
  become(release: Release, meanwhile?: () => Promise<unknown>): Promise<void>;
  /** All that the program has logged since it was first started. */
  logs(name: Component): Promise<string>;
  /** Ids of the processes that run now. */
  pids(): Readonly<Partial<Record<Component, number>>>;
  /** Ends every process and removes the temporary folder. Safe to call again. */
  stop(): Promise<void>;
}

/** A program ended, or did not become ready in time; the message ends with the tail of its log. */
export class ControlPlaneFailed extends Error {
  override readonly name = 'ControlPlaneFailed';
}

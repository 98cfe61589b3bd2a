import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { ControlPlane } from '../test/cluster/control-plane/control-plane.ts';
import type { Narrator } from './narrator.ts';
import { NAMESPACE, yamlOf, type Manifest } from './objects.ts';
import type { Serving } from './serving.ts';

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As much of a stored Pod as the demo looks at. */
export interface StoredPod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string; readonly schedulerName?: string };
}

const WITHIN_MS = 60_000;
const PAUSE_MS = 20;

const PATHS = {
  Pod: `/api/v1/namespaces/${NAMESPACE}/pods`,
  PodGang: `/apis/scheduler.grove.io/v1alpha1/namespaces/${NAMESPACE}/podgangs`,
  ResourceBinding: `/apis/work.karmada.io/v1alpha2/namespaces/${NAMESPACE}/resourcebindings`,
  FleetQueue: '/apis/muster.dev/v1alpha1/fleetqueues',
};

/** What every scene stands on. Each line that begins with `$` was run, and what follows is what it printed. */
export class Stage {
  readonly plane: ControlPlane;
  readonly serving: Serving;
  readonly tell: Narrator;
  readonly #main: string;

  constructor(plane: ControlPlane, serving: Serving, tell: Narrator, main: string) {
    this.plane = plane;
    this.serving = serving;
    this.tell = tell;
    this.#main = main;
  }

  /** Runs kubectl and shows it, as `shown` where the arguments are not for a reader. */
  async kubectl(args: readonly string[], shown = args.join(' '), stdin?: string): Promise<Result> {
    this.tell.command(`kubectl ${shown}`);
    const result = await this.quietly(args, stdin);
    this.tell.output(`${result.stderr}${result.stdout}`);
    return result;
  }

  quietly(args: readonly string[], stdin?: string): Promise<Result> {
    return this.plane.kubectl(['-n', NAMESPACE, ...args], stdin === undefined ? {} : { stdin });
  }

  create(manifest: Manifest, file = `${manifest.metadata['name'] as string}.yaml`): Promise<Result> {
    return this.kubectl(['create', '-f', '-'], `create -f ${file}`, yamlOf(manifest));
  }

  // What nobody is shown is asked without kubectl: whoever waits asks often, and each of them is a process.

  /** What would be stored, by a dry run; without content where it would be refused. */
  async dryRun(manifest: Manifest): Promise<unknown> {
    const path = PATHS[manifest['kind'] as keyof typeof PATHS];
    return this.#asked('POST', path, { dryRun: 'All' }, manifest);
  }

  /** What is stored; without content where nothing is. */
  get(kind: keyof typeof PATHS, name: string): Promise<unknown> {
    return this.#asked('GET', `${PATHS[kind]}/${name}`);
  }

  async pods(labelSelector: string): Promise<readonly StoredPod[]> {
    const { items = [] } = (await this.#asked('GET', PATHS.Pod, { labelSelector })) as {
      items?: readonly StoredPod[];
    };
    return items;
  }

  async #asked(method: string, path: string, query = {}, body?: object): Promise<unknown> {
    const answer = await this.plane.client.request<unknown>(method, path, body, { query });
    return answer.status < 300 ? answer.body : {};
  }

  /** Runs a verb of the program under show, and shows it. */
  async muster(args: readonly string[], shown = args.join(' ')): Promise<Result> {
    this.tell.command(`muster ${shown}`);
    const result = await new Promise<Result>((resolve) => {
      const env = { ...process.env, KUBECONFIG: this.plane.kubeconfig };
      execFile(process.execPath, [this.#main, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
    this.tell.output(result.stdout + result.stderr);
    return result;
  }

  /** Asks until it is so; false when it is not within a minute. */
  async within(probe: () => Promise<boolean>): Promise<boolean> {
    const start = Date.now();
    for (let waited = 0; waited < WITHIN_MS; waited = Date.now() - start) {
      if (await probe()) return true;
      await delay(Math.max(PAUSE_MS, waited / 10));
    }
    return false;
  }
}

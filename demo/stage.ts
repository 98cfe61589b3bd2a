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

const WITHIN_MS = 30_000;
const PAUSE_MS = 20;

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

  /** What would be stored, by a dry run. */
  async dryRun(manifest: Manifest): Promise<Result & { stored: unknown }> {
    const args = ['create', '--dry-run=server', '-o', 'json', '-f', '-'];
    const result = await this.quietly(args, yamlOf(manifest));
    return { ...result, stored: JSON.parse(result.stdout || '{}') as unknown };
  }

  async get(kind: string, name: string): Promise<unknown> {
    return JSON.parse((await this.quietly(['get', kind, name, '-o', 'json'])).stdout || '{}');
  }

  async pods(selector: string): Promise<readonly StoredPod[]> {
    const { stdout } = await this.quietly(['get', 'pods', '-l', selector, '-o', 'json']);
    return (JSON.parse(stdout || '{"items":[]}') as { items: StoredPod[] }).items;
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

  /** Asks until it is so; false when it is not within half a minute. */
  async within(probe: () => Promise<boolean>): Promise<boolean> {
    const deadline = Date.now() + WITHIN_MS;
    for (; Date.now() < deadline; await delay(PAUSE_MS)) if (await probe()) return true;
    return false;
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../src/cli/input/package-root.ts';

/** As much of the test control plane as the demo uses. */
export interface ControlPlane {
  readonly version: string;
  readonly url: string;
  readonly kubeconfig: string;
  readonly kubectl: (
    args: readonly string[],
    options?: { stdin?: string; as?: string; asGroups?: readonly string[] },
  ) => Promise<{ code: number; stdout: string; stderr: string }>;
  /** Path of a kubeconfig that makes its bearer this user. */
  kubeconfigFor(user: string): Promise<string>;
  /** Makes a node that the scheduler uses. */
  addNode(name: string): Promise<void>;
  stop(): Promise<void>;
}

type Start = (options: { log: (line: string) => void; scheduler: boolean }) => Promise<ControlPlane>;

/**
 * Starts a real etcd, kube-apiserver and kube-scheduler. The launcher lies with the tests and is run as it is: Node reads TypeScript.
 * It is not part of the image, where a demo has no place.
 * @throws with what is missing and how to get it
 */
export async function startControlPlane(log: (line: string) => void): Promise<ControlPlane> {
  const launcher = join(packageRoot() ?? '', 'test', 'cluster', 'control-plane', 'start.ts');
  if (!existsSync(launcher))
    throw new Error('the launcher of the control plane is only in a checkout of the repository');
  const { startControlPlane: start } = (await import(pathToFileURL(launcher).href)) as {
    startControlPlane: Start;
  };
  return start({ log, scheduler: true });
}

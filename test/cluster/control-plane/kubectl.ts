import { spawn } from 'node:child_process';
import { goEnvironment } from './managed-process.ts';

export interface KubectlOptions {
  /** Written to kubectl's standard input, e.g. a manifest for `apply -f -`. */
  readonly stdin?: string;
  /** Impersonated user and groups. */
  readonly as?: string;
  readonly asGroups?: readonly string[];
}

export interface KubectlResult {
  /** Exit code; 0 is success. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl under a kubeconfig; resolves whatever the exit code, rejects only when kubectl cannot be run. */
export type Kubectl = (args: readonly string[], options?: KubectlOptions) => Promise<KubectlResult>;

/** @param cacheDir where kubectl keeps discovery; never the user's own `~/.kube`. */
export function kubectlWith(path: string, kubeconfig: string, cacheDir: string): Kubectl {
  return (args, { stdin, as, asGroups = [] } = {}) =>
    new Promise((resolve, reject) => {
      const child = spawn(
        path,
        [
          `--kubeconfig=${kubeconfig}`,
          `--cache-dir=${cacheDir}`,
          ...(as === undefined ? [] : [`--as=${as}`]),
          ...asGroups.map((group) => `--as-group=${group}`),
          ...args,
        ],
        { stdio: 'pipe', env: goEnvironment() },
      );
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      // kubectl may end without having read it all; its exit code and stderr then say why.
      child.stdin.on('error', () => undefined);
      child.stdin.end(stdin ?? '');
      child.once('error', reject);
      child.once('close', (code) => {
        resolve({ code: code ?? -1, stdout, stderr });
      });
    });
}

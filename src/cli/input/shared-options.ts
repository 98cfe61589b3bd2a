import { InvalidArgumentError, Option } from 'commander';
import { isDnsLabel } from '../../k8s/name-syntax.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeClientOptions } from '../../kube/client/http-client.ts';
import type { CliIo } from '../output/io.ts';

/** `-f`, which several verbs have. @param what kind of files */
export const filenameOption = (what = 'YAML or JSON'): Option =>
  new Option(
    '-f, --filename <file...>',
    `files and folders with ${what}; - is standard input`,
  ).makeOptionMandatory();

export const outputOption = (formats: readonly string[] = ['text', 'json']): Option =>
  new Option('-o, --output <format>', 'how to print it').choices(formats).default('text');

/** `-n`. @param of objects that may lack a namespace */
export const namespaceOption = (of = 'objects'): Option =>
  new Option('-n, --namespace <name>', `namespace of ${of} that name none`)
    .default('default')
    .argParser((name: string) => {
      if (isDnsLabel(name)) return name;
      throw new InvalidArgumentError(
        'A namespace is called by lower-case letters, digits and "-", at most 63.',
      );
    });

export const strictOption = (): Option =>
  new Option('--strict', 'fail where gangs, Pods and labels do not go together, or a gang cannot start');

export const colorOption = (): Option =>
  new Option('--color <when>', 'colours in text output').choices(['always', 'never', 'auto']).default('auto');

/** How long (ms) the first request may take: a wrong kubeconfig is reported soon, and a slow API server is accepted. */
const FIRST_ANSWER_MS = 10_000;

/** The cluster, by the same flags as kubectl's. */
export interface ClusterFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/**
 * Connects to the cluster, which has to answer. Loads the client only here, since `--no-controller` does not use it.
 * @returns the client, and the namespace for objects without one
 * @throws MusterError CLUSTER_UNREACHABLE, ApiError
 */
export async function connect(
  { kubeconfig, context }: ClusterFlags,
  io: Pick<CliIo, 'env'>,
  options: KubeClientOptions = {},
): Promise<{ client: KubeClient; namespace: string }> {
  const { findConnection } = await import('../../kube/client/find-connection.ts');
  const { createKubeClient } = await import('../../kube/client/http-client.ts');
  const connection = await findConnection({ kubeconfig, context, env: io.env });
  const client = createKubeClient(connection, options);
  try {
    await client.read('/version', { timeoutMs: FIRST_ANSWER_MS });
    return { client, namespace: connection.namespace ?? 'default' };
  } catch (thrown) {
    await client.close();
    throw thrown;
  }
}

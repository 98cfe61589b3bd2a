import { InvalidArgumentError, Option } from 'commander';
import { isDnsLabel } from '../../k8s/name-syntax.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeClientOptions } from '../../kube/client/http-client.ts';
import type { CliIo } from '../output/io.ts';

/** Options that several verbs have, declared once. @param what the files hold */
export const filenameOption = (what = 'YAML or JSON'): Option =>
  new Option(
    '-f, --filename <file...>',
    `files and folders with ${what}; - is standard input`,
  ).makeOptionMandatory();

export const outputOption = (formats: readonly string[] = ['text', 'json']): Option =>
  new Option('-o, --output <format>', 'how to print it').choices(formats).default('text');

/** @param of what may name no namespace */
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

/** How long the API server may take to answer at start: a wrong kubeconfig is told at once, a slow start is none. */
const FIRST_ANSWER_MS = 10_000;

/** Which cluster, as the flags of kubectl name it. */
export interface ClusterFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/**
 * A client for the cluster, which answers, and the namespace that is meant where none is named. Loads the client only
 * here: `--no-controller` has no use for it.
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

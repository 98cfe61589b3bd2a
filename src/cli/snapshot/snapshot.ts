import { Command } from 'commander';
import type { CliIo } from '../output/io.ts';
import { toJson } from '../output/structured.ts';
import { anonymizer } from './anonymous.ts';
import type { JsonObject } from '../../json/json.ts';
import { snapshotObjects } from '../../controller/preemption/read-cluster.ts';
import { MusterError } from '../../errors.ts';
import { ApiError, isForbidden } from '../../kube/client/errors.ts';
import { SNAPSHOT_RIGHTS } from '../../kube/client/resources.ts';
import { connect, type ClusterFlags } from '../input/shared-options.ts';

interface SnapshotFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly anonymous?: true;
}

const EXAMPLES = `
Example:
  $ muster snapshot > cluster.json
  $ muster plan -f gang.yaml --snapshot cluster.json
  $ muster snapshot --anonymous > cluster.json

A v1 List of nodes, Pods, budgets, classes, gangs and what else decides where Pods fit, with only
the fields that do: no images, environment or volumes' contents. With --anonymous every name, label
value and label key of your own is a hash, so that a plan can be discussed without the cluster.`;

/** `muster snapshot`: prints the objects of a cluster that a plan needs, for use elsewhere or later. */
export const snapshotCommand = (io: CliIo): Command =>
  new Command('snapshot')
    .description('write what plan needs to know of a cluster to standard output')
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--anonymous', 'hashes in the place of names')
    .addHelpText('after', EXAMPLES)
    .action((flags: SnapshotFlags) => snapshot(flags, io));

async function snapshot({ anonymous, ...cluster }: SnapshotFlags, io: CliIo): Promise<void> {
  const objects = await clusterObjects(cluster, io);
  const hide = anonymous === true ? anonymizer() : (object: (typeof objects)[number]) => object;
  io.stdout('{"apiVersion":"v1","kind":"List","items":[\n');
  objects.forEach((object, index) => {
    io.stdout(`${toJson(hide(object))}${index < objects.length - 1 ? ',' : ''}\n`);
  });
  io.stdout(']}\n');
}

/**
 * All objects of a cluster that a plan needs, trimmed. Kinds that the API server does not serve are left out.
 * @throws MusterError CLUSTER_UNREACHABLE, CLUSTER_REFUSED
 */
export async function clusterObjects(flags: ClusterFlags, io: Pick<CliIo, 'env'>): Promise<JsonObject[]> {
  const { client } = await connect(flags, io);
  try {
    return await snapshotObjects(client, new AbortController().signal);
  } catch (error) {
    throw snapshotRefused(error);
  } finally {
    await client.close();
  }
}

/** The error for a 403, with the rights that a snapshot takes; any other error unchanged. */
export function snapshotRefused(error: unknown): unknown {
  if (!(error instanceof ApiError) || !isForbidden(error)) return error;
  return new MusterError(
    'CLUSTER_REFUSED',
    error.message,
    `It takes the right to list these in all namespaces: ${SNAPSHOT_RIGHTS.join(', ')}. Somebody who has it can write a snapshot for you: muster snapshot > cluster.json`,
    { cause: error },
  );
}

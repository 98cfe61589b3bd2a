import { Command } from 'commander';
import type { CliIo } from '../output/io.ts';
import { toJson } from '../output/structured.ts';
import { anonymizer } from './anonymous.ts';
import { clusterObjects } from './cluster-objects.ts';

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

/** `muster snapshot`: a cluster to plan with, elsewhere or later. */
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

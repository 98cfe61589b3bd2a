import { Command, Option } from 'commander';
import { BackendRegistry, builtInBackends, supportedSchedulers } from '../backends/registry.ts';
import { loadConfiguration, readConfigurationFile } from '../config/load.ts';
import { CONFIG_FILE_VARIABLE } from '../config/overrides.ts';
import { EVERY_GANG, type GangSelectors } from '../gang/gang-selection.ts';
import { ExitStatus } from './exit-status.ts';
import type { CliIo } from './io.ts';
import { paletteFor } from './palette.ts';
import { policyFrom } from './policy.ts';
import { connect } from './serve-loop.ts';
import { renderTable, renderTree } from './status-render.ts';
import { readStatus } from './status-view.ts';

interface StatusFlags {
  namespace?: string;
  allNamespaces?: boolean;
  output: 'text' | 'json';
  kubeconfig?: string;
  config?: string;
}

const EXAMPLE = `
Examples:
  $ muster status -A              every gang of the cluster
  $ muster status train -n team   one gang: its groups and Pods, and why each of them waits

It reads Pods and PodGangs and judges them as the loop does; it needs no running Muster. Exit code 1 where the gang that
was asked for does not exist.`;

/** `muster status`: what is there, and why it is not moving. */
export const statusCommand = (io: CliIo): Command =>
  new Command('status')
    .description('show the gangs of a cluster, and why one is not moving')
    .argument('[gang]', 'name of a PodGang')
    .option('-n, --namespace <name>', 'where to look (default: that of the kubeconfig’s context)')
    .option('-A, --all-namespaces', 'look everywhere')
    .addOption(
      new Option('-o, --output <format>', 'how to print it').choices(['text', 'json']).default('text'),
    )
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl)')
    .option('--config <file>', 'OperatorConfiguration: which scheduler serves gangs that name none')
    .addHelpText('after', EXAMPLE)
    .action((gang: string | undefined, flags: StatusFlags) => status(gang, flags, io));

async function status(name: string | undefined, flags: StatusFlags, io: CliIo): Promise<void> {
  const known = registryFor(flags.config ?? io.env[CONFIG_FILE_VARIABLE], io);
  const { client, namespace } = await connect(flags.kubeconfig, io);
  try {
    const where = flags.allNamespaces === true ? undefined : (flags.namespace ?? namespace);
    const all = await readStatus(client, { namespace: where, now: io.now(), ...known });
    const gangs = name === undefined ? all : all.filter((gang) => gang.name === name);
    const place = where === undefined ? 'in any namespace' : `in namespace ${where}`;
    if (flags.output === 'json') {
      io.stdout(`${JSON.stringify({ gangs }, null, 2)}\n`);
    } else if (gangs.length === 0) {
      io.stderr(
        name === undefined ? `no gangs ${place}\n` : `error: PodGang ${name} does not exist ${place}\n`,
      );
    } else {
      const palette = paletteFor('auto', io);
      io.stdout(
        name === undefined
          ? renderTable(gangs, { namespaces: where === undefined }, palette)
          : gangs.map((gang) => renderTree(gang, palette)).join('\n'),
      );
    }
    if (name !== undefined && !gangs.some((gang) => gang.summary !== undefined)) throw new ExitStatus(1);
  } finally {
    await client.close();
  }
}

/** By the configuration where there is one; else every backend, and no word about which is the default. */
function registryFor(
  file: string | undefined,
  io: CliIo,
): { registry: BackendRegistry; selectors: GangSelectors; defaultBackend?: string } {
  const { names } = supportedSchedulers();
  if (!file) {
    const profiles = builtInBackends.map((factory) => ({ name: factory.name }));
    const registry = new BackendRegistry(profiles, 'default-scheduler');
    return { registry, selectors: EVERY_GANG, defaultBackend: '(default)' };
  }
  const { configuration } = loadConfiguration({
    text: readConfigurationFile(file),
    fileName: file,
    env: io.env,
    flags: {},
    supportedSchedulers: names,
  });
  return { registry: policyFrom(configuration).registry, selectors: configuration.controllers.podGang };
}

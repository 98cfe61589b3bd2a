import { Command } from 'commander';
import { MUSTER_NAMESPACE } from '../../api/names.ts';
import { CONFIG_FILE_VARIABLE } from '../../config/overrides.ts';
import { outputOption, connect } from '../input/shared-options.ts';
import { examine } from './examine.ts';
import { examineFleet } from './fleet/examine-fleet.ts';
import { inCluster } from './diagnosis.ts';
import { fixScript, reportLines, reportOf } from './render.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { paletteFor } from '../output/palette.ts';
import { painted } from '../status/table.ts';
import { WIDTH } from '../status/view.ts';
import { musterVersion } from '../version.ts';

interface DoctorFlags {
  config?: string;
  kubeconfig?: string;
  context?: string;
  namespace: string;
  tryIn: string;
  output: 'text' | 'json';
  fleet?: true;
  fix?: true;
}

const EXAMPLE = `
Examples:
  $ muster doctor
  $ muster doctor --config config.yaml --try-in team-a
  $ muster doctor --fix > mend.sh
  $ muster doctor --fleet --kubeconfig karmada.config --config config.yaml
  $ muster doctor -o json | jq -r '.findings[] | select(.severity == "problem").fix'

It reads, and tries out two Pods and a PodGang by dry run: nothing is stored or changed. What cannot be seen with the
rights or from the place of whoever asks is "not checked" (?), never fine. Exit code 0 where there is no problem,
1 where there is one, 3 where the cluster cannot be reached.`;

/** `muster doctor`: reports what is wrong with an installation, and how to repair it. */
export const doctorCommand = (io: CliIo): Command =>
  new Command('doctor')
    .description('look at an installation in a cluster, and say what is wrong and what mends it')
    .option('--config <file>', 'OperatorConfiguration (default: the one that the Deployment mounts)')
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('-n, --namespace <name>', 'where Muster runs', MUSTER_NAMESPACE)
    .option('--try-in <name>', 'namespace in which Pods and PodGangs are tried by dry run', 'default')
    .option('--fix', 'print the commands that mend what is wrong, for a shell; none is run')
    .option('--fleet', 'look at what is registered in Karmada’s API server instead')
    .addOption(outputOption())
    .addHelpText('after', EXAMPLE)
    .action((flags: DoctorFlags) => doctor(flags, io));

async function doctor(flags: DoctorFlags, io: CliIo): Promise<void> {
  const { client } = await connect(flags, io);
  try {
    const muster = musterVersion();
    const { kubernetes, findings } = await (flags.fleet === true ? examineFleet : examine)({
      client,
      config: flags.config ?? io.env[CONFIG_FILE_VARIABLE],
      namespace: flags.namespace,
      tryIn: flags.tryIn,
      muster,
      now: io.now(),
    });
    const report = reportOf(
      { server: client.server, kubernetes, muster },
      findings.map((one) => inCluster(one, flags)),
    );
    if (flags.output === 'json') {
      io.stdout(`${JSON.stringify(report, null, 2)}\n`);
    } else if (flags.fix === true) {
      io.stdout(fixScript(report));
    } else {
      const palette = paletteFor('auto', io);
      io.stdout(
        reportLines(report, WIDTH)
          .map((line) => `${painted(line, palette)}\n`)
          .join(''),
      );
    }
    if (report.problems > 0) throw new ExitStatus(1);
  } finally {
    await client.close();
  }
}

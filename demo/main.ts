/** `npm run demo`: what Muster does, shown on a real API server. Exit code 1 when something was not as claimed. */
import { parseArgs } from 'node:util';
import { processIo } from '../src/cli/output/io.ts';
import { messageOf } from '../src/errors.ts';
import { demo } from './demo.ts';

const HELP = `Usage: npm run demo -- [options]

  (none)      a real etcd, kube-apiserver, kube-scheduler and kube-controller-manager; built with Go the first time, about ten minutes
  --keep      leaves it all running until Ctrl-C, for your own kubectl
  --dashboard gangs that live, and the address of a page that shows them, until Ctrl-C
  --offline   without a control plane: the real HTTPS server, and reviews sent to it directly
  --hpc       without a control plane: a gang that runs its program under Flux
  --fleet     gangs across clusters, on a real API server with the shapes of Karmada's definitions
  --source    runs Muster from src instead of the built program
  --help      this
`;

const io = processIo();
try {
  const { values } = parseArgs({
    options: {
      keep: { type: 'boolean', default: false },
      dashboard: { type: 'boolean', default: false },
      offline: { type: 'boolean', default: false },
      hpc: { type: 'boolean', default: false },
      fleet: { type: 'boolean', default: false },
      source: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) io.stdout(HELP);
  else process.exitCode = (await demo(values, io)) ? 0 : 1;
} catch (thrown) {
  io.stderr(`error: ${messageOf(thrown)}\n`);
  process.exitCode = 1;
}

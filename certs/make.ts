import { certsCommand } from '../src/cli/certs/certs.ts';
import { MusterError } from '../src/errors.ts';

/** `muster certs` without a build: certificates for development in `certs/out`, unless `--out` says otherwise. */
const given = process.argv.slice(2);
const asked = given.some((argument) => argument === '--help' || argument === '-h');
const names = given.some((argument) => argument.startsWith('--dns'))
  ? []
  : ['--dns', 'muster.muster-system.svc', 'localhost', '127.0.0.1'];
// What is given comes last, and so overrides the default directory.
const argv = asked ? ['--help'] : [...names, '--out', `${import.meta.dirname}/out`, ...given];

try {
  await certsCommand({
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(text),
    now: () => new Date(),
    env: process.env,
    isTerminal: process.stdout.isTTY,
    readStdin: () => Promise.resolve(Buffer.of()),
  }).parseAsync(argv, { from: 'user' });
} catch (error) {
  if (error instanceof MusterError) {
    process.stderr.write(`${error.code}: ${error.message}\n  fix: ${error.fix}\n`);
    process.exitCode = error.exitCode;
  } else if (!asked) {
    throw error;
  }
}

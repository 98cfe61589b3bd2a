import { randomUUID } from 'node:crypto';
import { chmod, lstat, rename, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { MusterError, messageOf } from '../../errors.ts';
import { issueDevelopmentCertificates } from '../../tls/issue.ts';
import { makeFolder, type CliIo } from '../output/io.ts';

interface CertsOptions {
  readonly out: string;
  readonly dns: readonly string[];
  readonly days: number;
  readonly force?: true;
}

const DEFAULT_DAYS = 365;
/** Ten years: a development certificate should not be valid for longer than anybody remembers it. */
const MAX_DAYS = 3650;
const SECRET = 0o600;
const PUBLIC = 0o644;

const examples = `
Example:
  $ muster certs --out /tmp/muster-certs --dns muster.muster-system.svc localhost 127.0.0.1

Writes ca.crt (for caBundle), tls.crt and tls.key, the names that a kubernetes.io/tls Secret has.
For development only: in a cluster let cert-manager issue and renew (docs/certificates.md).
`;

/**
 * `muster certs`: writes a CA and a serving certificate for development.
 * @throws (from `parseAsync`) MusterError `USAGE`, for a wrong flag, for files that exist, and for an `--out` that cannot be
 *   written; commander's own error after `--help`, with exit code 0
 */
export const certsCommand = (io: CliIo): Command =>
  new Command('certs')
    .description('make a CA and a serving certificate for development')
    .requiredOption('--out <dir>', 'directory to write ca.crt, tls.crt and tls.key to; made if missing')
    .requiredOption('--dns <name...>', 'DNS names and IP addresses that clients call', collectName)
    .option('--days <n>', `how long both are valid, 1 to ${MAX_DAYS}`, parseDays, DEFAULT_DAYS)
    .option('--force', 'overwrite files that exist')
    .addHelpText('after', examples)
    .configureOutput({
      writeOut: (text) => io.stdout(text),
      writeErr: (text) => io.stderr(text),
      outputError: () => undefined, // exitOverride throws the message instead
    })
    .exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      throw usage(error.message.replace(/^error: /, ''), 'see "muster certs --help"', error);
    })
    .action((options: CertsOptions) => writeCertificates(options, io));

const writeCertificates = async ({ out, dns, days, force }: CertsOptions, io: CliIo): Promise<void> => {
  if (force !== true) await refuseToOverwrite(out);
  const now = io.now();
  const made = await issueDevelopmentCertificates({ dnsNames: dns, days, now });
  const files = [
    {
      name: 'ca.crt',
      mode: PUBLIC,
      content: made.caCertificate,
      note: 'the CA, for caBundle; its key was not kept',
    },
    { name: 'tls.crt', mode: PUBLIC, content: made.certificate, note: `for ${dns.join(', ')}` },
    { name: 'tls.key', mode: SECRET, content: made.key, note: 'secret, mode 0600' },
  ];
  try {
    await makeFolder(out);
    for (const { name, mode, content } of files) await writeWhole(out, name, content, mode);
  } catch (cause) {
    throw usage(
      `cannot write to ${out}: ${messageOf(cause)}`,
      'give --out a directory that you may write to',
      cause,
    );
  }
  for (const { name, note } of files) io.stdout(`wrote ${join(out, name)} (${note})\n`);
  const until = new Date(now.getTime() + days * 24 * 60 * 60 * 1000);
  io.stdout(`valid until ${until.toISOString()} (${days} ${days === 1 ? 'day' : 'days'})\n`);
};

/** Writes the file atomically: a reader sees the old content or the new one, and the file never has wider permissions. */
const writeWhole = async (directory: string, name: string, content: string, mode: number): Promise<void> => {
  const temporary = join(directory, `.${name}.${randomUUID()}`);
  try {
    await writeFile(temporary, content, { flag: 'wx', mode });
    await chmod(temporary, mode); // restores what the umask removed
    await rename(temporary, join(directory, name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};

const refuseToOverwrite = async (directory: string): Promise<void> => {
  for (const name of ['ca.crt', 'tls.crt', 'tls.key']) {
    const path = join(directory, name);
    const exists = await lstat(path).then(
      () => true,
      () => false,
    );
    if (exists) throw usage(`${path} exists`, 'give another --out, or --force to overwrite all three files');
  }
};

const DNS_NAME =
  /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const MAX_DNS_NAME = 253;

const collectName = (value: string, previous: readonly string[] = []): string[] => {
  if (isIP(value) === 0 && (value.length > MAX_DNS_NAME || !DNS_NAME.test(value))) {
    throw new InvalidArgumentError('It is neither a DNS name nor an IP address.');
  }
  return [...new Set([...previous, value])];
};

const parseDays = (value: string): number => {
  const days = Number(value);
  if (!/^\d+$/.test(value) || days < 1 || days > MAX_DAYS) {
    throw new InvalidArgumentError(`It is not a whole number from 1 to ${MAX_DAYS}.`);
  }
  return days;
};

const usage = (message: string, fix: string, cause?: unknown): MusterError =>
  new MusterError('USAGE', message, fix, { cause });

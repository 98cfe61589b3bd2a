import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueDevelopmentCertificates } from '../src/tls/issue.ts';
import type { Scratch } from './servers.ts';

/** A folder for one run: the certificates that all servers show, the configuration and the logs. */
export async function makeScratch(): Promise<{ scratch: Scratch; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'));
  const made = await issueDevelopmentCertificates({
    dnsNames: ['localhost', '127.0.0.1'],
    days: 1,
    now: new Date(),
  });
  const caFile = join(folder, 'ca.crt');
  writeFileSync(caFile, made.caCertificate);
  writeFileSync(join(folder, 'tls.crt'), made.certificate);
  writeFileSync(join(folder, 'tls.key'), made.key, { mode: 0o600 });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Also where the bench is ended under way.
  process.once('exit', remove);
  return { scratch: { folder, caFile }, remove };
}

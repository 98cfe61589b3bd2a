import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { issueDevelopmentCertificates, issueServingCertificate } from '../../../src/tls/issue.ts';
import { loadServingPair } from '../../../src/tls/reload.ts';
import { issueRsaAuthority } from '../../support/client-certificate.ts';

/** A second opinion on what we issue, and certificates of kinds that we do not issue ourselves. */
const here = spawnSync('openssl', ['version']).status === 0 ? describe : describe.skip;
const now = new Date();

const openssl = (directory: string, command: string): string =>
  execFileSync('openssl', command.split(' '), { cwd: directory, encoding: 'utf8', stdio: 'pipe' });
const emptyDirectory = (): string => mkdtempSync(join(tmpdir(), 'muster-tls-'));

here('with the openssl program', () => {
  test('what we issue stands its strict verification', async () => {
    const directory = emptyDirectory();
    const made = await issueDevelopmentCertificates({ dnsNames: ['muster.test', '127.0.0.1'], days: 1, now });
    await writeFile(join(directory, 'ca.crt'), made.caCertificate);
    await writeFile(join(directory, 'tls.crt'), made.certificate);
    const verify = 'verify -x509_strict -purpose sslserver -CAfile ca.crt';
    expect(openssl(directory, `${verify} -verify_hostname muster.test tls.crt`)).toBe('tls.crt: OK\n');
    expect(openssl(directory, `${verify} -verify_ip 127.0.0.1 tls.crt`)).toBe('tls.crt: OK\n');
  });

  test('so does a certificate under a CA with an RSA key', async () => {
    const directory = emptyDirectory();
    const authority = await issueRsaAuthority({ commonName: 'made by version 0.1', now, days: 2 });
    const issued = await issueServingCertificate({ authority, dnsNames: ['muster.test'], days: 1, now });
    await writeFile(join(directory, 'ca.crt'), authority.certificate);
    await writeFile(join(directory, 'tls.crt'), issued.certificate);
    expect(openssl(directory, 'verify -x509_strict -purpose sslserver -CAfile ca.crt tls.crt')).toBe(
      'tls.crt: OK\n',
    );
  });

  test('ECDSA P-256 under its own CA, as cert-manager is asked for', async () => {
    const directory = emptyDirectory();
    const ec = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -x509 -days 2';
    openssl(directory, `req ${ec} -keyout ca.key -out ca.crt -subj /CN=ca`);
    openssl(
      directory,
      `req ${ec} -keyout tls.key -out tls.crt -subj /CN=x -CA ca.crt -CAkey ca.key` +
        ' -addext subjectAltName=DNS:muster.test -addext basicConstraints=CA:FALSE',
    );
    const pair = await loadServingPair(directory, { now: new Date(), serverName: 'muster.test' });
    expect(pair.dnsNames).toEqual(['muster.test']);
  });

  test('an RSA key too short to be served is refused before it gets near a server', async () => {
    const directory = emptyDirectory();
    openssl(directory, 'req -newkey rsa:1024 -nodes -x509 -days 2 -keyout tls.key -out tls.crt -subj /CN=x');
    await expect(loadServingPair(directory, { now: new Date() })).rejects.toMatchObject({
      code: 'TLS_UNREADABLE',
      message: expect.stringMatching(/^OpenSSL refuses to serve tls\.crt in .*ee key too small/),
      fix: 'issue it anew with ECDSA P-256 or RSA of at least 2048 bits, signed with SHA-256 or better',
    });
  });
});

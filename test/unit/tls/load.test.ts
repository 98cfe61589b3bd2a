import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { MusterError } from '../../../src/errors.ts';
import { issueAuthority, issueServingCertificate } from '../../../src/tls/issue.ts';
import type { Issued } from '../../../src/tls/issue.ts';
import { loadServingPair } from '../../../src/tls/reload.ts';
import { mountSecret, plainDirectory, secretData } from './mounted-secret.ts';
import type { SecretData } from './mounted-secret.ts';

const serverName = 'muster.muster-system.svc';
const now = new Date('2026-06-01T12:00:00Z');
const day = 24 * 60 * 60 * 1000;
const daysFromNow = (days: number): Date => new Date(now.getTime() + days * day);
const dnsNames = [serverName, 'muster.muster-system', '*.example.org', '127.0.0.1'];

let authority: Issued;
let foreignAuthority: Issued;
let leaf: Issued;
let other: Issued;
let selfSigned: Issued;

beforeAll(async () => {
  [authority, foreignAuthority, selfSigned] = await Promise.all([
    issueAuthority({ commonName: 'ours', now, days: 60, pathLength: 1 }),
    issueAuthority({ commonName: 'theirs', now, days: 60 }),
    issueServingCertificate({ dnsNames, now, days: 30 }),
  ]);
  [leaf, other] = await Promise.all([
    issueServingCertificate({ authority, dnsNames, now, days: 30 }),
    issueServingCertificate({ authority, dnsNames: ['other.example.com'], now, days: 30 }),
  ]);
});

const rejection = async (directory: string, at = now, name = serverName): Promise<MusterError> => {
  const error: unknown = await loadServingPair(directory, { now: at, serverName: name }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(MusterError);
  return error as MusterError;
};

const expectRejection = async (
  data: SecretData,
  expected: { code: string; message: string | RegExp; fix: string },
): Promise<void> => {
  const directory = await plainDirectory(data);
  const { code, message, fix } = await rejection(directory);
  expect(code).toBe(expected.code);
  const shown = message.replaceAll(directory, 'DIR');
  if (typeof expected.message === 'string') expect(shown).toBe(expected.message);
  else expect(shown).toMatch(expected.message);
  expect(fix.replaceAll(directory, 'DIR')).toBe(expected.fix);
};

describe('a good pair', () => {
  test('tells what a server and a metric need to know of it', async () => {
    const { directory } = await mountSecret(secretData(leaf, authority));
    const pair = await loadServingPair(directory, { now, serverName });
    expect(pair.certificate.toString()).toBe(leaf.certificate);
    expect(pair.key.toString()).toBe(leaf.key);
    expect(pair.caCertificate?.toString()).toBe(authority.certificate);
    expect(pair.notBefore.toISOString()).toBe('2026-06-01T11:55:00.000Z');
    expect(pair.notAfter.toISOString()).toBe('2026-07-01T12:00:00.000Z');
    expect(pair.dnsNames).toEqual([serverName, 'muster.muster-system', '*.example.org']);
    expect(pair.fingerprint256).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
    expect(pair.serial).toMatch(/^[0-9A-F]{32}$/);
  });

  test.each([
    ['without ca.crt', () => secretData(leaf)],
    ['with an empty ca.crt, as of an ACME issuer', () => ({ ...secretData(leaf), 'ca.crt': '\n' })],
  ])('%s is taken without a chain check', async (_, data) => {
    const pair = await loadServingPair(await plainDirectory(data()), { now, serverName });
    expect(pair).not.toHaveProperty('caCertificate');
  });

  test('a self-signed certificate is its own CA', async () => {
    const directory = await plainDirectory(secretData(selfSigned, selfSigned));
    await expect(loadServingPair(directory, { now, serverName })).resolves.toHaveProperty('serial');
  });

  test('ca.crt may hold the old CA beside the new one', async () => {
    const bundle = foreignAuthority.certificate + authority.certificate;
    const directory = await plainDirectory({ ...secretData(leaf), 'ca.crt': bundle });
    await expect(loadServingPair(directory, { now, serverName })).resolves.toHaveProperty('serial');
  });

  test.each(['127.0.0.1', 'any.example.org'])('answers to %s as well', async (name) => {
    const directory = await plainDirectory(secretData(leaf, authority));
    await expect(loadServingPair(directory, { now, serverName: name })).resolves.toHaveProperty('serial');
  });

  test('any name will do when none is given', async () => {
    const directory = await plainDirectory(secretData(other, authority));
    await expect(loadServingPair(directory, { now })).resolves.toHaveProperty('dnsNames', [
      'other.example.com',
    ]);
  });

  test.each([
    ['the first moment', -5 / (24 * 60)],
    ['the last moment', 30],
  ])('is good at %s', async (_, days) => {
    const directory = await plainDirectory(secretData(leaf));
    await expect(loadServingPair(directory, { now: daysFromNow(days), serverName })).resolves.toHaveProperty(
      'serial',
    );
  });
});

describe('TLS_UNREADABLE', () => {
  const mountIt =
    'mount a Secret of type kubernetes.io/tls at DIR, or make one for development with "muster certs"';

  test.each(['tls.crt', 'tls.key'])('a missing %s', async (file) => {
    const data = Object.fromEntries(
      Object.entries(secretData(leaf, authority)).filter(([name]) => name !== file),
    );
    await expectRejection(data, {
      code: 'TLS_UNREADABLE',
      message: `cannot read ${file} in DIR: there is no such file`,
      fix: mountIt,
    });
  });

  test.each(['tls.crt', 'tls.key'])('an empty %s', async (file) => {
    await expectRejection(
      { ...secretData(leaf, authority), [file]: ' \n' },
      { code: 'TLS_UNREADABLE', message: `cannot read ${file} in DIR: the file is empty`, fix: mountIt },
    );
  });

  test.each(['tls.crt', 'ca.crt'])('a directory in the place of %s', async (file) => {
    const directory = await plainDirectory(secretData(leaf, authority));
    await rm(join(directory, file));
    await mkdir(join(directory, file));
    expect((await rejection(directory)).message).toBe(
      `cannot read ${file} in ${directory}: it is a directory`,
    );
  });

  test('no permission to read', async () => {
    if (process.getuid?.() === 0) return; // root reads everything
    const directory = await plainDirectory(secretData(leaf, authority));
    await chmod(join(directory, 'tls.key'), 0);
    expect((await rejection(directory)).message).toBe(
      `cannot read tls.key in ${directory}: permission denied`,
    );
  });

  test('any other failure to read is told in the words of the system', async () => {
    const directory = await plainDirectory({});
    await symlink('tls.crt', join(directory, 'tls.crt'));
    expect((await rejection(directory)).message).toContain(`cannot read tls.crt in ${directory}: `);
    expect((await rejection(directory)).message).toContain('ELOOP');
  });

  test('a missing directory', async () => {
    const secret = await mountSecret(secretData(leaf));
    await secret.remove();
    const { directory } = secret;
    const { code, message } = await rejection(directory);
    expect(code).toBe('TLS_UNREADABLE');
    expect(message).toBe(`cannot read tls.crt in ${directory}: there is no such file`);
  });

  test('a ..data that links to nothing', async () => {
    const directory = await plainDirectory(secretData(leaf));
    await symlink('..gone', join(directory, '..data'));
    expect((await rejection(directory)).message).toBe(
      `cannot read ..data in ${directory}: it links to nothing`,
    );
  });

  test('a certificate that is not PEM', () =>
    expectRejection(
      { ...secretData(leaf), 'tls.crt': 'hello' },
      {
        code: 'TLS_UNREADABLE',
        message: /^tls\.crt in DIR is not a PEM certificate: ./,
        fix: 'give a PEM file that starts with "-----BEGIN CERTIFICATE-----"',
      },
    ));

  test('a key that is not PEM', () =>
    expectRejection(
      { ...secretData(leaf), 'tls.key': leaf.certificate },
      {
        code: 'TLS_UNREADABLE',
        message: /^tls\.key in DIR is not a PEM private key: ./,
        fix: 'give a PEM file that starts with "-----BEGIN PRIVATE KEY-----"',
      },
    ));

  test('an encrypted key', () => {
    const options = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
    const encrypted = createPrivateKey(leaf.key).export(options).toString();
    return expectRejection(
      { ...secretData(leaf), 'tls.key': encrypted },
      {
        code: 'TLS_UNREADABLE',
        message: 'tls.key in DIR is encrypted, and nobody is there to type its passphrase',
        fix: 'store the key unencrypted, for instance with "openssl pkey -in tls.key"; the Secret is what protects it',
      },
    );
  });
});

describe('what a client would refuse', () => {
  test('TLS_MISMATCH: the key of another certificate', () =>
    expectRejection(
      { ...secretData(leaf, authority), 'tls.key': other.key },
      {
        code: 'TLS_MISMATCH',
        message: /^tls\.key in DIR is not the key of tls\.crt \(serial [0-9A-F]{32}\)$/,
        fix: 'put the key that the certificate was issued for beside it; in a chain the serving certificate comes first',
      },
    ));

  test('TLS_MISMATCH: a key of another kind', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { code } = await rejection(await plainDirectory({ ...secretData(leaf), 'tls.key': key }));
    expect(code).toBe('TLS_MISMATCH');
  });

  test('TLS_MISMATCH: the CA before the leaf', async () => {
    const data = { ...secretData(leaf, authority), 'tls.crt': authority.certificate + leaf.certificate };
    expect((await rejection(await plainDirectory(data))).code).toBe('TLS_MISMATCH');
  });

  test('TLS_EXPIRED', async () => {
    const directory = await plainDirectory(secretData(leaf, authority));
    const { code, message, fix } = await rejection(directory, new Date(daysFromNow(30).getTime() + 1));
    expect(code).toBe('TLS_EXPIRED');
    expect(message).toBe(`tls.crt in ${directory} expired at 2026-07-01T12:00:00.000Z`);
    expect(fix).toBe('renew the certificate (see why cert-manager did not), or check the clock of this node');
  });

  test('TLS_NOT_YET_VALID', async () => {
    const directory = await plainDirectory(secretData(leaf, authority));
    const { code, message, fix } = await rejection(directory, daysFromNow(-1));
    expect(code).toBe('TLS_NOT_YET_VALID');
    expect(message).toBe(`tls.crt in ${directory} is not valid before 2026-06-01T11:55:00.000Z`);
    expect(fix).toBe(
      'wait until then, issue a certificate that is valid now, or check the clock of this node',
    );
  });

  test('TLS_WRONG_NAME: names are listed', () =>
    expectRejection(secretData(other, authority), {
      code: 'TLS_WRONG_NAME',
      message: `tls.crt in DIR is not for ${serverName}; its subject alternative names are: DNS:other.example.com`,
      fix: `issue it with ${serverName} among its DNS names (spec.dnsNames of the cert-manager Certificate)`,
    }));

  test.each([
    ['a name below the one in the certificate', `x.${serverName}`],
    ['two labels for one wildcard', 'a.b.example.org'],
    ['another address', '127.0.0.2'],
  ])('TLS_WRONG_NAME: %s', async (_, name) => {
    const directory = await plainDirectory(secretData(leaf));
    expect((await rejection(directory, now, name)).code).toBe('TLS_WRONG_NAME');
  });

  test('TLS_WRONG_NAME: the common name does not count', async () => {
    // a CA's certificate has a common name and no subject alternative name
    const { message } = await rejection(await plainDirectory(secretData(authority)), now, 'ours');
    expect(message).toMatch('is not for ours; its subject alternative names are: none');
  });
});

describe('TLS_CHAIN', () => {
  test('ca.crt of another issuer', () =>
    expectRejection(secretData(leaf, foreignAuthority), {
      code: 'TLS_CHAIN',
      message:
        'tls.crt in DIR names "CN=ours" as its issuer, and was not issued by ca.crt, which holds "CN=theirs"',
      fix: 'mount tls.crt, tls.key and ca.crt of one issuance, with the intermediate certificates in tls.crt',
    }));

  test('ca.crt of a CA with the same name and another key', async () => {
    const namesake = await issueAuthority({ commonName: 'ours', now, days: 60 });
    expect((await rejection(await plainDirectory(secretData(leaf, namesake)))).code).toBe('TLS_CHAIN');
  });

  test('a self-signed certificate with another in ca.crt', async () => {
    expect((await rejection(await plainDirectory(secretData(selfSigned, leaf)))).code).toBe('TLS_CHAIN');
  });

  test('a ca.crt without a certificate', () =>
    expectRejection(
      { ...secretData(leaf), 'ca.crt': 'hello' },
      {
        code: 'TLS_CHAIN',
        message: 'cannot check who issued tls.crt in DIR: ca.crt does not parse: it holds no PEM certificate',
        fix: 'give a ca.crt of PEM certificates only, or leave ca.crt out',
      },
    ));

  test('a ca.crt with a broken certificate', () =>
    expectRejection(
      { ...secretData(leaf), 'ca.crt': authority.certificate.replace(/\n.{20}/, '\n') },
      {
        code: 'TLS_CHAIN',
        message: /^cannot check who issued tls\.crt in DIR: ca\.crt does not parse: .*asn1/,
        fix: 'give a ca.crt of PEM certificates only, or leave ca.crt out',
      },
    ));

  test('a CA that expired before its leaf', async () => {
    const shortLived = await issueAuthority({ commonName: 'short', now, days: 1 });
    const outlives = await issueServingCertificate({ authority: shortLived, dnsNames, now, days: 30 });
    const directory = await plainDirectory(secretData(outlives, shortLived));
    await expect(loadServingPair(directory, { now, serverName })).resolves.toHaveProperty('serial');
    const { code, message, fix } = await rejection(directory, daysFromNow(2));
    expect(code).toBe('TLS_CHAIN');
    expect(message).toBe(
      `"CN=short", which issued tls.crt in ${directory}, is valid only from 2026-06-01T11:55:00.000Z to 2026-06-02T12:00:00.000Z`,
    );
    expect(fix).toBe('renew the CA, then the serving certificate, and put the new CA in caBundle');
  });

  describe('by way of an intermediate', () => {
    let intermediate: Issued;
    let below: Issued;
    beforeAll(async () => {
      intermediate = await issueAuthority({ commonName: 'between', issuedBy: authority, now, days: 10 });
      below = await issueServingCertificate({ authority: intermediate, dnsNames, now, days: 30 });
    });
    const chained = (): SecretData => ({
      ...secretData(below, authority),
      'tls.crt': below.certificate + intermediate.certificate,
    });

    test('is accepted when tls.crt carries it', async () => {
      const directory = await plainDirectory(chained());
      await expect(loadServingPair(directory, { now, serverName })).resolves.toHaveProperty('serial');
    });

    test('is accepted when it is itself what ca.crt trusts', async () => {
      const directory = await plainDirectory(secretData(below, intermediate));
      await expect(loadServingPair(directory, { now, serverName })).resolves.toHaveProperty('serial');
    });

    test('is refused when tls.crt lacks it', async () => {
      const directory = await plainDirectory(secretData(below, authority));
      expect((await rejection(directory)).message).toMatch('names "CN=between" as its issuer');
    });

    test('is refused when it has expired', async () => {
      const { message } = await rejection(await plainDirectory(chained()), daysFromNow(11));
      expect(message).toMatch('"CN=between", which issued tls.crt');
    });
  });
});

describe('the kubelet layout', () => {
  test('..data wins over files of the same name beside it', async () => {
    const { directory } = await mountSecret(secretData(leaf, authority));
    await rm(join(directory, 'tls.key'));
    await expect(loadServingPair(directory, { now, serverName })).resolves.toHaveProperty('serial');
  });

  test('a mount that is itself a link', async () => {
    const { directory } = await mountSecret(secretData(leaf, authority));
    await rename(directory, `${directory}-moved`);
    await symlink(`${directory}-moved`, directory);
    await expect(loadServingPair(directory, { now, serverName })).resolves.toHaveProperty('serial');
  });
});

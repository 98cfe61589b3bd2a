import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { issueServingCertificate } from '../../../src/tls/issue.ts';
import { loadServingPair } from '../../../src/tls/reload.ts';
import { inLength } from '../../support/length.ts';
import { mountSecret, secretData } from './mounted-secret.ts';

const SWAPS = inLength({ short: 150, long: 600 });
/** Only so that it ends where something hangs; a busy machine may need a while. */
const DEADLINE_MS = 100_000;

/**
 * The kubelet swaps while we read, all the time. The reader in the same loop that opens the two files one after the
 * other shows that the swapping does hit the gap: if it never got a torn pair, this test would prove nothing.
 */
test('key and certificate always come from one version, however often the Secret is swapped', async () => {
  const now = new Date();
  const issued = await Promise.all(
    ['a', 'b', 'c'].map((name) => issueServingCertificate({ dnsNames: [name], now, days: 1 })),
  );
  const keyOf = new Map(issued.map(({ certificate, key }) => [certificate, key]));
  const versions = issued.map((pair) => secretData(pair));
  const secret = await mountSecret(versions[0] ?? {});
  const deadline = Date.now() + DEADLINE_MS;

  let swaps = 0;
  let loads = 0;
  let naiveTorn = 0;
  const done = (): boolean => (swaps >= SWAPS && naiveTorn > 0) || Date.now() > deadline;
  const swapper = async (): Promise<void> => {
    while (!done()) await secret.swap(versions[(swaps += 1) % versions.length] ?? {});
  };
  const seen = new Set<string>();
  const loader = async (): Promise<void> => {
    while (!done()) {
      const pair = await loadServingPair(secret.directory, { now });
      expect(keyOf.get(pair.certificate.toString())).toBe(pair.key.toString());
      seen.add(pair.dnsNames.join());
      loads += 1;
    }
  };
  const naive = async (): Promise<void> => {
    const read = (file: string): Promise<string> =>
      readFile(join(secret.directory, file), 'utf8').catch(() => '');
    while (!done()) {
      const certificate = await read('tls.crt');
      const key = await read('tls.key');
      if (certificate !== '' && key !== '' && keyOf.get(certificate) !== key) naiveTorn += 1;
    }
  };
  await Promise.all([swapper(), loader(), loader(), naive()]);

  expect(swaps).toBeGreaterThanOrEqual(SWAPS);
  expect(naiveTorn).toBeGreaterThan(0);
  expect(loads).toBeGreaterThan(SWAPS / 10);
  expect([...seen].sort()).toEqual(['a', 'b', 'c']);
}, 120_000);

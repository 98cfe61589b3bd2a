import { X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { issueAuthority, issueServingCertificate } from '../../src/tls/issue.ts';
import type { MountedSecret } from '../../test/cluster/support/mounted-secret.ts';
import { until } from '../../test/cluster/control-plane/until.ts';

/** Until the API server has read the webhook configurations that were just written (ms). */
const READ_MS = 3_000;

type Authority = Awaited<ReturnType<typeof issueAuthority>>;

/** The serving certificate as somebody else keeps it: a Secret in a volume, and the caBundles of the webhooks. */
export class Certificates {
  readonly secret: MountedSecret;
  readonly #trust: (bundle: string) => Promise<void>;
  #authority: Authority | undefined;
  #made = 0;

  /** @param trust writes the caBundles */
  constructor(secret: MountedSecret, trust: (bundle: string) => Promise<void>) {
    this.secret = secret;
    this.#trust = trust;
  }

  /** What the webhooks are to trust. */
  get bundle(): string {
    return this.#authority?.certificate ?? '';
  }

  /** The first authority and its leaf, before anybody serves. */
  async begin(): Promise<void> {
    this.#authority = await this.#newAuthority();
    await this.#putLeaf();
  }

  /** Another leaf of the same authority, until every replica shows it. @returns milliseconds until the last one did */
  async rotateLeaf(ports: () => readonly number[]): Promise<number> {
    const serial = await this.#putLeaf();
    const since = performance.now();
    for (const port of ports())
      await until(`the new leaf is served at ${port}`, async () => (await serialAt(port)) === serial, {
        everyMs: 20,
      });
    return performance.now() - since;
  }

  /** Trust in both, the leaf of the new one, trust in the new one alone. */
  async rotateAuthority(ports: () => readonly number[]): Promise<void> {
    const before = this.bundle;
    const next = await this.#newAuthority();
    await this.#trust(`${before}${next.certificate}`);
    await delay(READ_MS);
    this.#authority = next;
    await this.rotateLeaf(ports);
    await this.#trust(next.certificate);
    await delay(READ_MS);
  }

  #newAuthority(): Promise<Authority> {
    this.#made += 1;
    return issueAuthority({ commonName: `soak ${this.#made}`, now: new Date(), days: 90 });
  }

  async #putLeaf(): Promise<string> {
    if (this.#authority === undefined) throw new Error('begin() comes first');
    const authority = this.#authority;
    const dnsNames = ['localhost', '127.0.0.1'];
    const leaf = await issueServingCertificate({ authority, dnsNames, now: new Date(), days: 60 });
    await this.secret.put({
      'tls.crt': leaf.certificate,
      'tls.key': leaf.key,
      'ca.crt': authority.certificate,
    });
    return new X509Certificate(leaf.certificate).serialNumber;
  }
}

/** Serial number of the certificate that is served; whom it is from does not matter here. */
const serialAt = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.end();
    });
    socket.once('error', reject);
  });

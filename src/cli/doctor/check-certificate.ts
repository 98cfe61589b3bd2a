import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { checkChain } from '../../tls/chain.ts';
import { OWN_CA } from '../../tls/in-cluster/read-stored.ts';
import type { RegisteredWebhook } from './check-webhooks.ts';
import { patchCommand, saying, type Diagnosis, type Read } from './diagnosis.ts';

/** The certificate that Muster serves to its callers. */
export interface ServedCertificate {
  /** PEM: the leaf, then its issuers, as far as the server sends them. */
  readonly chain: string;
  /** The address or the Secret that the certificate was read from. */
  readonly from: string;
}

/** How certificates are renewed that Muster makes itself. */
export interface Renewal {
  /** How long before its end (ms) a certificate that is still there has not been renewed in time; undefined: the usual. */
  readonly soonMs: { readonly leaf: number | undefined; readonly ca: number | undefined };
  /** What mends one that Muster did not renew. */
  readonly fix: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** cert-manager renews 30 days before a certificate expires; with 14 days left a renewal has failed. */
const SOON_MS = 14 * DAY_MS;
const PROVIDE =
  'look at `kubectl -n NAMESPACE get certificate,secret`, or make one as in docs/manifests.md, Certificates';

/**
 * Reports whether an API server trusts the certificate, by the `caBundle` and the server name of each webhook.
 * @param kept where Muster makes it itself; kept-certificates.ts reports on its Secret
 */
export function checkCertificate(
  served: Read<ServedCertificate>,
  webhooks: readonly RegisteredWebhook[],
  {
    now,
    namespace,
    authority,
    kept,
  }: {
    readonly now: Date;
    readonly namespace: string;
    readonly authority?: string | undefined;
    readonly kept?: Renewal | undefined;
  },
): readonly Diagnosis[] {
  const provide = kept?.fix ?? PROVIDE.replace('NAMESPACE', namespace);
  const trust = { authority, inject: kept?.fix ?? INJECT };
  if (served.state === 'absent' && kept !== undefined) return checkBundles(webhooks, trust);
  if (served.state === 'absent')
    return [
      saying('certificate', 'serving').problem(
        `the Secret with the serving certificate is not there in ${namespace}, and no replica shows one`,
        provide,
      ),
    ];
  if (served.state === 'unread') {
    const say = saying('certificate', 'serving');
    const fix = 'run it as somebody who may read the Secret, or in the network of the Pods';
    return [...checkBundles(webhooks, trust), say.notChecked(served.reason, fix)];
  }
  const { chain, from } = served.value;
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(chain);
  } catch {
    return [saying('certificate', 'serving').problem(`${from} is no PEM certificate`, provide)];
  }
  return [
    judgeDates(leaf, from, now, provide, kept?.soonMs.leaf),
    ...checkNames(leaf, webhooks, from, provide),
    ...checkBundles(webhooks, trust),
    ...checkAuthorities({ ...trust, leaf, chain, now, kept: kept !== undefined }, webhooks),
  ];
}

/** @param soonMs how long before its end (ms) a certificate has not been renewed in time */
export function judgeDates(
  leaf: X509Certificate,
  from: string,
  now: Date,
  fix: string,
  soonMs = SOON_MS,
): Diagnosis {
  const say = saying('certificate', 'dates');
  const until = day(leaf.validToDate);
  if (now > leaf.validToDate) return say.problem(`${from} expired on ${until}`, fix);
  if (now < leaf.validFromDate)
    return say.problem(
      `${from} is not valid before ${day(leaf.validFromDate)}`,
      'compare the clocks of the nodes',
    );
  const left = leaf.validToDate.getTime() - now.getTime();
  const lifetime = leaf.validToDate.getTime() - leaf.validFromDate.getTime();
  // A certificate with a short lifetime expires soon only in the last quarter of that lifetime.
  return left < Math.min(SOON_MS, soonMs, lifetime / 4)
    ? say.warning(`${from} expires on ${until} and has not been renewed`, fix)
    : say.ok(`${from} is valid until ${until}`);
}

const day = (date: Date): string => date.toISOString().slice(0, 10);

/** The server name that the API server expects in the certificate: of the Service, or the host of the URL. */
export function serverNameOf(webhook: JsonObject): string | undefined {
  const client = ownObject(webhook, 'clientConfig');
  const url = ownString(client, 'url');
  if (url !== undefined) return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : undefined;
  const service = ownObject(client, 'service');
  const [name, namespace] = [ownString(service, 'name'), ownString(service, 'namespace')];
  return name === undefined || namespace === undefined ? undefined : `${name}.${namespace}.svc`;
}

function checkNames(
  leaf: X509Certificate,
  webhooks: readonly RegisteredWebhook[],
  from: string,
  fix: string,
): Diagnosis[] {
  const say = saying('certificate', 'names');
  const names = new Set(webhooks.flatMap(({ webhook }) => serverNameOf(webhook) ?? []));
  return [...names].map((name) => {
    const fits =
      isIP(name) === 0
        ? leaf.checkHost(name, { subject: 'never', partialWildcards: false })
        : leaf.checkIP(name);
    return fits === undefined
      ? say.problem(
          `the API server calls ${name}, and ${from} is for ${leaf.subjectAltName ?? 'nobody'}`,
          `issue it with ${name} among its DNS names (${fix})`,
        )
      : say.ok(`it is for ${name}, which the API server calls`);
  });
}

const INJECT =
  'put the CA of the serving certificate into caBundle: docs/manifests.md, Certificates (with cert-manager: look at its cainjector)';

const bundleOf = (webhook: JsonObject): string =>
  ownString(ownObject(webhook, 'clientConfig'), 'caBundle') ?? '';

interface Trust {
  /** PEM of the CA that the webhooks have to trust; undefined where it is not known. */
  readonly authority: string | undefined;
  /** How a `caBundle` is mended. */
  readonly inject: string;
}

/** Checks each `caBundle`. Without one the API server uses the CAs of its own machine. */
const checkBundles = (
  webhooks: readonly RegisteredWebhook[],
  { authority, inject }: Trust,
): readonly Diagnosis[] =>
  webhooks
    .filter(({ webhook }) => bundleOf(webhook) === '')
    .map((one) => {
      const what = `${placeOf(one)} has no caBundle: the API server will not trust Muster`;
      return { ...saying('certificate', 'ca').problem(what, inject), ...trusting(one, authority) };
    });

/** The command that writes this CA into the `caBundle` of the webhook. */
function trusting(
  { expected, configuration, index }: RegisteredWebhook,
  authority: string | undefined,
): Pick<Diagnosis, 'commands'> {
  if (authority === undefined) return {};
  const object = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: expected.kind,
    metadata: { name: configuration },
  };
  const value = Buffer.from(authority).toString('base64');
  const patch = patchCommand(object, [
    { op: 'test', path: `/webhooks/${index}/name`, value: expected.name },
    { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value },
  ]);
  return { commands: [patch] };
}

const placeOf = ({ expected, configuration }: RegisteredWebhook): string =>
  `${expected.name} in ${expected.kind} ${configuration}`;

interface Shown extends Trust {
  readonly leaf: X509Certificate;
  readonly chain: string;
  readonly now: Date;
  /** Whether Muster made it, by a CA of which it leaves earlier ones in the caBundles until they expire. */
  readonly kept: boolean;
}

function checkAuthorities(shown: Shown, webhooks: readonly RegisteredWebhook[]): Diagnosis[] {
  const { leaf } = shown;
  const say = saying('certificate', 'ca');
  const given = webhooks.filter(({ webhook }) => bundleOf(webhook) !== '');
  const wrong = given.flatMap((one): Diagnosis[] => {
    const bundle = Buffer.from(bundleOf(one.webhook), 'base64').toString('latin1');
    // A CA in the Secret is of no use where it has not signed the certificate.
    const authority =
      shown.authority !== undefined && leads(shown, shown.authority) ? shown.authority : undefined;
    if (!leads(shown, bundle)) {
      const issuer = oneLine(leaf.issuer);
      const what = `the caBundle of ${placeOf(one)} does not lead to the certificate that Muster shows (issued by ${issuer}, until ${day(leaf.validToDate)})`;
      return [{ ...say.problem(what, shown.inject), ...trusting(one, authority) }];
    }
    const foreign = (bundle.match(PEM_CERTIFICATE) ?? []).filter(
      (each) => !leads(shown, each) && !(shown.kept && subjectOf(each).startsWith(`CN=${OWN_CA} `)),
    );
    if (foreign.length === 0) return [];
    const names = foreign.map(subjectOf).join(' and ');
    const what = `the caBundle of ${placeOf(one)} also trusts ${names}, which the certificate does not come from: whoever has that key can answer for Muster`;
    const fix = `nothing while the CA is being replaced; else take it out of caBundle`;
    return [{ ...say.warning(what, fix), ...trusting(one, authority) }];
  });
  if (wrong.length > 0 || given.length === 0) return wrong;
  return [say.ok(`the caBundles of ${given.length} webhooks lead to it`)];
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

function leads({ leaf, chain, now }: Shown, authority: string): boolean {
  try {
    const bundle = Buffer.from(authority, 'latin1');
    checkChain({ leaf, certificates: Buffer.from(chain), authority: bundle, directory: '', now });
    return true;
  } catch {
    return false;
  }
}

const oneLine = (name: string): string => name.replaceAll('\n', ', ');

function subjectOf(pem: string): string {
  try {
    return oneLine(new X509Certificate(pem).subject);
  } catch {
    return 'something that is no certificate';
  }
}

import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { ownObject, ownString, type JsonObject } from '../../api/json.ts';
import { checkChain } from '../../tls/chain.ts';
import type { RegisteredWebhook } from './check-webhooks.ts';
import { saying, type Diagnosis } from './diagnosis.ts';
import type { Read } from './read.ts';

/** What Muster shows to whoever calls it. */
export interface ServedCertificate {
  /** PEM: the leaf, then what it comes from, as far as it is shown. */
  readonly chain: string;
  /** Where it was seen. */
  readonly from: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** cert-manager renews 30 days before the end; what is left then was not renewed. */
const SOON_MS = 14 * DAY_MS;
const PROVIDE =
  'look at `kubectl -n NAMESPACE get certificate,secret`, or make one as in docs/manifests.md, Certificates';

/** Whether an API server that goes by these webhooks will believe that it speaks to Muster. */
export function checkCertificate(
  served: Read<ServedCertificate>,
  webhooks: readonly RegisteredWebhook[],
  { now, namespace }: { readonly now: Date; readonly namespace: string },
): readonly Diagnosis[] {
  const provide = PROVIDE.replace('NAMESPACE', namespace);
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
    return [...checkBundles(webhooks), say.notChecked(served.reason, fix)];
  }
  const { chain, from } = served.value;
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(chain);
  } catch {
    return [saying('certificate', 'serving').problem(`${from} is no PEM certificate`, provide)];
  }
  return [
    checkDates(leaf, from, now, provide),
    ...checkNames(leaf, webhooks, from, provide),
    ...checkBundles(webhooks),
    ...checkAuthorities(leaf, chain, webhooks, now),
  ];
}

function checkDates(leaf: X509Certificate, from: string, now: Date, fix: string): Diagnosis {
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
  // A certificate made for a few days is not about to end because it was made for a few days.
  return left < Math.min(SOON_MS, lifetime / 4)
    ? say.warning(`${from} expires on ${until} and has not been renewed`, fix)
    : say.ok(`${from} is valid until ${until}`);
}

const day = (date: Date): string => date.toISOString().slice(0, 10);

/** What the API server asks for by name: a Service’s, or the host of a URL. */
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

/** Where there is none, the API server goes by the CAs of its own machine. */
const checkBundles = (webhooks: readonly RegisteredWebhook[]): Diagnosis[] =>
  webhooks
    .filter(({ webhook }) => bundleOf(webhook) === '')
    .map((one) =>
      saying('certificate', 'ca').problem(
        `${placeOf(one)} has no caBundle: the API server will not trust Muster`,
        INJECT,
      ),
    );

const placeOf = ({ expected, configuration }: RegisteredWebhook): string =>
  `${expected.name} in ${expected.kind} ${configuration}`;

function checkAuthorities(
  leaf: X509Certificate,
  chain: string,
  webhooks: readonly RegisteredWebhook[],
  now: Date,
): Diagnosis[] {
  const say = saying('certificate', 'ca');
  const given = webhooks.filter(({ webhook }) => bundleOf(webhook) !== '');
  const wrong = given.flatMap((one) => {
    const authority = Buffer.from(bundleOf(one.webhook), 'base64');
    try {
      checkChain({ leaf, certificates: Buffer.from(chain), authority, directory: '', now });
      return [];
    } catch {
      const issuer = leaf.issuer.replaceAll('\n', ', ');
      return [
        say.problem(
          `the caBundle of ${placeOf(one)} does not lead to the certificate that Muster shows (issued by ${issuer}, until ${day(leaf.validToDate)})`,
          INJECT,
        ),
      ];
    }
  });
  if (wrong.length > 0 || given.length === 0) return wrong;
  return [say.ok(`the caBundles of ${given.length} webhooks lead to it`)];
}

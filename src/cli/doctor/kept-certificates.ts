/** `server.certificates.mode: inCluster`: the certificates that Muster makes itself, and keeps in a Secret. */
import { X509Certificate } from 'node:crypto';
import { ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import { parseGoDuration } from '../../k8s/time.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { SECRETS } from '../../kube/client/resources.ts';
import { readStored, SECRET_KEYS } from '../../tls/in-cluster/read-stored.ts';
import { isInDate, type SignedLeaf, type Stored } from '../../tls/in-cluster/state.ts';
import { judgeDates, serverNameOf, type Renewal } from './check-certificate.ts';
import { registeredWebhooks, type WebhookConfigurations } from './check-webhooks.ts';
import { applyCommand, attempt, patchCommand, saying, valueOf, RIGHTS_FIX } from './diagnosis.ts';
import type { Diagnosis, Read } from './diagnosis.ts';
import { environmentOf } from './program-objects.ts';

type Settings = OperatorConfiguration['server']['certificates'];

export interface KeptCertificates extends Renewal {
  readonly namespace: string;
  readonly secretName: string;
  readonly secret: Read<JsonObject>;
  /** PEM of the CA in the Secret. */
  readonly authority: string | undefined;
}

const MODE = 'MUSTER_SERVER_CERTIFICATES_MODE';

/**
 * Reads the Secret, where Muster makes its certificates itself. The Deployment's environment counts before the configuration,
 * which may be a file, or unreadable.
 */
export async function readKept(
  client: KubeClient,
  deployment: JsonObject | undefined,
  { mode, secretName, leaf, ca }: Settings,
  namespace: string,
): Promise<KeptCertificates | undefined> {
  if ((environmentOf(deployment)[MODE] ?? mode) !== 'inCluster') return undefined;
  const secret = await attempt(() =>
    client.get<JsonObject>({ resource: SECRETS, namespace, name: secretName }),
  );
  return {
    ...{ namespace, secretName, secret },
    authority: textIn(valueOf(secret), SECRET_KEYS.current.certificate),
    soonMs: { leaf: half(leaf.renewBefore), ca: half(ca.renewBefore) },
    fix: `Muster makes and renews it itself: \`kubectl -n ${namespace} logs deployment/muster\` says why it did not ("certificates in the cluster cannot be kept")`,
  };
}

const half = (renewBefore: string | undefined): number | undefined =>
  renewBefore === undefined ? undefined : (parseGoDuration(renewBefore) ?? 0) / 2;

function textIn(secret: JsonObject | undefined, key: string): string | undefined {
  const encoded = ownString(ownObject(secret, 'data'), key);
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('latin1');
}

/** Reports what keeps Muster from keeping its certificates. @param served PEM in service, which is judged elsewhere */
export function checkKept(
  kept: KeptCertificates,
  configurations: WebhookConfigurations,
  { now, served }: { readonly now: Date; readonly served: string | undefined },
): readonly Diagnosis[] {
  const { namespace, secretName, secret, fix } = kept;
  const objects = (['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] as const).flatMap(
    (kind) =>
      (valueOf(configurations[kind]) ?? [])
        .filter((object) => objectName(object) === 'muster')
        .map((object) => ({ ...object, kind })),
  );
  const [serverName] = registeredWebhooks(configurations).flatMap(
    ({ webhook }) => serverNameOf(webhook) ?? [],
  );
  const { stored, damaged, certificates } = readStored(valueOf(secret), objects, {
    serverName: serverName ?? `muster.${namespace}.svc`,
    served: undefined,
  });
  const injected = checkInjectors(stored);
  const say = saying('certificate', 'secret');
  const what = `Secret ${namespace}/${secretName}`;
  if (secret.state === 'unread') return [...injected, say.notChecked(secret.reason, RIGHTS_FIX)];
  if (secret.state === 'absent') {
    const text = `there is no ${what}, in which Muster keeps its certificates: a replica that starts now gets none`;
    const way = 'apply manifests/components/in-cluster-certificates, in which it is empty: Muster fills it';
    return [...injected, { ...say.problem(text, way), commands: [applyCommand(emptySecret(kept))] }];
  }
  const { current } = stored.secret ?? {};
  const broken = damaged.map((damage) => say.problem(`${what}: ${damage}`, fix));
  const { certificate: caKey } = SECRET_KEYS.current;
  const dated =
    current &&
    judgeDates(new X509Certificate(current.pem), `${caKey} of the ${what}`, now, fix, kept.soonMs.ca);
  const leaf = stored.secret?.leaf;
  const judged = certificates?.leaf.fingerprint256 === fingerprintOf(served);
  const all = [
    ...injected,
    ...broken,
    ...(dated === undefined ? [] : [dated]),
    ...(leaf === undefined || certificates === undefined || judged
      ? []
      : checkLeaf(leaf, certificates.leaf, stored, { kept, what, now })),
  ];
  if (current !== undefined || leaf !== undefined || broken.length > 0) return all;
  return [...all, say.ok(`${what} is empty: the first replica that runs fills it`)];
}

const emptySecret = ({ namespace, secretName: name }: KeptCertificates): JsonObject => {
  const labels = { 'app.kubernetes.io/name': 'muster', 'app.kubernetes.io/part-of': 'muster' };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels }, type: 'Opaque' };
};

function fingerprintOf(pem: string | undefined): string | undefined {
  try {
    return pem === undefined ? undefined : new X509Certificate(pem).fingerprint256;
  } catch {
    return undefined;
  }
}

/** The leaf that replicas serve next, or that one which starts now serves. */
function checkLeaf(
  leaf: SignedLeaf,
  certificate: X509Certificate,
  { configurations }: Stored,
  { kept, what, now }: { readonly kept: KeptCertificates; readonly what: string; readonly now: Date },
): readonly Diagnosis[] {
  const from = `${SECRET_KEYS.leaf.certificate} of the ${what}`;
  const uncovered = configurations.flatMap(({ name, webhooks }) =>
    webhooks
      .filter(
        ({ trusts }) => !trusts.some((ca) => leaf.signers.includes(ca.id) && isInDate(ca, now.getTime())),
      )
      .map((webhook) => `${webhook.name} in ${name}`),
  );
  const dates = judgeDates(certificate, from, now, kept.fix, kept.soonMs.leaf);
  if (uncovered.length === 0) return [dates];
  const text = `no valid CA of ${from} is in the caBundle of ${uncovered.join(', ')}`;
  return [dates, saying('certificate', 'ca').problem(text, kept.fix)];
}

/** With cert-manager's annotation Muster leaves the caBundles of a configuration alone. */
const checkInjectors = ({ configurations }: Stored): readonly Diagnosis[] =>
  configurations.flatMap(({ name, injector }): readonly Diagnosis[] => {
    if (injector === undefined) return [];
    const text = `${name} has the annotation ${injector}, by which cert-manager writes its caBundles: Muster leaves them alone`;
    const way = 'take it off, or set server.certificates.mode to files';
    const [kind = '', configuration = ''] = name.split(' ');
    const object = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name: configuration },
    };
    const path = `/metadata/annotations/${injector.replaceAll('/', '~1')}`;
    const command = patchCommand(object, [{ op: 'remove', path }]);
    return [{ ...saying('certificate', 'ca').problem(text, way), commands: [command] }];
  });

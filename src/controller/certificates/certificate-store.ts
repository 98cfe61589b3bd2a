import type { X509Certificate } from 'node:crypto';
import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { parseKubeTime } from '../../k8s/time.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { sleep, type Clock } from '../../kube/client/clock.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { SECRETS, type KubeObject, type Resource, type Target } from '../../kube/client/resources.ts';
import type { TrustedCa } from '../../tls/in-cluster/state.ts';
import {
  bundleText,
  readStored,
  SECRET_KEYS,
  type ReadStored,
  type ServedCertificates,
  type SecretSlot,
} from '../../tls/in-cluster/read-stored.ts';
import type { Issued } from '../../tls/issue.ts';

const SELF_SUBJECT_REVIEWS: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
};
const CONFIGURATIONS: readonly Resource[] = ['Mutating', 'Validating'].map((kind) => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: `${kind.toLowerCase()}webhookconfigurations`,
  kind: `${kind}WebhookConfiguration`,
  namespaced: false,
}));
/** Both webhook configurations have this name. */
const CONFIGURATION = 'muster';

/** How long the API server keeps a watch open (s), and the wait before the next (ms), also after a failure. */
const WATCH_SECONDS = 300;
const WATCH_AGAIN_MS = 5_000;

/** One reading of everything, with the objects that the next write is conditional on. */
export interface Reading extends ReadStored {
  readonly secret: JsonObject | undefined;
  /** The configurations that exist, by their name in the state. */
  readonly objects: ReadonlyMap<string, JsonObject>;
  /** Those that do not exist. */
  readonly missing: readonly string[];
  /** The API server's clock (ms since 1970); undefined where it does not tell. */
  readonly serverNow: number | undefined;
}

/** The Secret and the webhook configurations in the cluster: reads, watches, and writes that are conditional on a reading. */
export class CertificateStore {
  readonly secretName: string;
  readonly #client: KubeClient;
  readonly #secret: Target & { readonly namespace: string };

  constructor(client: KubeClient, secret: { readonly namespace: string; readonly name: string }) {
    this.#client = client;
    this.#secret = { resource: SECRETS, ...secret };
    this.secretName = `${secret.namespace}/${secret.name}`;
  }

  /** @throws where the API server does not answer, or a right is missing */
  async read(
    serverName: string,
    served: ServedCertificates | undefined,
    signal: AbortSignal,
  ): Promise<Reading> {
    const get = async (target: Target): Promise<JsonObject | undefined> => {
      try {
        return await this.#client.get<JsonObject>(target, { signal });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    };
    const [serverNow, secret, ...configurations] = await Promise.all([
      this.#serverNow(signal),
      get(this.#secret),
      ...CONFIGURATIONS.map((resource) => get({ resource, name: CONFIGURATION })),
    ]);
    const objects = new Map<string, JsonObject>();
    const missing: string[] = [];
    CONFIGURATIONS.forEach(({ kind }, index) => {
      const object = configurations[index];
      const name = `${kind} ${CONFIGURATION}`;
      if (object === undefined) missing.push(name);
      else objects.set(name, { ...object, kind });
    });
    const read = readStored(secret, [...objects.values()], { serverName, served });
    return { ...read, secret, objects, missing, serverNow };
  }

  /** Writes the caBundles that change. @throws an ApiError 409 where the configuration is not the one that was read */
  async trust(reading: Reading, name: string, bundles: readonly (readonly TrustedCa[])[]): Promise<void> {
    const object = reading.objects.get(name);
    const resource = CONFIGURATIONS.find(({ kind }) => name.startsWith(`${kind} `));
    if (object === undefined || resource === undefined) return;
    const webhooks = ownList(object, 'webhooks') ?? [];
    const changes = bundles.flatMap((cas, index) => {
      const value = bundleText(cas);
      const before = ownString(own(webhooks[index], 'clientConfig'), 'caBundle');
      return before === value
        ? []
        : [{ op: 'add' as const, path: `/webhooks/${index}/clientConfig/caBundle`, value }];
    });
    const version = { op: 'replace' as const, path: '/metadata/resourceVersion', value: versionOf(object) };
    const target = { resource, name: CONFIGURATION };
    await this.#client.jsonPatch(target, [version, ...changes], { answer: 'nothing' });
  }

  /** Writes slots of the Secret; an undefined one is emptied. @throws an ApiError 409 where the Secret was changed meanwhile */
  async keep(
    reading: Reading,
    slots: Readonly<Partial<Record<SecretSlot, Issued | undefined>>>,
  ): Promise<void> {
    const data = Object.fromEntries(
      (Object.keys(slots) as SecretSlot[]).flatMap((slot) => {
        const { certificate, key } = SECRET_KEYS[slot];
        const issued = slots[slot];
        return [
          [certificate, issued === undefined ? null : base64(issued.certificate)],
          [key, issued === undefined ? null : base64(issued.key)],
        ];
      }),
    );
    const metadata = { resourceVersion: versionOf(reading.secret) };
    await this.#client.mergePatch(this.#secret, { metadata, data }, { answer: 'nothing' });
  }

  /** Calls `changed` when one of the objects changes, until the signal is aborted. Not every change is seen. */
  watch(changed: () => void, clock: Clock, signal: AbortSignal): Promise<unknown> {
    const targets = [
      this.#secret,
      ...CONFIGURATIONS.map((resource): Target => ({ resource, name: CONFIGURATION })),
    ];
    return Promise.all(targets.map((target) => this.#watchOne(target, changed, clock, signal)));
  }

  async #watchOne(target: Target, changed: () => void, clock: Clock, signal: AbortSignal): Promise<void> {
    const { resource, namespace, name } = target;
    while (!signal.aborted) {
      try {
        const events = this.#client.watch<KubeObject>(resource, {
          ...{ namespace, fieldSelector: `metadata.name=${name}` },
          ...{ resourceVersion: '0', timeoutSeconds: WATCH_SECONDS, signal },
        });
        for await (const batch of events) if (batch.some(({ type }) => type !== 'BOOKMARK')) changed();
      } catch {
        // The poll reports what is wrong, and makes up for the watch meanwhile.
      }
      await sleep(clock, WATCH_AGAIN_MS, signal).catch(() => undefined);
    }
  }

  /** The time at which the API server created the answer to a request that anybody may make. */
  async #serverNow(signal: AbortSignal): Promise<number | undefined> {
    try {
      const answer = await this.#client.create<JsonObject>(
        SELF_SUBJECT_REVIEWS,
        { metadata: {} as KubeObject['metadata'] },
        { signal },
      );
      return parseKubeTime(ownString(ownObject(answer, 'metadata'), 'creationTimestamp'));
    } catch (error) {
      if (isNotFound(error) || isForbidden(error)) return undefined;
      throw error;
    }
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const versionOf = (object: JsonObject | undefined): string =>
  ownString(own(object, 'metadata'), 'resourceVersion') ?? '';

/** The CAs of a leaf in service, as one PEM text. */
export const pemOf = (cas: readonly X509Certificate[]): Buffer => Buffer.from(cas.map(String).join(''));

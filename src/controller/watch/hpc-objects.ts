import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import type { OwnedObject, SyncContext } from '../../backends/cluster.ts';
import type { Resource } from '../../k8s/resource.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import { makeCurveCertificate } from '../../preparers/flux/curve/make-certificate.ts';
import { policyNameOf, type HpcPolicy } from '../../preparers/policy/hpc-policy.ts';
import { asksOf } from '../../preparers/hosts/asks.ts';
import { gangServiceName } from '../../preparers/hosts/hosts.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import {
  hostedPreparerFor,
  preparedMarkOf,
  objectsBesidePods,
  policyOfGang,
  settingsReplaced,
  verdictOnGang,
  runningMark,
} from '../../preparers/registry.ts';
import type { HpcPolicies, ObjectsGiven, PreparerFactory } from '../../preparers/preparer-factory.ts';
import { controllerOf } from '../../workloads/pod-origin.ts';
import { BY_GANG } from './gang-view.ts';
import type { GangWatch } from './gang-watch.ts';
import type { PolicyWatch } from './policy-watch.ts';
import { unfitPod } from './unfit-pod.ts';
import { StillThere, type GangPreparation } from './shared.ts';
import { ApiError } from '../../kube/client/errors.ts';

/**
 * How long (ms) a preparer in another process may take for the objects of a gang; the process has a timeout of its own
 * too.
 */
const ANSWER_MS = 10_000;

const core = (kind: string, plural: string): Resource => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced: true,
});
const RESOURCES: Readonly<Record<string, Resource>> = {
  ConfigMap: core('ConfigMap', 'configmaps'),
  Secret: core('Secret', 'secrets'),
  Service: core('Service', 'services'),
};

/** For this long (ms) after a gang's creation, an existing Secret of its name is assumed to belong to an earlier gang. */
const PREDECESSOR_MS = 60_000;

/**
 * Keeps ConfigMap, Secret and Service of gangs with an HPCPolicy, and holds gangs whose Pods do not match their
 * HPCPolicy.
 */
export class HpcObjects implements GangPreparation {
  readonly #policies: HpcPolicies;
  readonly #watch: GangWatch;
  readonly #others: readonly PreparerFactory[];
  readonly #handlers: ((key: string) => void)[] = [];
  readonly #now: () => number;

  /**
   * @param others preparers that a policy may name in addition to the built-in ones
   * @param now wall clock, in ms
   */
  constructor(
    watch: GangWatch,
    { policies, onPolicy, gangsUnder }: Pick<PolicyWatch, 'policies' | 'onPolicy' | 'gangsUnder'>,
    others: readonly PreparerFactory[] = [],
    now: () => number = Date.now,
  ) {
    this.#now = now;
    this.#policies = policies;
    this.#watch = watch;
    this.#others = others;
    const changed = (key: string): void => {
      for (const handler of this.#handlers) handler(key);
      watch.touch(key);
    };
    onPolicy(changed);
    for (const { name, hosted } of others) {
      hosted?.onChange(() => {
        for (const gang of gangsUnder(name)) changed(gang);
      });
    }
    // The first and the last Pod of a gang may show another subdomain than assumed, or allow its settings to change.
    watch.onPod(({ old, new: pod }) => {
      if (domainOf(old) === domainOf(pod) && (old && runningMark(old)) === (pod && runningMark(pod))) return;
      const { namespace, gang } = pod ?? old;
      changed(keyOf(namespace, gang));
    });
  }

  onChange(handler: (key: string) => void): void {
    this.#handlers.push(handler);
  }

  /** Pods that were released are not checked: their policy did not change, or it was changed around the webhook. */
  waitOf(gang: GangRecord): string | undefined {
    const found = policyOfGang(gang, this.#policies);
    if (found === undefined || 'rule' in found) return found?.message;
    // Without the preparer, nobody can say whether a further Pod of the gang can be prepared.
    const waits = hostedPreparerFor(found, this.#others)?.hosted.waits;
    if (waits !== undefined) return waits;
    const mark = preparedMarkOf(found);
    const replaced = settingsReplaced(gang, mark, this.#policies);
    if (replaced !== undefined) return replaced.message;
    return unfitPod(gang, found, mark, this.#podsOf(gang));
  }

  async sync(context: SyncContext, gang: GangRecord): Promise<void> {
    if (policyNameOf(gang) === undefined) return;
    if (!this.#policies.known) throw new Error('the HPCPolicies of the cluster are not known yet');
    const found = policyOfGang(gang, this.#policies);
    if (found === undefined) return;
    if ('rule' in found) throw new Error(found.message);
    // A running Pod reads its ConfigMap again when one of its containers restarts.
    const replaced = settingsReplaced(gang, preparedMarkOf(found), this.#policies);
    if (replaced !== undefined) throw new Error(replaced.message);
    const pods = this.#podsOf(gang);
    const domains = [...new Set(pods.flatMap((pod) => domainOf(pod) ?? []))].sort();
    if (domains.length > 1)
      throw new Error(`its Pods have several subdomains: ${domains.slice(0, 3).join(', ')}`);
    const service = gangServiceName(gang.name);
    const [subdomain = service] = domains;
    const asks = asksOf(pods);
    const given: ObjectsGiven = { certificate: makeCurveCertificate, subdomain, asks };
    const others = await this.#answered(gang, found, given);
    const [wrong] = verdictOnGang(gang, found, subdomain, others).faults;
    if (wrong !== undefined) throw new Error(`${wrong.field}: ${wrong.message}`);
    const objects = objectsBesidePods(gang, found, given, others).map(ownedOf);
    const read = objects.filter(({ once }) => once !== true);
    // Secrets are never read, and are created first: whether the gang's other objects exist shows whether Muster made
    // the Secret.
    for (const secret of objects.filter(({ once }) => once === true)) {
      const applied = await context.apply(secret).catch((error: unknown) => {
        throw secretAnswer(error, secret.name);
      });
      if (applied !== 'created') await this.#isOfGang(context, gang, secret.name, read);
    }
    // A lead that starts again goes by what Flux was told of a group, also while all Pods of that group are gone.
    const isTold =
      found.flux !== undefined &&
      pods.some((pod) => runningMark(pod) !== undefined) &&
      gang.spec.groups.some(({ name, minReplicas }) => minReplicas > 0 && !asks.has(name));
    for (const object of read) await context.apply(isTold ? { ...object, once: true } : object);
    if (subdomain !== service) await checkService(context, gang.namespace, subdomain);
  }

  /**
   * Returns whether an existing Secret, which Muster may not read, belongs to this gang. It does if other objects of
   * the gang exist, since these are created after it. The Secret of an earlier gang of that name is garbage-collected
   * after a while.
   * @throws StillThere
   */
  async #isOfGang(
    context: SyncContext,
    gang: GangRecord,
    name: string,
    [other]: readonly OwnedObject[],
  ): Promise<void> {
    const since = Date.parse(gang.creationTimestamp ?? '');
    if (!(this.#now() - since < PREDECESSOR_MS)) return;
    const { namespace } = gang;
    const found =
      other &&
      (await context.read?.(`/api/v1/namespaces/${namespace}/${other.resource.plural}/${other.name}`));
    if (found !== undefined && controllerOf(own(found, 'metadata'))?.uid === gang.uid) return;
    throw new StillThere(
      `Secret ${name} was there before the gang: waiting for it to go with the earlier one`,
    );
  }

  /** Returns the other preparers; for a preparer in another process, one with its answer for this gang. */
  async #answered(
    gang: GangRecord,
    policy: HpcPolicy,
    given: ObjectsGiven,
  ): Promise<readonly PreparerFactory[]> {
    const elsewhere = hostedPreparerFor(policy, this.#others);
    if (elsewhere === undefined) return this.#others;
    return [await elsewhere.hosted.ofGang(gang, policy, given, ANSWER_MS)];
  }

  #podsOf({ namespace, name }: GangRecord): readonly PodRecord[] {
    return this.#watch.view.pods
      .byIndex(BY_GANG, keyOf(namespace, name))
      .filter(({ deletionTimestamp }) => deletionTimestamp === undefined);
  }
}

const domainOf = (pod: PodRecord | undefined): string | undefined =>
  pod?.prepared === undefined || pod.deletionTimestamp !== undefined ? undefined : pod.subdomain;

function ownedOf(object: JsonObject): OwnedObject {
  const resource = RESOURCES[ownString(object, 'kind') ?? ''];
  const metadata = ownObject(object, 'metadata');
  const name = ownString(metadata, 'name');
  if (resource === undefined || name === undefined) throw new Error('an object of no known kind');
  const labels = Object.fromEntries(
    Object.entries(ownObject(metadata, 'labels') ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
  const body = Object.fromEntries(
    Object.entries(object).filter(([key]) => !['apiVersion', 'kind', 'metadata', 'spec'].includes(key)),
  );
  const once = resource.kind === 'Secret' ? { once: true as const } : {};
  return { resource, name, labels, spec: ownObject(object, 'spec') ?? {}, body, ...once };
}

/**
 * The Service of the Pods' subdomain. Without DNS records for Pods that are not ready, the Pods would wait for each
 * other.
 */
async function checkService(context: SyncContext, namespace: string, name: string): Promise<void> {
  const service = await context.read?.(`/api/v1/namespaces/${namespace}/services/${name}`);
  if (service === undefined)
    throw new Error(`there is no Service ${name}, which the subdomain of its Pods names`);
  const spec = own(service, 'spec');
  if (own(spec, 'clusterIP') !== 'None')
    throw new Error(`Service ${name}, the subdomain of its Pods, is not headless`);
  if (own(spec, 'publishNotReadyAddresses') !== true) {
    throw new Error(`Service ${name}, the subdomain of its Pods, needs publishNotReadyAddresses: true`);
  }
}

/** An API server's `reason` is one word; any other text was written by something else. */
const REASON = /^[A-Za-z]{1,40}$/;

/**
 * The API server's error for a Secret without its message. A proxy or webhook on the way may repeat the Secret's
 * content in the message, which would reach the log, an Event and `muster status`.
 */
function secretAnswer(error: unknown, name: string): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, reason, retryAfter } = error;
  const help = status === 403 ? '; grant this right (manifests/ has the roles that Muster needs)' : '';
  return new ApiError(`keeping Secret ${name}`, {
    status,
    reason: REASON.test(reason) ? reason : '',
    message: `what was answered is not shown, as it may repeat the Secret${help}`,
    retryAfter,
  });
}

import { own, ownString, type JsonObject } from '../../json/json.ts';
import { ANNOTATION_FLEET_TERMS, TERMS_UNREAD } from '../../api/names.ts';
import { bindingTermsOf } from '../../fleet/bindings/terms.ts';
import { messageOf } from '../../errors.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { NAMESPACES, type Target, type Resource } from '../../kube/client/resources.ts';
import type { WorkloadKind } from '../../workloads/workload-kind.ts';
import { parseGroupVersion } from '../../k8s/resource.ts';

/**
 * The result of reading a binding's terms: its queue, `'none'` when it needs no queue and was released, or why it could
 * not be read; undefined when there was nothing to read.
 */
export type TermsRead = { readonly queue: string } | { readonly unread: string } | 'none' | undefined;

/**
 * Reads the workload, the policy and the namespace of a suspended binding and writes its queue terms into its
 * annotations. The same patch releases a binding that needs no queue, so a released binding always has its annotations.
 */
export function termsReader(
  client: KubeClient,
  kinds: readonly WorkloadKind[],
): (target: Target, signal: AbortSignal) => Promise<TermsRead> {
  const find = kindFinder(client);

  const templateOf = async (binding: JsonObject, signal: AbortSignal): Promise<JsonObject | string> => {
    const resource = own(own(binding, 'spec'), 'resource');
    const said = (field: string): string => ownString(resource, field) ?? '';
    const [apiVersion, kind, namespace, name] = [
      said('apiVersion'),
      said('kind'),
      said('namespace'),
      said('name'),
    ];
    const found = await find(apiVersion, kind, signal);
    const title = `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
    const template =
      found &&
      (await readIfThere(
        client,
        { resource: found, name, ...(found.namespaced && { namespace }) },
        signal,
      ).catch(unlessForbidden));
    if (typeof template === 'string')
      return `${template}; give Muster's account there the right to get it, as manifests/karmada/queues does for others`;
    if (template === undefined) return `${apiVersion} ${title} is not there; make it, or delete the binding`;
    const uid = said('uid');
    if (uid !== '' && ownString(own(template, 'metadata'), 'uid') !== uid)
      return `${apiVersion} ${title} is another one than the binding was made for; it is read once the binding follows it`;
    return template;
  };

  return async (target, signal) => {
    const binding = await readIfThere(client, target, signal);
    const annotations = own(own(binding, 'metadata'), 'annotations');
    if (binding === undefined || ownString(annotations, ANNOTATION_FLEET_TERMS) !== TERMS_UNREAD)
      return undefined;
    const policy = policyOf(annotations);
    const { namespace: of } = target;
    const [template, found, namespace] = await Promise.all([
      templateOf(binding, signal),
      policy && readIfThere(client, policy, signal),
      of === undefined
        ? undefined
        : readIfThere(client, { resource: NAMESPACES, name: of }, signal).catch(unlessForbidden),
    ]);
    if (typeof template === 'string') return { unread: template };
    if (typeof namespace === 'string')
      return { unread: `${namespace}; apply manifests/karmada/queues/rbac.yaml of this version` };
    const terms = bindingTermsOf({ binding, template, policy: found, namespace }, kinds);
    const resourceVersion = ownString(own(binding, 'metadata'), 'resourceVersion') ?? '';
    await client.mergePatch(
      target,
      {
        metadata: { resourceVersion, annotations: terms.annotations },
        // A merge patch keeps the other fields of `suspension`.
        ...(terms.queue === undefined && { spec: { suspension: { scheduling: false } } }),
      },
      { signal, answer: 'nothing' },
    );
    return terms.queue === undefined ? 'none' : { queue: terms.queue };
  };
}

/** Returns the message of a 403. @throws every other error */
function unlessForbidden(error: unknown): string {
  if (isForbidden(error)) return messageOf(error);
  throw error;
}

/** The policy that a binding was made for, from Karmada's annotations on the binding. */
function policyOf(annotations: JsonObject[string] | undefined): Target | undefined {
  const said = (key: string): string => ownString(annotations, key) ?? '';
  const name = said('propagationpolicy.karmada.io/name');
  if (name !== '') {
    const namespace = said('propagationpolicy.karmada.io/namespace');
    return namespace === '' ? undefined : { resource: PROPAGATION_POLICIES, namespace, name };
  }
  const wide = said('clusterpropagationpolicy.karmada.io/name');
  return wide === '' ? undefined : { resource: CLUSTER_PROPAGATION_POLICIES, name: wide };
}

const policy = (kind: string, plural: string, namespaced: boolean): Resource => ({
  ...{ group: 'policy.karmada.io', version: 'v1alpha1' },
  ...{ kind, plural, namespaced },
});
const PROPAGATION_POLICIES = policy('PropagationPolicy', 'propagationpolicies', true);
const CLUSTER_PROPAGATION_POLICIES = policy('ClusterPropagationPolicy', 'clusterpropagationpolicies', false);

interface Discovered {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

/** Finds the resource under which the API server serves a kind. Results are cached. */
function kindFinder(
  client: KubeClient,
): (apiVersion: string, kind: string, signal: AbortSignal) => Promise<Resource | undefined> {
  const known = new Map<string, Resource>();
  return async (apiVersion, kind, signal) => {
    const title = `${apiVersion} ${kind}`;
    const before = known.get(title);
    if (before !== undefined) return before;
    const { group, version } = parseGroupVersion(apiVersion);
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const { resources = [] } = await client.read<Discovered>(path, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return { resources: [] };
      throw error;
    });
    const found = resources.find((one) => one.kind === kind && !one.name.includes('/'));
    if (found === undefined) return undefined;
    const resource = { group, version, kind, plural: found.name, namespaced: found.namespaced };
    known.set(title, resource);
    return resource;
  };
}

/** Returns undefined when the object does not exist. */
async function readIfThere(
  client: KubeClient,
  target: Target,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  try {
    return await client.get<JsonObject>(target, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

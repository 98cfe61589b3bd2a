import { LABEL_POD_GANG, POD_GANG_GROUP, POD_GANG_KIND, POD_GANG_VERSION } from '../api/names.ts';
import type { JsonObject } from '../json/json.ts';
import { Cache, type Identified, type Store } from '../kube/loop/cache.ts';
import { POD_INDEXERS, readMemberPod, type GangView } from '../controller/watch/gang-view.ts';
import { listAll } from '../kube/loop/list-pages.ts';
import type { GangSelectors } from '../gang/gang-selection.ts';
import type { GangRecord, PodRecord, NamespaceRecord } from '../gang/records.ts';
import { readGangRecord, readNamespaceRecord } from '../gang/read-records.ts';
import type { KubeClient, Selection } from '../kube/client/client.ts';
import { POD_GANGS, PODS, NAMESPACES, type Resource } from '../kube/client/resources.ts';
import type { GangKind } from '../workloads/kind.ts';
import { takesEverything } from '../k8s/label-selector.ts';
import { isForbidden, isNotFound, ApiError } from '../kube/client/errors.ts';
import { suggestion } from '../text/nearest-key.ts';
import { MusterError } from '../errors.ts';
import { listed } from '../text/printable.ts';
import { namespaceText, type Question } from './moment.ts';

/**
 * Lists everything once.
 * @param namespace undefined: all
 * @param kinds workloads whose Pods may ask for a gang; default: the built-in kinds
 * @param hear called with each Pod of a gang as it was read, and again with all where a list starts over
 */
export async function readView(
  client: KubeClient,
  namespace: string | undefined,
  selectors: GangSelectors,
  kinds?: readonly GangKind[],
  hear?: (pod: JsonObject) => void,
): Promise<GangView> {
  const pods = new Cache<PodRecord>(POD_INDEXERS);
  const gangs = new Cache<GangRecord>();
  const [namespaces] = await Promise.all([
    readNamespaces(client, namespace, selectors),
    fill(client, PODS, { namespace, labelSelector: LABEL_POD_GANG }, pods, (pod) => {
      hear?.(pod);
      return readMemberPod(pod, kinds);
    }),
    fill(client, POD_GANGS, { namespace }, gangs, readGangRecord),
  ]);
  return { pods, gangs, namespaces };
}

async function fill<T extends Identified>(
  client: KubeClient,
  resource: Resource,
  selection: Selection,
  cache: Cache<T>,
  read: (object: JsonObject) => T,
): Promise<void> {
  for (const object of await listAll({ client, resource, ...selection }, read)) cache.put(object);
}

/**
 * The Namespaces that decide which gangs Muster is responsible for. Empty where the selector selects every Namespace, where
 * the user may not read them, or the Namespace does not exist: the status works without them.
 * @param namespace undefined: all
 */
export async function readNamespaces(
  client: KubeClient,
  namespace: string | undefined,
  { namespaceSelector }: Pick<GangSelectors, 'namespaceSelector'>,
): Promise<Store<NamespaceRecord>> {
  const found = new Cache<NamespaceRecord>();
  if (takesEverything(namespaceSelector)) return found;
  try {
    if (namespace !== undefined) {
      found.put(readNamespaceRecord(await client.get<JsonObject>({ resource: NAMESPACES, name: namespace })));
    } else {
      await fill(client, NAMESPACES, {}, found, readNamespaceRecord);
    }
  } catch (error) {
    if (!isForbidden(error) && !isNotFound(error)) throw error;
  }
  return found;
}

/**
 * The error for a name that neither a PodGang nor a Pod has.
 * @param known names of the existing gangs, sorted
 * @param more what else finds a gang of another namespace
 */
export function unknownGang(
  question: Question & { readonly gang: string },
  known: readonly string[],
  more = ', all with -A',
): MusterError {
  const names = [...new Set(known)];
  const elsewhere = question.namespace === undefined ? '' : ` Another namespace is named with -n${more}.`;
  const there =
    names.length === 0
      ? `There are no gangs ${namespaceText(question)}.`
      : `There are: ${listed(names, 'gangs')}.`;
  return new MusterError(
    'GANG_UNKNOWN',
    `PodGang ${question.gang} does not exist ${namespaceText(question)}${suggestion(question.gang, names)}`,
    `${there}${elsewhere}`,
  );
}

/** The error for a 403 of a user without the right to read, with the way out; any other error unchanged. */
export function refused(error: unknown, { namespace }: Question): unknown {
  if (!(error instanceof ApiError)) return error;
  const { message } = error;
  if (isNotFound(error)) {
    return new MusterError(
      'CLUSTER_REFUSED',
      `${message} (it does not know ${POD_GANG_KIND}, ${POD_GANG_GROUP}/${POD_GANG_VERSION})`,
      'Define it with `kubectl apply -k manifests/crds`, or look at another cluster with --kubeconfig.',
      { cause: error },
    );
  }
  if (!isForbidden(error)) return error;
  const where = namespace === undefined ? 'all namespaces' : `namespace ${namespace}`;
  const fix =
    error.status === 401
      ? 'Log in anew, or name another --kubeconfig.'
      : `It takes the rights to list (with -w also to watch) pods and ${POD_GANGS.plural}.${POD_GANG_GROUP} in ${where}: ` +
        `the ClusterRole "view" has them once Muster is installed.${namespace === undefined ? ' One namespace is named with -n.' : ''}`;
  return new MusterError('CLUSTER_REFUSED', message, fix, { cause: error });
}

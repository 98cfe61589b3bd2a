import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../../json/json.ts';
import { MUSTER_NAMESPACE } from '../../../api/names.ts';
import { objectName, parseGroupVersion } from '../../../k8s/resource.ts';
import { packageRoot } from '../../version.ts';
import { isTarget, kustomized, operationsOf, readKustomization } from './kustomize.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { ABSENT, attempt, found, type Read } from '../diagnosis.ts';

/** What a request for an object needs. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

export const kindName = (object: JsonObject): string => ownString(object, 'kind') ?? '';

export const identityOf = (object: JsonObject): Identity => ({
  apiVersion: ownString(object, 'apiVersion') ?? '',
  kind: kindName(object),
  namespace: ownString(ownObject(object, 'metadata'), 'namespace'),
  name: objectName(object),
});

/** An object of a component, or a named item that the component patches into a list of another object. */
type Trace =
  | { readonly object: Identity }
  | { readonly target: Identity; readonly list: readonly string[]; readonly name: string };

/** An optional component of an installation. */
export interface InstalledComponent {
  readonly name: string;
  readonly folder: string;
  readonly traces: readonly Trace[];
}

/** The manifests of this version. */
export interface Shipped {
  /** All objects with cert-manager, on a cluster that serves every kind of policy. */
  readonly whole: readonly JsonObject[];
  readonly components: readonly InstalledComponent[];
  /** Every object that the comparison may have to read. */
  readonly identities: readonly Identity[];
  /** Whether any manifest, those for Karmada’s API server included, has an object of this kind and name. */
  isShipped(kind: string, name: string): boolean;
  /**
   * The objects of an installation with these components.
   * @param mutating whether the cluster serves MutatingAdmissionPolicy v1
   */
  wanted(components: readonly InstalledComponent[], mutating: boolean): readonly JsonObject[];
}

const SYSTEM = new RegExp(`(?<![\\w-])${MUSTER_NAMESPACE}(?![\\w-])`, 'g');

/** The object for another namespace, whose name occurs in webhooks, policies and certificates, too. */
function movedTo(object: JsonObject, namespace: string): JsonObject {
  if (namespace === MUSTER_NAMESPACE) return object;
  return JSON.parse(JSON.stringify(object), (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(SYSTEM, namespace) : value,
  ) as JsonObject;
}

/** Reads the manifests of the package, the checkout or the image. @returns undefined where there are none */
export function readShipped(namespace: string, root = packageRoot()): Shipped | undefined {
  if (root === undefined) return undefined;
  const folder = join(root, 'manifests');
  const build = (overlay: string, components: readonly InstalledComponent[] = []): readonly JsonObject[] =>
    kustomized(
      join(folder, 'overlays', overlay),
      components.map((one) => one.folder),
    ).map((object) => movedTo(object, namespace));
  let whole: readonly JsonObject[];
  try {
    whole = build('cert-manager');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
  const parts = readdirSync(join(folder, 'components')).map((name) => join(folder, 'components', name));
  const components = [...parts.sort(), join(folder, 'on-call')].map((one) => ({
    name: basename(one),
    folder: one,
    traces: tracesOf(one, whole, namespace),
  }));
  const karmada = ['.', 'queues', 'assigner'].flatMap((one) => kustomized(join(folder, 'karmada', one)));
  const added = components.flatMap(({ traces }) =>
    traces.flatMap((one) => ('object' in one ? [one.object] : [])),
  );
  const identities = [...whole.map(identityOf), ...added];
  const names = new Set(
    [...identities, ...karmada.map(identityOf)].map(({ kind, name }) => `${kind} ${name}`),
  );
  return {
    whole,
    components,
    identities,
    isShipped: (kind, name) => names.has(`${kind} ${name}`),
    wanted: (chosen, mutating) => build(mutating ? 'cert-manager' : 'kubernetes-1.35', chosen),
  };
}

function tracesOf(folder: string, whole: readonly JsonObject[], namespace: string): Trace[] {
  const objects = kustomized(folder)
    .map((object) => movedTo(object, namespace))
    .map((object) => ({ object: identityOf(object) }));
  const patches = (readKustomization(folder).patches ?? []).flatMap(({ target, patch }) => {
    const object = target && whole.find((one) => isTarget(target, one));
    if (object === undefined) return [];
    return operationsOf(patch).flatMap((operation): Trace[] => {
      const name = operation.op === 'add' ? ownString(operation.value as Json, 'name') : undefined;
      if (name === undefined || !operation.path.endsWith('/-')) return [];
      return [{ target: identityOf(object), list: operation.path.split('/').slice(1, -1), name }];
    });
  });
  return [...objects, ...patches];
}

/**
 * The components of which the cluster has a part.
 * @param live undefined where the object does not exist or cannot be read
 */
export const componentsIn = (
  shipped: Shipped,
  live: (identity: Identity) => JsonObject | undefined,
): readonly InstalledComponent[] =>
  shipped.components.filter(({ traces }) =>
    traces.some((trace) => {
      if ('object' in trace) return live(trace.object) !== undefined;
      let at: Json | undefined = live(trace.target);
      for (const key of trace.list) at = Array.isArray(at) ? (at[Number(key)] as Json) : own(at, key);
      return ownList({ at: at ?? null }, 'at')?.some((one) => ownString(one, 'name') === trace.name) === true;
    }),
  );

const keyOf = ({ kind, namespace = '', name }: Identity): string => `${kind} ${namespace}/${name}`;

/** Reads each of these objects. @param lists kinds of which all objects were listed already */
export async function readInstalled(
  client: KubeClient,
  identities: readonly Identity[],
  lists: Readonly<Record<string, Read<readonly JsonObject[]>>>,
): Promise<(identity: Identity) => Read<JsonObject>> {
  const entries = await Promise.all(
    [...new Map(identities.map((one) => [keyOf(one), one]))].map(async ([key, identity]) => {
      const list = lists[identity.kind];
      return [key, list === undefined ? await get(client, identity) : ofList(list, identity.name)] as const;
    }),
  );
  const read = new Map(entries);
  return (identity) => read.get(keyOf(identity)) ?? ABSENT;
}

function ofList(list: Read<readonly JsonObject[]>, name: string): Read<JsonObject> {
  if (list.state !== 'found') return list;
  const object = list.value.find((one) => objectName(one) === name);
  return object === undefined ? ABSENT : found(object);
}

const get = (
  client: KubeClient,
  { apiVersion, kind, namespace, name }: Identity,
): Promise<Read<JsonObject>> => {
  const lower = kind.toLowerCase();
  const plural = lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`;
  const resource = { ...parseGroupVersion(apiVersion), plural, kind, namespaced: namespace !== undefined };
  return attempt(async () => {
    const object = await client.get<JsonObject>({
      resource,
      name,
      ...(namespace === undefined ? {} : { namespace }),
    });
    return { ...object, apiVersion, kind };
  });
};

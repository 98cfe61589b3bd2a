import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../../json/json.ts';
import { MUSTER_NAMESPACE } from '../../../api/names.ts';
import { objectName, parseGroupVersion } from '../../../k8s/resource.ts';
import { packageRoot } from '../../version.ts';
import { isTarget, kustomized, operationsOf, readKustomization } from './kustomize.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { ABSENT, attempt, found, type Read } from '../diagnosis.ts';

/** An object by which one asks a cluster for it. */
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

/** One thing that a component adds: an object of its own, or what it patches into another one’s list. */
type Trace =
  | { readonly object: Identity }
  | { readonly target: Identity; readonly list: readonly string[]; readonly name: string };

/** A part of an installation that not everybody has. */
export interface InstalledComponent {
  readonly name: string;
  readonly folder: string;
  readonly traces: readonly Trace[];
}

/** What this version ships. */
export interface Shipped {
  /** With cert-manager, on a cluster that serves every policy. */
  readonly whole: readonly JsonObject[];
  readonly components: readonly InstalledComponent[];
  /** Every object that may have to be read. */
  readonly identities: readonly Identity[];
  /** Whether anything that is shipped has this name, for Karmada’s API server too. */
  isShipped(kind: string, name: string): boolean;
  /** What is wanted with these components. @param mutating whether the cluster serves MutatingAdmissionPolicy v1 */
  wanted(components: readonly InstalledComponent[], mutating: boolean): readonly JsonObject[];
}

const SYSTEM = new RegExp(`(?<![\\w-])${MUSTER_NAMESPACE}(?![\\w-])`, 'g');

/** As it would be in another namespace: the name stands in webhooks, policies and certificates too. */
function movedTo(object: JsonObject, namespace: string): JsonObject {
  if (namespace === MUSTER_NAMESPACE) return object;
  return JSON.parse(JSON.stringify(object), (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(SYSTEM, namespace) : value,
  ) as JsonObject;
}

/** Reads the manifests of the package, the checkout or the image. undefined where there are none. */
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

/** The components of which something is installed. @param live undefined where it is not there, or cannot be read */
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

/** Asks for each of these objects. @param lists kinds of which all objects were listed already */
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

import { asObject, ownList, type Json, type JsonObject } from '../json/json.ts';
import type { Resource } from '../k8s/resource.ts';
import { printable } from '../text/printable.ts';
import type { ClusterProbe, ClusterSyncContext, SyncContext } from '../backends/cluster.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { LARGE_FIELDS } from '../preparers/pod-part.ts';
import {
  decodeFinalizers,
  decodeGroupVersion,
  decodeName,
  decodeObject,
  decodeOwnedObject,
  decodePath,
  decodeResource,
  type DeclaredRight,
} from './decode.ts';
import type { Callbacks } from './module-process.ts';

/** Warnings of one call beyond this number are dropped. */
const MOST_WARNINGS = 20;

type Methods = Readonly<Record<string, (given: readonly Json[]) => Promise<unknown>>>;

/** Callbacks by method name; any other name is refused. */
const callbacksOf =
  (methods: Methods): Callbacks =>
  async (method, given) => {
    if (!Object.hasOwn(methods, method)) throw new Error(`${printable(method, 64)} is not for here`);
    return (await methods[method]?.(given)) ?? null;
  };

export const clusterCallbacks = (context: ClusterSyncContext, declared: DeclaredAccess): Callbacks =>
  callbacksOf(clusterMethods(context, declared));

const clusterMethods = (context: ClusterSyncContext, declared: DeclaredAccess): Methods => ({
  apply: async ([given]) => {
    const object = decodeOwnedObject(given);
    checkWrite(object.resource, declared);
    return context.apply(object);
  },
  remove: async ([given, name, despite]) => {
    const resource = decodeResource(given);
    checkWrite(resource, declared);
    return context.remove(resource, decodeName(name), decodeFinalizers(despite));
  },
});

const readable = (path: Json | undefined, declared: DeclaredAccess): string => {
  const checked = decodePath(path);
  checkRead(checked, declared);
  return checked;
};

export function gangCallbacks(context: SyncContext, declared: DeclaredAccess): Callbacks {
  let warnings = 0;
  return callbacksOf({
    ...clusterMethods(context, declared),
    read: async ([path]) => context.read?.(readable(path, declared)),
    warn: ([message]) => {
      warnings += 1;
      if (warnings <= MOST_WARNINGS && typeof message === 'string') context.warn(printable(message, 1_024));
      return Promise.resolve();
    },
  });
}

export const probeCallbacks = (cluster: ClusterProbe | undefined, declared: DeclaredAccess): Callbacks =>
  callbacksOf(
    cluster === undefined
      ? {}
      : {
          versions: ([group]) => cluster.versions(decodeName(group)),
          resources: ([groupVersion]) => cluster.resources(decodeGroupVersion(groupVersion)),
          crdSchema: ([crd, version]) => cluster.crdSchema(decodeName(crd), decodeName(version)),
          read: async ([path]) => cluster.read(readable(path, declared)),
          dryRunCreate: ([resource, object]) =>
            cluster.dryRunCreate(decodeResource(resource), decodeObject(object)),
        },
  );

/** A PodGang for the wire, where a Map would become `{}`. */
export const encodeGang = ({ namespace, name, labels, annotations, spec, conditions }: PodGang) => ({
  namespace,
  name,
  labels: [...labels],
  annotations: [...annotations],
  spec,
  conditions,
});

/**
 * The part of a Pod that a backend may read.
 * @param whole whether the backend declared that it also reads the large lists
 */
export const encodePod = ({ metadata, spec }: JsonObject, whole: boolean): JsonObject => ({
  metadata: only(metadata, ['name', 'labels', 'annotations']),
  spec: whole ? (spec ?? {}) : withoutLargeLists(asObject(spec) ?? {}),
});

function withoutLargeLists(spec: JsonObject): JsonObject {
  const rest = Object.entries(spec).filter(([key]) => !LARGE_FIELDS.includes(key));
  const containers = (ownList(spec, 'containers') ?? []).map((one: Json) =>
    only(one, ['name', 'command', 'args']),
  );
  return { ...Object.fromEntries(rest), containers };
}

function only(value: Json | undefined, keys: readonly string[]): JsonObject {
  const given = (value ?? {}) as JsonObject;
  return Object.fromEntries(
    keys.flatMap((key) => (Object.hasOwn(given, key) ? [[key, given[key] as Json]] : [])),
  );
}

/** The gang's objects, by each kind that the backend owns. */
export const encodeOwned = (context: SyncContext, kinds: readonly Resource[]) =>
  kinds.map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, context.owned(kind)] as const);

/** The rights that a module's factory declares, and the kinds that its backend owns. */
export interface DeclaredAccess {
  readonly rights: readonly DeclaredRight[];
  readonly owns: readonly Resource[];
}

/** Paths of API discovery, which every user may read. */
const DISCOVERY = /^\/(?:version|apis?|api\/[^/]+|apis\/[^/]+(?:\/[^/]+)?)\/?$/;
const OBJECTS =
  /^\/(?:api|apis\/(?<group>[^/]+))\/[^/]+\/(?:namespaces\/[^/]+\/)?(?<plural>[^/]+)(?:\/(?<name>[^/]+)(?<below>\/.+)?)?\/?$/;

/**
 * Limits a module's reads to the rights that it declares, since Muster's account may read more; no module reads a Secret.
 * @throws Error that names the right to declare
 */
export function checkRead(path: string, declared: DeclaredAccess): void {
  const [place = ''] = path.split('?');
  if (DISCOVERY.test(place)) return;
  const found = OBJECTS.exec(place)?.groups;
  if (found === undefined) throw undeclared(path, 'no path of objects');
  const { group = '', plural = '', name, below } = found;
  const resource = below === undefined ? plural : `${plural}${below}`;
  if (group === '' && plural === 'secrets') throw undeclared(path, 'Secrets are read for no module');
  const verb = name === undefined ? 'list' : 'get';
  const isOwn = declared.owns.some((kind) => kind.group === group && kind.plural === resource);
  if (isOwn || allows(declared.rights, { group, resource, verb, name })) return;
  throw undeclared(path, `declare it in its factory's rights, with the verb ${verb}`);
}

/**
 * Limits a module's writes and deletions to the kinds that it owns and the rights that it declares.
 * @throws Error that names what to declare
 */
export function checkWrite({ group, plural }: Resource, declared: DeclaredAccess): void {
  const isOwn = declared.owns.some((kind) => kind.group === group && kind.plural === plural);
  const right = { group, resource: plural, verb: 'create', name: undefined };
  if (isOwn || allows(declared.rights, right)) return;
  throw undeclared(
    `${plural}.${group || 'core'}`,
    "name its kind in owns(), or declare it in its factory's rights with the verb create",
  );
}

const allows = (
  rights: readonly DeclaredRight[],
  right: { group: string; resource: string; verb: string; name: string | undefined },
): boolean =>
  rights.some(
    ({ group, resources, verbs, names }) =>
      group === right.group &&
      resources.includes(right.resource) &&
      verbs.includes(right.verb) &&
      (names === undefined || (right.name !== undefined && names.includes(right.name))),
  );

const undeclared = (what: string, way: string): Error =>
  new Error(`the module asked for ${printable(what, 128)}, which it does not declare: ${way}`);

import { asObject, ownList, type Json, type JsonObject } from '../json/json.ts';
import type { Resource } from '../k8s/resource.ts';
import { printable } from '../text/printable.ts';
import type { ClusterProbe, ClusterSyncContext, SyncContext } from '../backends/cluster.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { LARGE_PLACES } from '../preparers/pod-part.ts';
import {
  finalizersOf,
  groupVersionOf,
  nameOf,
  objectOf,
  ownedObjectOf,
  pathOf,
  resourceOf,
} from './heard.ts';
import { checkKept, checkRead, type Declared } from './declared.ts';
import type { Hands } from './module-process.ts';

/** So many warnings of one call are told. */
const MOST_WARNINGS = 20;

type Methods = Readonly<Record<string, (given: readonly Json[]) => Promise<unknown>>>;

/** What may be asked for by name, and nothing else. */
const handsOf =
  (methods: Methods): Hands =>
  async (method, given) => {
    if (!Object.hasOwn(methods, method)) throw new Error(`${printable(method, 64)} is not for here`);
    return (await methods[method]?.(given)) ?? null;
  };

export const clusterHands = (context: ClusterSyncContext, declared: Declared): Hands =>
  handsOf(clusterMethods(context, declared));

const clusterMethods = (context: ClusterSyncContext, declared: Declared): Methods => ({
  apply: async ([given]) => {
    const object = ownedObjectOf(given);
    checkKept(object.resource, declared);
    return context.apply(object);
  },
  remove: async ([given, name, despite]) => {
    const resource = resourceOf(given);
    checkKept(resource, declared);
    return context.remove(resource, nameOf(name), finalizersOf(despite));
  },
});

const readable = (path: Json | undefined, declared: Declared): string => {
  const checked = pathOf(path);
  checkRead(checked, declared);
  return checked;
};

export function gangHands(context: SyncContext, declared: Declared): Hands {
  let warnings = 0;
  return handsOf({
    ...clusterMethods(context, declared),
    read: async ([path]) => context.read?.(readable(path, declared)),
    warn: ([message]) => {
      warnings += 1;
      if (warnings <= MOST_WARNINGS && typeof message === 'string') context.warn(printable(message, 1_024));
      return Promise.resolve();
    },
  });
}

export const probeHands = (cluster: ClusterProbe | undefined, declared: Declared): Hands =>
  handsOf(
    cluster === undefined
      ? {}
      : {
          versions: ([group]) => cluster.versions(nameOf(group)),
          resources: ([groupVersion]) => cluster.resources(groupVersionOf(groupVersion)),
          crdSchema: ([crd, version]) => cluster.crdSchema(nameOf(crd), nameOf(version)),
          read: async ([path]) => cluster.read(readable(path, declared)),
          dryRunCreate: ([resource, object]) => cluster.dryRunCreate(resourceOf(resource), objectOf(object)),
        },
  );

/** A PodGang as a line has it: a Map would be `{}`. */
export const gangSaid = ({ namespace, name, labels, annotations, spec, conditions }: PodGang) => ({
  namespace,
  name,
  labels: [...labels],
  annotations: [...annotations],
  spec,
  conditions,
});

/**
 * What a backend may read of a Pod.
 * @param whole whether it declared to look at the lists that are most of a large one
 */
export const podSaid = ({ metadata, spec }: JsonObject, whole: boolean): JsonObject => ({
  metadata: only(metadata, ['name', 'labels', 'annotations']),
  spec: whole ? (spec ?? {}) : withoutLargeLists(asObject(spec) ?? {}),
});

function withoutLargeLists(spec: JsonObject): JsonObject {
  const rest = Object.entries(spec).filter(([key]) => !LARGE_PLACES.includes(key));
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

/** The gang's objects of each kind that the backend keeps. */
export const ownedSaid = (context: SyncContext, kinds: readonly Resource[]) =>
  kinds.map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, context.owned(kind)] as const);

import {
  CLUSTER_RESOURCE_BINDINGS,
  RESOURCE_BINDINGS,
  type KubeObject,
  type Resource,
  type Target,
} from '../../kube/client/resources.ts';
import { isBefore, type Versions } from '../../fleet/queues/read-queue.ts';
import { keyOf, splitKey, type Identified } from '../../kube/loop/cache.ts';
import type { ChangeHandler } from '../../kube/loop/reflector-options.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import type { FleetShared } from './shared.ts';

/** ResourceBindings and ClusterResourceBindings as one collection. */
export interface BindingWatches<T extends Identified> {
  readonly watches: readonly Reflector<T>[];
  /** @param key of a binding: `namespace/name`, or `name` of a cluster-wide one */
  readonly get: (key: string) => T | undefined;
  readonly all: () => T[];
  /** Whether the watches have reached these resourceVersions, which are keyed by the plural of the kind. */
  readonly hasSeen: (versions: Versions) => boolean;
  readonly subscribe: (handler: ChangeHandler<T>) => void;
  /**
   * Called with the keys of all bindings of a namespace when work there is suspended or resumed for lack of cache
   * memory.
   */
  readonly onTurn: (handler: (keys: readonly string[]) => void) => void;
}

/** @param read returns undefined for a binding that the cache should not keep */
export function watchBindings<T extends Identified>(
  { client, observe, room }: Pick<FleetShared, 'client' | 'observe' | 'room'>,
  read: (object: KubeObject, resource: Resource) => T | undefined,
): BindingWatches<T> {
  const watchOf = (resource: Resource): Reflector<T> =>
    new Reflector<T>({
      client,
      resource,
      room,
      trim: (object) => read(object, resource),
      observer: observe(resource),
    });
  const [namespaced, wide] = [watchOf(RESOURCE_BINDINGS), watchOf(CLUSTER_RESOURCE_BINDINGS)];
  const watches = [namespaced, wide];
  return {
    watches,
    get: (key) => {
      const { namespace, name } = splitKey(key);
      return (namespace === '' ? wide : namespaced).store.get(namespace, name);
    },
    all: () => watches.flatMap(({ store }) => [...store.values()]),
    hasSeen: (versions) =>
      watches.every(({ resource: { plural }, upTo }) => {
        const resourceVersion = upTo();
        const wanted = versions[plural];
        return wanted === undefined || (resourceVersion !== undefined && !isBefore(resourceVersion, wanted));
      }),
    subscribe: (handler) => {
      for (const watch of watches) watch.subscribe(handler);
    },
    onTurn: (handler) =>
      room.onTurn((of) => {
        const ofIt = [...namespaced.store.values()].filter(({ namespace }) => namespace === of);
        handler(ofIt.map(({ namespace, name }) => keyOf(namespace, name)));
      }),
  };
}

/** The target of API calls for a binding. */
export const bindingTarget = ({ namespace, name }: Pick<Identified, 'namespace' | 'name'>): Target =>
  namespace === ''
    ? { resource: CLUSTER_RESOURCE_BINDINGS, name }
    : { resource: RESOURCE_BINDINGS, namespace, name };

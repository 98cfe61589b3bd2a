import {
  CLUSTER_RESOURCE_BINDINGS,
  RESOURCE_BINDINGS,
  type KubeObject,
  type Resource,
  type Target,
} from '../../kube/client/resources.ts';
import { splitKey, type Identified } from '../../kube/loop/cache.ts';
import type { ChangeHandler } from '../../kube/loop/reflector-options.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import type { FleetShared } from './fleet-shared.ts';

/** The bindings of both kinds, as one. */
export interface BindingWatches<T extends Identified> {
  readonly watches: readonly Reflector<T>[];
  /** @param key of a binding: `namespace/name`, or `name` where it has none */
  readonly get: (key: string) => T | undefined;
  readonly all: () => T[];
  readonly subscribe: (handler: ChangeHandler<T>) => void;
}

/** @param read undefined for a binding that nobody is to know */
export function watchBindings<T extends Identified>(
  { client, observe }: Pick<FleetShared, 'client' | 'observe'>,
  read: (object: KubeObject, resource: Resource) => T | undefined,
): BindingWatches<T> {
  const watchOf = (resource: Resource): Reflector<T> =>
    new Reflector<T>({
      client,
      resource,
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
    subscribe: (handler) => {
      for (const watch of watches) watch.subscribe(handler);
    },
  };
}

/** A binding as the API server is asked for it. */
export const bindingTarget = ({ namespace, name }: Pick<Identified, 'namespace' | 'name'>): Target =>
  namespace === ''
    ? { resource: CLUSTER_RESOURCE_BINDINGS, name }
    : { resource: RESOURCE_BINDINGS, namespace, name };

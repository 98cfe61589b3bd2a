import type { JsonObject } from '../../json/json.ts';
import {
  defaultClass,
  readPriorityClass,
  type PriorityClass,
  type PriorityClasses,
} from '../../api/priority-class.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { PRIORITY_CLASSES, type KubeObject, type Resource } from '../../kube/client/resources.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';
import type { ManagedWatch } from '../../kube/loop/watches.ts';

interface ClassRecord extends PriorityClass {
  /** Always empty: PriorityClasses are cluster-wide. */
  readonly namespace: '';
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface ClassWatch {
  readonly classes: PriorityClasses;
  /**
   * Startup does not wait for its first list: an account without the right continues and reports what it could not
   * check.
   */
  readonly watch: ManagedWatch;
}

/** Caches the PriorityClasses of the cluster: a few dozen, with four fields each. */
export function watchPriorityClasses(
  client: KubeClient,
  observe: (resource: Resource) => ReflectorObserver,
): ClassWatch {
  const watch = new Reflector<ClassRecord>({
    client,
    resource: PRIORITY_CLASSES,
    trim: ({ metadata, ...rest }: KubeObject) => ({
      ...readPriorityClass({ ...rest, metadata } as unknown as JsonObject),
      namespace: '',
      uid: metadata.uid ?? '',
      resourceVersion: metadata.resourceVersion ?? '',
    }),
    observer: observe(PRIORITY_CLASSES),
  });
  let byDefault: PriorityClass | undefined;
  watch.subscribe(() => {
    byDefault = defaultClass(watch.store.values());
  });
  return {
    classes: {
      get known() {
        return watch.hasSynced;
      },
      get: (name) => watch.store.get('', name),
      values: () => watch.store.values(),
      get byDefault() {
        return byDefault;
      },
    },
    watch,
  };
}

import type { JsonObject } from '../../json/json.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import { parseHpcPolicy, policyNameOf } from '../../preparers/policy/hpc-policy.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { HPC_POLICIES, type KubeObject, type Resource } from '../../kube/client/resources.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import type { CacheMemory } from '../../kube/loop/cache-memory.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';
import type { ManagedWatch } from '../../kube/loop/watches.ts';
import type { HpcPolicies, PreparerFactory, StoredPolicy } from '../../preparers/preparer-factory.ts';
import { managersOf, runningMark } from '../../preparers/registry.ts';
import type { GangWatch } from './gang-watch.ts';
import { BY_GANG } from './gang-view.ts';

interface PolicyRecord extends StoredPolicy {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

const BY_NAMESPACE = 'namespace';
const BY_MANAGER = 'manager';

export interface PolicyWatch {
  readonly policies: HpcPolicies;
  readonly watch: ManagedWatch;
  /** Keys of the gangs that have an HPCPolicy with this workload manager. */
  gangsUnder(manager: string): readonly string[];
  /** Called with the key of a gang when its HPCPolicy was added, changed or deleted. */
  onPolicy(handler: (gang: string) => void): void;
}

/** Caches the HPCPolicies of the cluster, indexed by the gangs that name them. */
export function watchPolicies(
  client: KubeClient,
  observe: (resource: Resource) => ReflectorObserver,
  gangs: Pick<GangWatch, 'onGang' | 'onPod' | 'view'>,
  room: CacheMemory,
  others: readonly PreparerFactory[] = [],
): PolicyWatch {
  const watch = new Reflector<PolicyRecord>({
    client,
    resource: HPC_POLICIES,
    trim: (object: KubeObject) => {
      const { namespace = '', name = '', uid = '', resourceVersion = '' } = object.metadata;
      const { policy, faults } = parseHpcPolicy(
        object as unknown as JsonObject,
        namespace,
        managersOf(others),
      );
      return { namespace, name, uid, resourceVersion, policy, wrong: faults[0]?.field };
    },
    indexers: {
      [BY_NAMESPACE]: ({ namespace }) => namespace,
      [BY_MANAGER]: ({ policy }) => policy.managed?.manager,
    },
    room,
    observer: observe(HPC_POLICIES),
  });
  const running = new RunningMarks();
  gangs.onPod((change) => running.changed(change));
  const users = new Map<string, Set<string>>();
  gangs.onGang(({ old, new: now }) => {
    const [before, after] = [old && named(old), now && named(now)];
    const gang = now ?? old;
    if (before !== undefined && before !== after) {
      users.get(before)?.delete(gang.name);
      if (users.get(before)?.size === 0) users.delete(before);
    }
    if (after !== undefined) users.set(after, (users.get(after) ?? new Set()).add(gang.name));
  });
  const hasPods = (namespace: string, gang: string): boolean =>
    gangs.view.pods.hasAny(BY_GANG, keyOf(namespace, gang));
  const otherMark = (namespace: string, gang: string, mark: string): string | undefined =>
    running.otherThan(keyOf(namespace, gang), mark);
  return {
    policies: {
      get known() {
        return watch.hasSynced;
      },
      get: (namespace, name) => watch.store.get(namespace, name),
      anyIn: (namespace) => watch.store.hasAny(BY_NAMESPACE, namespace),
      userOf: (namespace, name, mark) =>
        [...(users.get(keyOf(namespace, name)) ?? [])].find((gang) =>
          mark === undefined ? hasPods(namespace, gang) : otherMark(namespace, gang, mark) !== undefined,
        ),
      otherMark,
    },
    watch,
    gangsUnder: (manager) =>
      watch.store
        .byIndex(BY_MANAGER, manager)
        .flatMap(({ namespace, name }) =>
          [...(users.get(keyOf(namespace, name)) ?? [])].map((gang) => keyOf(namespace, gang)),
        ),
    onPolicy: (handler) => {
      watch.subscribe((change) => {
        const { namespace, name } = change.new ?? change.old;
        for (const gang of users.get(keyOf(namespace, name)) ?? []) handler(keyOf(namespace, gang));
      });
    },
  };
}

function named(gang: GangRecord): string | undefined {
  const policy = policyNameOf(gang);
  return policy === undefined ? undefined : keyOf(gang.namespace, policy);
}

/**
 * The preparation marks of each gang's running Pods, updated with every Pod change because each new Pod is checked
 * against them.
 */
export class RunningMarks {
  /** Number of Pods by mark, by gang. */
  readonly #counts = new Map<string, Map<string, number>>();

  changed({ old, new: now }: Record<'old' | 'new', PodRecord | undefined>): void {
    if (old !== undefined) this.#count(old, -1);
    if (now !== undefined) this.#count(now, 1);
  }

  /** Returns a mark of the gang's running Pods that differs from `mark`; undefined when there is none. */
  otherThan(gang: string, mark: string): string | undefined {
    for (const other of this.#counts.get(gang)?.keys() ?? []) if (other !== mark) return other;
    return undefined;
  }

  #count(pod: PodRecord, one: 1 | -1): void {
    const mark = runningMark(pod);
    if (mark === undefined) return;
    const key = keyOf(pod.namespace, pod.gang);
    const counts = this.#counts.get(key) ?? new Map<string, number>();
    const count = (counts.get(mark) ?? 0) + one;
    if (count > 0) counts.set(mark, count);
    else counts.delete(mark);
    if (counts.size > 0) this.#counts.set(key, counts);
    else this.#counts.delete(key);
  }
}

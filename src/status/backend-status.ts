import type { BackendRegistry } from '../backends/registry.ts';
import { groupVersionString, type ClusterProbe, type Resource } from '../k8s/resource.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isForbidden, isUnreachable } from '../kube/client/errors.ts';
import { askBackends, readingProbe } from './ask-backends.ts';

/** A kind of objects that a backend keeps for a gang. */
export interface KeptKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Whether the API server serves it; null where it does not say. */
  readonly served: boolean | null;
}

/** A scheduler backend, as `/api/v1/backends` shows it. */
export interface BackendStatus {
  readonly name: string;
  /** Whether it serves gangs that name none; null where no configuration says so. */
  readonly default: boolean | null;
  /** `Unseen`: a right is missing to see it. `Unknown`: gangs name it, and it is not enabled. */
  readonly state: 'Ready' | 'NotReady' | 'Unseen' | 'Unknown';
  /** Such as `scheduling.run.ai/v2alpha2`; '' where it is not ready. */
  readonly version: string;
  readonly kinds: readonly KeptKind[];
  /** Why it is not ready, and what the cluster lacks, a sentence each. */
  readonly says: readonly string[];
  /** PodGangs that it serves, of those that the dashboard shows. */
  readonly gangs: number;
}

export interface BackendsStatus {
  readonly backends: readonly BackendStatus[];
}

/**
 * What the backends find in the cluster, as the loop does, without creating anything.
 * @param given.gangs number of gangs by backend
 * @throws MusterError CLUSTER_UNREACHABLE
 */
export async function backendsStatus(
  client: KubeClient,
  given: {
    readonly registry: BackendRegistry;
    readonly gangs: ReadonlyMap<string, number>;
    /** The name under which gangs of an unknown default are counted; undefined: the registry's default is known. */
    readonly unnamed: string | undefined;
  },
): Promise<BackendsStatus> {
  const { registry, gangs, unnamed } = given;
  const { signal } = new AbortController();
  const thrown = await askBackends(registry, (limit) => readingProbe(client, 'default', limit));
  for (const error of thrown.values()) if (isUnreachable(error)) throw error;
  const discovery = onceEach(readingProbe(client, 'default', signal));
  const enabled = await Promise.all(
    registry.backends.map(async (backend): Promise<BackendStatus> => {
      const { name } = backend;
      const readiness = registry.readiness(name);
      const ready = readiness.state === 'ready' ? readiness.facts : undefined;
      const reason = readiness.state === 'failed' ? readiness.reason : 'it was not asked';
      const blind = isForbidden(thrown.get(name));
      return {
        name,
        default: unnamed === undefined ? registry.default.name === name : null,
        state: ready !== undefined ? 'Ready' : blind ? 'Unseen' : 'NotReady',
        version: ready?.version ?? '',
        kinds: await keptKinds(backend.owns?.() ?? [], discovery),
        says: ready ? (ready.notices ?? []) : [blind ? `what it takes cannot be seen: ${reason}` : reason],
        gangs: gangs.get(name) ?? 0,
      };
    }),
  );
  const others = [...gangs]
    .filter(([name]) => !registry.enabled.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, count]): BackendStatus => {
      const why =
        name === unnamed
          ? 'these gangs name no scheduler: the configuration says which one serves them (--config)'
          : `it is not enabled (enabled: ${registry.enabled.join(', ')}): gangs that name it wait`;
      return { name, default: null, state: 'Unknown', version: '', kinds: [], says: [why], gangs: count };
    });
  return { backends: [...enabled, ...others] };
}

type Discovery = (groupVersion: string) => ReturnType<ClusterProbe['resources']>;

/** Asks for each version once: several backends may keep objects of one. */
function onceEach(probe: ClusterProbe): Discovery {
  const asked = new Map<string, ReturnType<Discovery>>();
  return (groupVersion) => {
    const answer = asked.get(groupVersion) ?? probe.resources(groupVersion);
    asked.set(groupVersion, answer);
    return answer;
  };
}

const keptKinds = (kinds: readonly Resource[], discovery: Discovery): Promise<KeptKind[]> =>
  Promise.all(
    kinds.map(async (kind) => {
      const apiVersion = groupVersionString(kind);
      const served = await discovery(apiVersion).then(
        (found) => found?.some(({ plural }) => plural === kind.plural) === true,
        () => null,
      );
      return { apiVersion, kind: kind.kind, served };
    }),
  );

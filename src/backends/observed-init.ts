import type { Backend } from './backend.ts';
import type { BackendFacts, ClusterProbe, InitContext } from './cluster.ts';

/**
 * A cluster probe that records whether every call was answered. Dry runs do not count, since discovery works without them.
 */
class ObservedProbe {
  readonly probe: ClusterProbe;
  #unanswered = 0;

  constructor(cluster: ClusterProbe) {
    const witnessed =
      <Given extends readonly unknown[], T>(
        read: (...given: Given) => Promise<T>,
      ): ((...given: Given) => Promise<T>) =>
      async (...given) => {
        this.#unanswered += 1;
        const answer = await read(...given);
        this.#unanswered -= 1;
        return answer;
      };
    this.probe = {
      versions: witnessed((group) => cluster.versions(group)),
      resources: witnessed((groupVersion) => cluster.resources(groupVersion)),
      crdSchema: witnessed((crd, version) => cluster.crdSchema(crd, version)),
      read: witnessed((path) => cluster.read(path)),
      dryRunCreate: (resource, object) => cluster.dryRunCreate(resource, object),
    };
  }

  /** Whether every call was answered; "not found" is an answer. */
  get answered(): boolean {
    return this.#unanswered === 0;
  }
}

/** One call of a backend's `init`, and whether the cluster answered it. */
export class ObservedInit {
  readonly #backend: Backend;
  #cluster: ObservedProbe | undefined;
  #ended = false;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  async at(context: InitContext): Promise<BackendFacts> {
    this.#cluster = context.cluster && new ObservedProbe(context.cluster);
    try {
      return await this.#backend.init({ ...context, cluster: this.#cluster?.probe });
    } finally {
      this.#ended = true;
    }
  }

  /** False while `init` still runs: a caller that stopped waiting has no result. */
  get answered(): boolean {
    return this.#ended && this.#cluster?.answered !== false;
  }
}

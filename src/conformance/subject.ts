import { type AdmissionRequest, orUntouched, type Decision } from '../admission/review.ts';
import type { Policy } from '../admission/policy.ts';
import { mutatePod } from '../admission/pods.ts';
import { ownString, ownObject, type JsonObject } from '../json/json.ts';
import { NO_TOPOLOGY } from '../gang/rules/check-topology.ts';
import type { Backend, BackendFactory, BackendSettings, ConformanceSettings } from '../backends/backend.ts';
import { BackendRegistry } from '../backends/registry.ts';
import { within } from '../kube/loop/deadline.ts';

/** How long (ms) a call may take while every request of it is answered at once. */
const PATIENCE_MS = 2_000;

/** The result of `work`; an Error that names `what` where `work` does not end in time. */
export const settled = <T>(
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
  ms: number = PATIENCE_MS,
): Promise<T> => within(what, ms, new AbortController().signal, work);

/** A backend after `init`, the only one that is enabled. */
export interface Enabled {
  readonly backend: Backend;
  readonly policy: Policy;
  /** Why its `init` failed; undefined: it did not. */
  readonly notReady: string | undefined;
}

/** The backend that is checked. Every check gets instances of its own, so that checks do not affect each other. */
export class Subject {
  readonly factory: BackendFactory;
  readonly settings: BackendSettings;
  readonly given: ConformanceSettings;

  constructor(factory: BackendFactory, given: ConformanceSettings) {
    this.factory = factory;
    this.given = given;
    this.settings = { config: given.config ?? {}, topology: given.topology ?? NO_TOPOLOGY };
  }

  /** Creates the backend and calls `init`. @throws MusterError as Muster would at start */
  async enabled(factory = this.factory): Promise<Enabled> {
    const { config, topology } =
      factory === this.factory ? this.settings : { config: {}, topology: NO_TOPOLOGY };
    const registry = new BackendRegistry([{ name: factory.name, config }], factory.name, {
      factories: [factory],
      topology,
    });
    const readiness = await registry.init(factory.name, (init) =>
      settled('init', (signal) => init({ cluster: this.given.cluster, signal })),
    );
    const policy = {
      registry,
      trustedAccounts: new Set<string>(),
      exemptNamespaces: new Set<string>(),
      topology,
    };
    return {
      backend: registry.default,
      policy,
      notReady: readiness.state === 'failed' ? readiness.reason : undefined,
    };
  }
}

/** Admission's decision on the creation of a Pod. */
export function admitted(pod: JsonObject, policy: Policy): Decision {
  return orUntouched(mutatePod(requestOf(pod), policy));
}

export const requestOf = (pod: JsonObject): AdmissionRequest => {
  const metadata = ownObject(pod, 'metadata');
  return {
    uid: '',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: 'pods',
    subResource: '',
    name: ownString(metadata, 'name') ?? '',
    namespace: ownString(metadata, 'namespace') ?? '',
    operation: 'CREATE',
    username: '',
    groups: [],
    dryRun: false,
    object: pod,
    oldObject: undefined,
  };
};

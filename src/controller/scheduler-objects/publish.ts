import { isDeepStrictEqual } from 'node:util';
import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { kubeTime } from '../../k8s/time.ts';
import { MUSTER_GROUP, MUSTER_VERSION } from '../../api/names.ts';
import { objectName, type Resource } from '../../k8s/resource.ts';
import type { Backend } from '../../backends/backend.ts';
import type { Readiness } from '../../backends/cluster.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isAlreadyExists } from '../../kube/client/errors.ts';
import type { EventRecorder } from '../../kube/loop/event-recorder.ts';

/** One object for each backend, shown by `kubectl get schedulerbackends`. */
export const SCHEDULER_BACKENDS: Resource = {
  group: MUSTER_GROUP,
  version: MUSTER_VERSION,
  plural: 'schedulerbackends',
  kind: 'SchedulerBackend',
  namespaced: false,
};

/** The condition's type and reasons are those of the scheduler backend requirements. */
const CONDITION = 'SchedulerBackendReady';

export interface PublisherOptions {
  readonly client: KubeClient;
  readonly registry: BackendRegistry;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly now: () => Date;
}

/**
 * Publishes each backend's readiness as an object. The objects of earlier replicas are read first, so a restart repeats
 * no Event and a changed default backend is noticed across restarts.
 */
export class BackendPublisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /**
   * Called once per term as leader: updates the objects of all backends, marks those of backends that are no longer
   * configured, and detects a changed default.
   */
  async begin(signal: AbortSignal): Promise<void> {
    const { client, registry } = this.#options;
    const { items } = await client.list<JsonObject>(SCHEDULER_BACKENDS, { signal });
    const known = new Map(items.map((object) => [objectName(object), object]));
    for (const name of registry.enabled) await this.publish(name, signal, known.get(name));
    for (const [name, object] of known) {
      const wasDefault = own(ownObject(object, 'status'), 'default') === true;
      if (wasDefault && name !== registry.default.name) await this.#switched(name, signal);
      if (!registry.enabled.includes(name)) await this.#write(object, notConfigured(name), signal);
    }
  }

  /**
   * Writes the readiness of one backend if it differs from the published one.
   * @param known the published object, if it was just read
   */
  async publish(name: string, signal: AbortSignal, known?: JsonObject): Promise<void> {
    const { registry } = this.#options;
    const backend = registry.resolve(name)?.backend;
    const readiness = registry.readiness(name);
    if (backend === undefined || readiness.state === 'unknown') return;
    const object = known ?? (await this.#object(name, signal));
    const before = conditionOf(object);
    const shown = shownOf(backend, readiness, registry.default === backend);
    await this.#write(object, shown, signal);
    if (ownString(before, 'status') === shown.status && ownString(before, 'message') === shown.message)
      return;
    this.#tell(object, readiness.state === 'ready' ? 'Normal' : 'Warning', shown.reason, shown.event);
  }

  /** Records a Warning Event with `note` on the backend's object. */
  async tell(name: string, note: string, signal: AbortSignal): Promise<void> {
    this.#tell(await this.#object(name, signal), 'Warning', 'BackendOperationFailed', note);
  }

  async #switched(from: string, signal: AbortSignal): Promise<void> {
    const { name } = this.#options.registry.default;
    const object = await this.#object(name, signal);
    this.#tell(object, 'Normal', 'BackendSwitched', `Switched from backend '${from}' to '${name}'`);
  }

  #tell(object: JsonObject, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const metadata = ownObject(object, 'metadata');
    const [name, uid] = [ownString(metadata, 'name') ?? '', ownString(metadata, 'uid') ?? ''];
    this.#options.recorder.event(
      { resource: SCHEDULER_BACKENDS, namespace: '', name, uid },
      { type, reason, note },
    );
  }

  async #object(name: string, signal: AbortSignal): Promise<JsonObject> {
    const { client } = this.#options;
    try {
      return await client.create<JsonObject>(SCHEDULER_BACKENDS, { metadata: { name } }, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return client.get<JsonObject>({ resource: SCHEDULER_BACKENDS, name }, { signal });
    }
  }

  async #write(object: JsonObject, shown: Shown, signal: AbortSignal): Promise<void> {
    const before = conditionOf(object);
    const { status, reason, message } = shown;
    const since = ownString(before, 'lastTransitionTime');
    const kept = ownString(before, 'status') === status && since !== undefined;
    const lastTransitionTime = kept ? since : kubeTime(this.#options.now().getTime());
    const wanted = {
      ...shown.fields,
      conditions: [{ type: CONDITION, status, reason, message, lastTransitionTime }],
    };
    if (isDeepStrictEqual(ownObject(object, 'status'), wanted)) return;
    const name = ownString(ownObject(object, 'metadata'), 'name') ?? '';
    await this.#options.client.patchStatus(
      { resource: SCHEDULER_BACKENDS, name },
      { status: wanted },
      { signal },
    );
  }
}

interface Shown {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: 'BackendInitialized' | 'BackendInitializationFailed' | 'BackendNotConfigured';
  readonly message: string;
  readonly event: string;
  readonly fields: JsonObject;
}

function shownOf(
  { name, schedulerName }: Backend,
  readiness: Exclude<Readiness, { state: 'unknown' }>,
  isDefault: boolean,
): Shown {
  const fields = { default: isDefault, schedulerName };
  if (readiness.state === 'failed') {
    const event = `Failed to initialize scheduler backend '${name}': ${readiness.reason}`;
    const reason = 'BackendInitializationFailed';
    return { status: 'False', reason, message: readiness.reason, event, fields: { ...fields, version: '' } };
  }
  const { version, notices = [] } = readiness.facts;
  return {
    status: 'True',
    reason: 'BackendInitialized',
    message: [`speaks ${version}`, ...notices].join('; '),
    event: `Scheduler backend '${name}' initialized successfully`,
    fields: { ...fields, version },
  };
}

const notConfigured = (name: string): Shown => ({
  status: 'Unknown',
  reason: 'BackendNotConfigured',
  message: `the configuration has no profile "${name}"`,
  event: '',
  fields: { default: false },
});

const conditionOf = (object: JsonObject): JsonObject | undefined => {
  const found = (ownList(ownObject(object, 'status'), 'conditions') ?? []).find(
    (condition) => ownString(condition, 'type') === CONDITION,
  );
  return found === undefined ? undefined : (found as JsonObject);
};

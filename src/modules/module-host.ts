import type { Json, JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { ReceivedPod } from '../admission/pod-reader.ts';
import type { Backend } from '../backends/backend.ts';
import type { SyncContext } from '../backends/cluster.ts';
import { messageOf } from '../errors.ts';
import type { StrategyQuestion } from '../fleet/assign/assign-replica-plugin.ts';
import type { Membership } from '../gang/membership.ts';
import { podPartFor } from '../preparers/pod-part.ts';
import { isPodRefused } from '../preparers/preparer.ts';
import { contextOf, CallbackFailed, CallbackClient, probeOf } from './callback-client.ts';
import { assignBy, configure, importModule } from './import-module.ts';
import { PreparationHost } from './preparation-host.ts';
import {
  MAX_LINE,
  type FromModule,
  type LoadBackend,
  type LoadConfigured,
  type ModuleOperation,
  type EncodedGang,
  type SyncRequest,
  type ToModule,
} from './wire.ts';
import { recorded } from './pod-edits.ts';

const gangOf = (said: EncodedGang): PodGang => ({
  ...said,
  labels: new Map(said.labels),
  annotations: new Map(said.annotations),
});

/** The optional operations; Muster learns on loading which of them the backend has. */
const OPTIONAL = [
  'warnOfUpdate',
  'owns',
  'syncCluster',
  'followsBinding',
  'followsReferences',
  'releaseOrder',
  'countsEnding',
  'explain',
] as const;

/** The module's side of the wire: calls what the module exports, and sends what it returned or threw. */
export class ModuleHost {
  readonly #say: (message: FromModule) => void;
  readonly #open = new Map<number, CallbackClient>();
  #backend: Backend | undefined;
  #assign: ((question: StrategyQuestion) => unknown) | undefined;
  #preparation: PreparationHost | undefined;

  constructor(say: (message: FromModule) => void) {
    this.#say = say;
  }

  take(message: ToModule): void {
    if (message.what === 'call') void this.#call(message);
    else if (message.what === 'callback') this.#open.get(message.id)?.answered(message);
    else this.#open.get(message.id)?.over(message.reason);
  }

  async #call({ id, operation, given }: Extract<ToModule, { what: 'call' }>): Promise<void> {
    const callbacks = new CallbackClient((number, method, args) =>
      this.#say({ what: 'ask', id, number, method, given: args as Json[] }),
    );
    this.#open.set(id, callbacks);
    let said: FromModule;
    try {
      const value = (await this.#answer(operation, given, callbacks)) ?? null;
      if ((JSON.stringify(value)?.length ?? 0) > MAX_LINE / 2) throw new Error('it gave too long an answer');
      said = { what: 'value', id, value: value as Json };
    } catch (thrown) {
      const field = isPodRefused(thrown) ? thrown.field : undefined;
      const callback = thrown instanceof CallbackFailed ? thrown.number : undefined;
      said = { what: 'thrown', id, thrown: { message: messageOf(thrown), field, callback } };
    }
    this.#open.delete(id);
    this.#say(said);
  }

  #answer(operation: ModuleOperation, given: unknown, callbacks: CallbackClient): unknown {
    if (operation === 'ping') return null;
    if (operation === 'load') return this.#load(given as LoadBackend);
    if (operation === 'loadPlugin') return this.#loadPlugin(given as LoadConfigured);
    if (operation === 'assignReplica') return this.#assign?.(given as StrategyQuestion);
    if (operation === 'loadPreparation') return this.#loadPreparation(given as LoadConfigured);
    const answer = this.#preparation?.answer(operation, given);
    if (answer !== undefined) return answer();
    if (this.#backend === undefined) throw new Error('no backend is loaded');
    return answerBy(this.#backend, operation, given, callbacks);
  }

  async #load({ file, field, settings }: LoadBackend): Promise<unknown> {
    const factory = await importModule('backend', file, field);
    const backend = factory.create(settings);
    this.#backend = backend;
    const { contractVersion, schedulerName, patchSurface, readsWholePods, cleansUp } = backend;
    // Where the factory and the backend have two names, Muster reports both.
    const name =
      backend.name === factory.name ? factory.name : `${factory.name} (once created: ${backend.name})`;
    const has = OPTIONAL.filter((operation) => typeof backend[operation] === 'function');
    const { rights } = factory;
    return { name, contractVersion, schedulerName, patchSurface, readsWholePods, cleansUp, rights, has };
  }

  async #loadPlugin({ file, field, config }: LoadConfigured): Promise<unknown> {
    const plugin = await importModule('plugin', file, field);
    configure('plugin', plugin, config);
    this.#assign = (question) => assignBy(plugin, question);
    const { name, contractVersion } = plugin;
    return { name, contractVersion, strategies: plugin.strategies() };
  }

  async #loadPreparation(given: LoadConfigured): Promise<unknown> {
    this.#preparation = await PreparationHost.load(given);
    return this.#preparation.facts;
  }
}

function answerBy(
  backend: Backend,
  operation: ModuleOperation,
  given: unknown,
  callbacks: CallbackClient,
): unknown {
  switch (operation) {
    case 'init':
      return init(backend, given as { cluster: boolean }, callbacks);
    case 'preparePod':
      return prepare(backend, given as { pod: JsonObject; gang: Membership });
    case 'checkGang':
      return check(backend, given as CheckRequest);
    case 'syncPodGang':
      return sync(backend, given as SyncRequest, callbacks);
    case 'onPodGangDelete':
      return backend.onPodGangDelete(
        contextOf(callbacks, given as SyncRequest),
        gangOf((given as SyncRequest).gang),
      );
    case 'syncCluster':
      return backend.syncCluster?.(contextOf(callbacks, undefined));
    case 'explain':
      return backend.explain?.(given as readonly JsonObject[]);
    case 'ping':
    case 'load':
    case 'loadPlugin':
    case 'assignReplica':
    case 'loadPreparation':
    case 'validatePolicy':
    case 'prepareMember':
    case 'makeObjects':
      throw new Error(`${operation} is not for a backend`);
  }
}

async function init(
  backend: Backend,
  { cluster }: { cluster: boolean },
  callbacks: CallbackClient,
): Promise<unknown> {
  const facts = await backend.init({
    cluster: cluster ? probeOf(callbacks) : undefined,
    signal: callbacks.signal,
  });
  return { facts, owns: backend.owns?.() ?? [] };
}

const prepare = (backend: Backend, { pod, gang }: { pod: JsonObject; gang: Membership }): unknown =>
  recorded((patch) =>
    backend.preparePod(podPartFor(backend, new ReceivedPod(pod, gang.namespace)), gang, patch),
  );

interface CheckRequest {
  readonly gang: EncodedGang;
  readonly before?: EncodedGang;
  readonly check: boolean;
}

function check(backend: Backend, given: CheckRequest): unknown {
  const gang = gangOf(given.gang);
  return {
    ...(given.check && { verdict: backend.validatePodGang(gang) }),
    ...(given.before && { warnings: backend.warnOfUpdate?.(gangOf(given.before), gang) ?? [] }),
  };
}

async function sync(backend: Backend, given: SyncRequest, callbacks: CallbackClient): Promise<unknown> {
  const gang = gangOf(given.gang);
  const context: SyncContext = contextOf(callbacks, given);
  await backend.syncPodGang(context, gang);
  return {
    order: backend.releaseOrder?.(gang),
    follows: backend.followsBinding?.(gang),
    references: backend.followsReferences?.(gang),
    ending: backend.countsEnding?.(gang),
  };
}

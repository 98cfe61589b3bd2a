import type { Json, JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { ReceivedPod } from '../admission/pod-reader.ts';
import type { Backend } from '../backends/backend.ts';
import type { SyncContext } from '../backends/cluster.ts';
import { messageOf } from '../errors.ts';
import type { Question } from '../fleet/assign/assign-replica-plugin.ts';
import type { Membership } from '../gang/membership.ts';
import { podPartFor } from '../preparers/pod-part.ts';
import { isPodRefused } from '../preparers/preparer.ts';
import { contextOf, HandFailed, HandCalls, probeOf } from './hand-calls.ts';
import { answerOf, configure } from './call-plugin.ts';
import { LoadedPreparation } from './hosted-preparation.ts';
import { importModule } from './import-module.ts';
import {
  MAX_LINE,
  type FromModule,
  type LoadGiven,
  type LoadConfigured,
  type Operation,
  type SaidGang,
  type SyncGiven,
  type ToModule,
} from './messages.ts';
import { recorded } from './recorded-patch.ts';

const gangOf = (said: SaidGang): PodGang => ({
  ...said,
  labels: new Map(said.labels),
  annotations: new Map(said.annotations),
});

/** The optional operations, which Muster is told of. */
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

/** The module's side of the wire: calls the backend, and says what came of it. */
export class HostedCalls {
  readonly #say: (message: FromModule) => void;
  readonly #open = new Map<number, HandCalls>();
  #backend: Backend | undefined;
  #assign: ((question: Question) => unknown) | undefined;
  #preparation: LoadedPreparation | undefined;

  constructor(say: (message: FromModule) => void) {
    this.#say = say;
  }

  take(message: ToModule): void {
    if (message.what === 'call') void this.#call(message);
    else if (message.what === 'hand') this.#open.get(message.id)?.answered(message);
    else this.#open.get(message.id)?.over(message.reason);
  }

  async #call({ id, operation, given }: Extract<ToModule, { what: 'call' }>): Promise<void> {
    const hands = new HandCalls((number, method, args) =>
      this.#say({ what: 'ask', id, number, method, given: args as Json[] }),
    );
    this.#open.set(id, hands);
    let said: FromModule;
    try {
      const value = (await this.#answer(operation, given, hands)) ?? null;
      if ((JSON.stringify(value)?.length ?? 0) > MAX_LINE / 2) throw new Error('it gave too long an answer');
      said = { what: 'value', id, value: value as Json };
    } catch (thrown) {
      const field = isPodRefused(thrown) ? thrown.field : undefined;
      const hand = thrown instanceof HandFailed ? thrown.number : undefined;
      said = { what: 'thrown', id, thrown: { message: messageOf(thrown), field, hand } };
    }
    this.#open.delete(id);
    this.#say(said);
  }

  #answer(operation: Operation, given: unknown, hands: HandCalls): unknown {
    if (operation === 'ping') return null;
    if (operation === 'load') return this.#load(given as LoadGiven);
    if (operation === 'loadPlugin') return this.#loadPlugin(given as LoadConfigured);
    if (operation === 'assignReplica') return this.#assign?.(given as Question);
    if (operation === 'loadPreparation') return this.#loadPreparation(given as LoadConfigured);
    const answer = this.#preparation?.answer(operation, given);
    if (answer !== undefined) return answer();
    const backend = this.#backend;
    if (backend === undefined) throw new Error('no backend is loaded');
    switch (operation) {
      case 'init':
        return this.#init(backend, given as { cluster: boolean }, hands);
      case 'preparePod':
        return prepare(backend, given as { pod: JsonObject; gang: Membership });
      case 'checkGang':
        return check(backend, given as CheckGiven);
      case 'syncPodGang':
        return sync(backend, given as SyncGiven, hands);
      case 'onPodGangDelete':
        return backend.onPodGangDelete(
          contextOf(hands, given as SyncGiven),
          gangOf((given as SyncGiven).gang),
        );
      case 'syncCluster':
        return backend.syncCluster?.(contextOf(hands, undefined));
      case 'explain':
        return backend.explain?.(given as readonly JsonObject[]);
      case 'validatePolicy':
      case 'prepareMember':
      case 'makeObjects':
        throw new Error(`${operation} is not for a backend`);
    }
  }

  async #load({ file, field, settings }: LoadGiven): Promise<unknown> {
    const factory = await importModule('backend', file, field);
    const backend = factory.create(settings);
    this.#backend = backend;
    const { contractVersion, schedulerName, patchSurface, readsWholePods, cleansUp } = backend;
    // The two names are one, or Muster says which is which.
    const name =
      backend.name === factory.name ? factory.name : `${factory.name} (once created: ${backend.name})`;
    const has = OPTIONAL.filter((operation) => typeof backend[operation] === 'function');
    const { rights } = factory;
    return { name, contractVersion, schedulerName, patchSurface, readsWholePods, cleansUp, rights, has };
  }

  async #loadPlugin({ file, field, config }: LoadConfigured): Promise<unknown> {
    const plugin = await importModule('plugin', file, field);
    configure('plugin', plugin, config);
    this.#assign = (question) => answerOf(plugin, question);
    const { name, contractVersion } = plugin;
    return { name, contractVersion, strategies: plugin.strategies() };
  }

  async #loadPreparation(given: LoadConfigured): Promise<unknown> {
    this.#preparation = await LoadedPreparation.load(given);
    return this.#preparation.facts;
  }

  async #init(backend: Backend, { cluster }: { cluster: boolean }, hands: HandCalls): Promise<unknown> {
    const facts = await backend.init({ cluster: cluster ? probeOf(hands) : undefined, signal: hands.signal });
    return { facts, owns: backend.owns?.() ?? [] };
  }
}

const prepare = (backend: Backend, { pod, gang }: { pod: JsonObject; gang: Membership }): unknown =>
  recorded((patch) =>
    backend.preparePod(podPartFor(backend, new ReceivedPod(pod, gang.namespace)), gang, patch),
  );

interface CheckGiven {
  readonly gang: SaidGang;
  readonly before?: SaidGang;
  readonly check: boolean;
}

function check(backend: Backend, given: CheckGiven): unknown {
  const gang = gangOf(given.gang);
  return {
    ...(given.check && { verdict: backend.validatePodGang(gang) }),
    ...(given.before && { warnings: backend.warnOfUpdate?.(gangOf(given.before), gang) ?? [] }),
  };
}

async function sync(backend: Backend, given: SyncGiven, hands: HandCalls): Promise<unknown> {
  const gang = gangOf(given.gang);
  const context: SyncContext = contextOf(hands, given);
  await backend.syncPodGang(context, gang);
  return {
    order: backend.releaseOrder?.(gang),
    follows: backend.followsBinding?.(gang),
    references: backend.followsReferences?.(gang),
    ending: backend.countsEnding?.(gang),
  };
}

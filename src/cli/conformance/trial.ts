import { resolve } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { JsonObject } from '../../json/json.ts';
import type { BackendFactory } from '../../backends/backend.ts';
import { suggestion } from '../../text/nearest-key.ts';
import { quoted } from '../../text/printable.ts';
import { conformanceChecks, strategyChecks, type ConformanceCheck } from '../../conformance/conformance.ts';
import { preparationChecks } from '../../conformance/preparations.ts';
import { messageOf, MusterError } from '../../errors.ts';
import type { AssignReplicaPlugin } from '../../fleet/assign/assign-replica-plugin.ts';
import type { Brought, ModuleKind } from '../../modules/import-module.ts';
import type { ModuleEntry } from '../../modules/supervisor.ts';
import { preparerFactoryOf, type PreparationModule } from '../../preparers/preparation-module.ts';
import {
  configuredModule as configuredModule,
  loadAny,
  loadPlugin,
  loadPreparation,
} from '../input/backend-modules.ts';
import { verbConfiguration } from '../input/configured.ts';

/** The module, profile or configuration to check, from the flags of `muster conformance`. */
export interface Meant {
  readonly module?: string;
  readonly name?: string;
  readonly config?: string;
}

/** The outcome of one check. */
export interface CheckReport {
  readonly name: string;
  readonly rule: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** Why the check failed or was skipped, or a note about a check that passed. */
  readonly reason?: string;
}

/** The kind and the name of the module that is checked. */
export interface Tried {
  readonly kind: ModuleKind;
  readonly name: string;
}

/** The data that the thread is started with. */
export interface TrialInput {
  readonly meant: Meant;
  /** Names of checks that are reported already. */
  readonly reported: readonly string[];
  /** Names of the reported checks that did not end. */
  readonly hung: readonly string[];
}

/** Messages of the thread, in this order; `alive` comes repeatedly for as long as the thread's event loop turns. */
export type TrialNews =
  | { readonly what: 'alive' }
  | ({ readonly what: 'fault' } & Pick<MusterError, 'code' | 'message' | 'fix' | 'listed'>)
  | ({ readonly what: 'loaded' } & Tried)
  | { readonly what: 'checking'; readonly name: string; readonly rule: string }
  | { readonly what: 'checked'; readonly report: CheckReport }
  | { readonly what: 'done' };

const HEARTBEAT_MS = 250;

/** Runs all checks. The third party's code may block or crash its thread, so this function runs in a worker thread. */
async function trial({ meant, reported, hung }: TrialInput, say: (said: TrialNews) => void): Promise<void> {
  // Muster's own modules are loaded by now: the time that a busy machine takes for them is not the module's.
  say({ what: 'alive' });
  const heart = setInterval(() => say({ what: 'alive' }), HEARTBEAT_MS);
  try {
    const { tried, checks } = await subjectOf(meant, hung);
    say({ what: 'loaded', ...tried });
    for (const check of checks) {
      if (reported.includes(check.name)) continue;
      say({ what: 'checking', name: check.name, rule: check.rule });
      const report = await reportOf(check);
      // What the backend has deferred to the next turn of the event loop belongs to this check, too.
      await new Promise((done) => setImmediate(done));
      say({ what: 'checked', report });
    }
    say({ what: 'done' });
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    const { code, message, fix, listed } = thrown;
    say({ what: 'fault', code, message, fix, listed });
  } finally {
    clearInterval(heart);
  }
}

async function reportOf({ name, rule, run }: ConformanceCheck): Promise<CheckReport> {
  try {
    const outcome = await run();
    if (outcome.state === 'skipped')
      return { name, rule, state: 'skipped', reason: `says nothing while ${outcome.needs} is broken` };
    return { name, rule, state: 'passed', ...(outcome.note !== undefined && { reason: outcome.note }) };
  } catch (thrown) {
    return { name, rule, state: 'failed', reason: messageOf(thrown) };
  }
}

interface Subject {
  readonly tried: Tried;
  readonly checks: readonly ConformanceCheck[];
}

/** The subject that the flags name, with its checks. */
async function subjectOf(meant: Meant, hung: readonly string[]): Promise<Subject> {
  const { module, name, config } = meant;
  if (module === undefined && name === undefined)
    throw new MusterError(
      'USAGE',
      'what is to be tried out?',
      'give --module with a file or package, or --name',
    );
  const brought =
    module === undefined ? undefined : await loadAny({ module, folder: resolve('.'), field: '--module' });
  if (brought !== undefined && name !== undefined && brought.value.name !== name) {
    throw new MusterError(
      'USAGE',
      `--module ${module ?? ''} exports the ${brought.kind} ${quoted(brought.value.name)}, and --name says ${quoted(name)}`,
      `leave out --name, or name the module of that ${brought.kind}`,
    );
  }
  const { plugins, preparations } = verbConfiguration({ file: config, ...broughtBackend(brought) });
  const among = (entries: readonly ModuleEntry[], called: string | undefined): ModuleEntry | undefined =>
    entries.find((one) => one.name === called);
  if (brought?.kind === 'plugin')
    return pluginSubject(brought.value, among(plugins, brought.value.name), hung);
  if (brought?.kind === 'preparation')
    return preparationSubject(brought.value, among(preparations, brought.value.name), hung);
  if (brought === undefined) {
    const [plugin, preparation] = [among(plugins, name), among(preparations, name)];
    if (plugin !== undefined) return pluginSubject(await loadPlugin(plugin.source), plugin, hung);
    if (preparation !== undefined)
      return preparationSubject(await loadPreparation(preparation.source), preparation, hung);
  }
  const { factory, settings } = await backendFor(meant, brought?.value);
  return {
    tried: { kind: 'backend', name: factory.name },
    checks: conformanceChecks(factory, settings, hung),
  };
}

const broughtBackend = (brought: Brought | undefined): { readonly brought?: BackendFactory } =>
  brought?.kind === 'backend' ? { brought: brought.value } : {};

/** Strategies of a module, with the `config` of the configuration's entry of that name. */
function pluginSubject(
  plugin: AssignReplicaPlugin,
  entry: ModuleEntry | undefined,
  hung: readonly string[],
): Subject {
  configuredModule('plugin', plugin, entry?.config ?? {});
  return { tried: { kind: 'plugin', name: plugin.name }, checks: strategyChecks(plugin, hung) };
}

/** A preparation, with the `config` of its entry. Without one the module names the settings under which it is checked. */
function preparationSubject(
  module: PreparationModule,
  entry: ModuleEntry | undefined,
  hung: readonly string[],
): Subject {
  configuredModule('preparation', module, entry?.config ?? {});
  const { name, conformance: { settings = {}, container = {} } = {} } = module;
  const spec = { hpc: { manager: name, settings } };
  return {
    tried: { kind: 'preparation', name },
    checks: preparationChecks(preparerFactoryOf(module), { spec, container }, hung),
  };
}

/** The backend that the flags name, with the settings of its profile. */
async function backendFor({ name, config }: Meant, brought: BackendFactory | undefined) {
  const { configuration, factories } = verbConfiguration({ file: config, brought });
  const { schedulers, topologyAwareScheduling } = configuration;
  const factory = brought ?? namedBackend(name ?? '', await factories());
  const profile = schedulers.profiles.find((one) => one.name === factory.name);
  const { enabled, levels } = topologyAwareScheduling;
  // Without a configuration the backend's factory may name the settings under which it is checked.
  const [own] = config === undefined ? Object.values(factory.conformance ?? {}) : [];
  if (own !== undefined) return { factory, settings: own };
  return {
    factory,
    settings: {
      // A configuration file holds nothing but JSON, whatever the type of `config` is.
      config: (profile?.config ?? {}) as JsonObject,
      topology: { enabled, keys: levels.map((level) => level.key) },
    },
  };
}

function namedBackend(name: string, factories: readonly BackendFactory[]): BackendFactory {
  const found = factories.find((factory) => factory.name === name);
  if (found !== undefined) return found;
  const names = factories.map((factory) => factory.name);
  throw new MusterError(
    'USAGE',
    `there is no backend ${quoted(name)}${suggestion(name, names)} (there are: ${names.join(', ')})`,
    'name one of these, or give the file of yours with --module',
  );
}

if (parentPort !== null) {
  const port = parentPort;
  // Timers and handles that a module has left open end with this thread after its last message.
  await trial(workerData as TrialInput, (said) => port.postMessage(said));
  port.close();
}

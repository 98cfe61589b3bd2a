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

/** Which backend is to be tried: flags of `muster conformance`. */
export interface Meant {
  readonly module?: string;
  readonly name?: string;
  readonly config?: string;
}

/** One check, done. */
export interface CheckReport {
  readonly name: string;
  readonly rule: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped, or what is worth knowing. */
  readonly reason?: string;
}

/** What is tried out. */
export interface Tried {
  readonly kind: ModuleKind;
  readonly name: string;
}

/** What the thread is given. */
export interface TrialInput {
  readonly meant: Meant;
  /** Names of checks that are reported already. */
  readonly reported: readonly string[];
  /** Those among them that did not come to an end. */
  readonly hung: readonly string[];
}

/** What it says, in this order; and `alive` every so often, for as long as its event loop turns. */
export type TrialNews =
  | { readonly what: 'alive' }
  | ({ readonly what: 'fault' } & Pick<MusterError, 'code' | 'message' | 'fix' | 'listed'>)
  | ({ readonly what: 'loaded' } & Tried)
  | { readonly what: 'checking'; readonly name: string; readonly rule: string }
  | { readonly what: 'checked'; readonly report: CheckReport }
  | { readonly what: 'done' };

const HEARTBEAT_MS = 250;

/** The backend is somebody else's, and may do anything to the thread that it runs in; this is that thread. */
async function trial({ meant, reported, hung }: TrialInput, say: (said: TrialNews) => void): Promise<void> {
  const heart = setInterval(() => say({ what: 'alive' }), HEARTBEAT_MS);
  try {
    const { tried, checks } = await subjectOf(meant, hung);
    say({ what: 'loaded', ...tried });
    for (const check of checks) {
      if (reported.includes(check.name)) continue;
      say({ what: 'checking', name: check.name, rule: check.rule });
      const report = await reportOf(check);
      // What the backend has left for the next turn of the event loop is this check's, too.
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

/** What is meant, and the checks that it has to pass. */
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

/** Strategies, with the `config` of the entry of their name. */
function pluginSubject(
  plugin: AssignReplicaPlugin,
  entry: ModuleEntry | undefined,
  hung: readonly string[],
): Subject {
  configuredModule('plugin', plugin, entry?.config ?? {});
  return { tried: { kind: 'plugin', name: plugin.name }, checks: strategyChecks(plugin, hung) };
}

/** A preparation, with the same. It says itself by what settings it is tried out, where none would not do. */
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

/** The backend that is meant, and the settings that its profile has. */
async function backendFor({ name, config }: Meant, brought: BackendFactory | undefined) {
  const { configuration, factories } = verbConfiguration({ file: config, brought });
  const { schedulers, topologyAwareScheduling } = configuration;
  const factory = brought ?? namedBackend(name ?? '', await factories());
  const profile = schedulers.profiles.find((one) => one.name === factory.name);
  const { enabled, levels } = topologyAwareScheduling;
  // Without a configuration the backend's own folder may say under which settings it is to be tried.
  const [own] = config === undefined ? Object.values(factory.conformance ?? {}) : [];
  if (own !== undefined) return { factory, settings: own };
  return {
    factory,
    settings: {
      // What came from a file is JSON, whatever its type says.
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
  // Whatever else a module has left running ends with the last word.
  await trial(workerData as TrialInput, (said) => port.postMessage(said));
  port.close();
}

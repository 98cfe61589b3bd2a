import { resolve } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { JsonObject } from '../../api/json.ts';
import type { BackendFactory } from '../../backends/backend.ts';
import { suggestion } from '../../api/nearest-key.ts';
import { conformanceChecks, strategyChecks, type ConformanceCheck } from '../../conformance/conformance.ts';
import { messageOf, MusterError } from '../../errors.ts';
import type { AssignReplicaPlugin } from '../../fleet/assign/assign-replica-plugin.ts';
import { configure } from '../../modules/call-plugin.ts';
import { loadEither, loadPlugin } from '../input/backend-modules.ts';
import { configured } from '../input/configured.ts';

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
  readonly kind: 'backend' | 'plugin';
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
export type Said =
  | { readonly what: 'alive' }
  | ({ readonly what: 'fault' } & Pick<MusterError, 'code' | 'message' | 'fix' | 'listed'>)
  | ({ readonly what: 'loaded' } & Tried)
  | { readonly what: 'checking'; readonly name: string; readonly rule: string }
  | { readonly what: 'checked'; readonly report: CheckReport }
  | { readonly what: 'done' };

const HEARTBEAT_MS = 250;

/** The backend is somebody else's, and may do anything to the thread that it runs in; this is that thread. */
async function trial({ meant, reported, hung }: TrialInput, say: (said: Said) => void): Promise<void> {
  const heart = setInterval(() => say({ what: 'alive' }), HEARTBEAT_MS);
  try {
    const { tried, checks } = await subjectOf(meant, hung);
    say({ what: 'loaded', ...tried });
    for (const check of checks) {
      if (reported.includes(check.name)) continue;
      say({ what: 'checking', name: check.name, rule: check.rule });
      const report = await reportOf(check);
      // What the backend has left for the next turn of the event loop is this check's, too.
      await new Promise((resolve) => setImmediate(resolve));
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
    throw new MusterError('USAGE', 'which backend?', 'give --module with a file or package, or --name');
  const brought =
    module === undefined ? undefined : await loadEither({ module, folder: resolve('.'), field: '--module' });
  const found = brought && ('plugin' in brought ? brought.plugin : brought.backend);
  if (brought !== undefined && found !== undefined && name !== undefined && found.name !== name) {
    throw new MusterError(
      'USAGE',
      `--module ${module ?? ''} exports the ${Object.keys(brought).join()} ${JSON.stringify(found.name)}, and --name says ${JSON.stringify(name)}`,
      `leave out --name, or name the module of that ${Object.keys(brought).join()}`,
    );
  }
  if (brought !== undefined && 'plugin' in brought) return pluginSubject(brought.plugin, config, hung);
  if (brought === undefined && config !== undefined) {
    const entry = configured({ file: config }).plugins.find((one) => one.name === name);
    if (entry !== undefined) return pluginSubject(await loadPlugin(entry.source), config, hung);
  }
  const { factory, settings } = await backendFor(meant, brought?.backend);
  return {
    tried: { kind: 'backend', name: factory.name },
    checks: conformanceChecks(factory, settings, hung),
  };
}

/** Strategies, with the `config` of the entry of their name. */
function pluginSubject(
  plugin: AssignReplicaPlugin,
  file: string | undefined,
  hung: readonly string[],
): Subject {
  const { plugins } = configured({ file });
  try {
    configure(plugin, plugins.find((one) => one.name === plugin.name)?.config ?? {});
  } catch (thrown) {
    throw new MusterError(
      'BACKEND_MODULE_INVALID',
      `plugin ${plugin.name} refuses its config: ${messageOf(thrown)}`,
      'give --config with the entry of its name in fleet.assigner.plugins, and correct its config',
    );
  }
  return { tried: { kind: 'plugin', name: plugin.name }, checks: strategyChecks(plugin, hung) };
}

/** The backend that is meant, and the settings that its profile has. */
async function backendFor({ name, config }: Meant, brought: BackendFactory | undefined) {
  const { configuration, factories } = configured({ file: config, brought });
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
    `there is no backend ${JSON.stringify(name)}${suggestion(name, names)} (there are: ${names.join(', ')})`,
    'name one of these, or give the file of yours with --module',
  );
}

if (parentPort !== null) {
  const port = parentPort;
  // Whatever else a module has left running ends with the last word.
  await trial(workerData as TrialInput, (said) => port.postMessage(said));
  port.close();
}

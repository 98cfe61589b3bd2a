import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonPodPatch } from '../../../src/admission/pod-patch.ts';
import type { Change } from '../../../src/json/patch.ts';
import { ReceivedPod } from '../../../src/admission/pod-reader.ts';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import type { BackendFacts, ClusterProbe } from '../../../src/backends/cluster.ts';
import { HOSTED } from '../../../src/backends/hosted.ts';
import { TryLater } from '../../../src/errors.ts';
import { MODULE_LIMITS, type ModuleLimits } from '../../../src/modules/process-limits.ts';
import { ModuleBackend } from '../../../src/modules/module-backend.ts';
import { preparePod } from '../../../src/preparers/prepare.ts';

export const GANG = { namespace: 'ml', gang: 'train', group: 'worker', baseGang: undefined };

/**
 * A backend in as few words as there can be; `parts` come last, and `before` is run when it is loaded.
 * @param ofFactory more of its factory
 */
export const moduleText = (parts = '', before = '', ofFactory = ''): string => `
import { BACKEND_CONTRACT_VERSION, PodRefused } from 'muster';
${before}
export default {
  name: 'mine',
  ${ofFactory}
  create: (settings) => ({
    contractVersion: BACKEND_CONTRACT_VERSION, name: 'mine', schedulerName: 'mine-for-pods',
    patchSurface: { schedulerName: true, annotations: ['a'] },
    init: () => Promise.resolve({ version: '1' }),
    preparePod: (_pod, _gang, patch) => patch.setSchedulerName('mine-for-pods', 'asked for'),
    validatePodGang: () => ({ faults: [], warnings: [] }),
    syncPodGang: () => Promise.resolve(),
    onPodGangDelete: () => Promise.resolve(),
    ${parts}
  }),
};`;

/** How an entry of the configuration differs from that of `./mine.mjs`. */
export interface EntryParts {
  readonly name?: string;
  readonly module?: string;
  readonly integrity?: string;
  readonly config?: JsonObject;
}

/** An entry as it is read from a configuration in that folder. */
export const entryIn = (
  folder: string,
  field: string,
  { name = 'mine', module = './mine.mjs', integrity, config = {} }: EntryParts = {},
) => ({ name, source: { module, integrity, folder, field }, config });

/** How long a process takes to start, to answer and to end is the machine's to say. */
export const PATIENT: Partial<ModuleLimits> = { loadMs: 60_000, answerMs: 60_000, silentMs: 60_000 };

/** A module in a process of its own, and what is told of it. */
export interface Hosting {
  readonly backend: ModuleBackend;
  readonly ended: string[];
  readonly wrote: string[];
  /** Another text from now on. */
  readonly write: (text: string) => Promise<void>;
  readonly init: (cluster?: ClusterProbe, signal?: AbortSignal) => Promise<BackendFacts>;
  /** As admission would prepare it. @throws TryLater, what the backend throws */
  readonly prepare: (pod?: JsonObject) => Promise<readonly Change[]>;
  /** The same, of a Pod that tells the module by a label what to do. */
  readonly told: (what: string) => Promise<readonly Change[]>;
  readonly close: () => Promise<void>;
}

export async function host(
  text: string,
  limits: Partial<ModuleLimits> = {},
  config: Record<string, Json> = {},
): Promise<Hosting> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-hosting-'));
  const write = (changed: string): Promise<void> => writeFile(join(folder, 'mine.mjs'), changed);
  await write(text);
  const [ended, wrote]: [string[], string[]] = [[], []];
  const backend = new ModuleBackend(
    {
      name: 'mine',
      source: { module: './mine.mjs', folder, field: 'module' },
      settings: { config, topology: { enabled: false, keys: [] } },
    },
    { ended: (_name, reason) => ended.push(reason), wrote: (_name, line) => wrote.push(line) },
    { ...MODULE_LIMITS, ...limits },
  );
  const prepare = async (pod: JsonObject = { metadata: {}, spec: {} }): Promise<readonly Change[]> => {
    const says = await backend[HOSTED].ofPod(pod, GANG, 10_000);
    const patch = new JsonPodPatch(pod);
    const faults = preparePod(says, [], { pod: new ReceivedPod(pod, 'ml'), gang: GANG, patch });
    if (faults.length > 0) throw new Error(faults.map(({ message }) => message).join());
    return patch.changes();
  };
  return {
    backend,
    ended,
    wrote,
    write,
    prepare,
    init: (cluster, signal = new AbortController().signal) => backend.init({ cluster, signal }),
    told: (what) => prepare({ metadata: { labels: { do: what } }, spec: {} }),
    close: async () => {
      backend[HOSTED].stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What somebody hears who has to try again; rejects where it is answered. */
export async function laterOf(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
  } catch (thrown) {
    if (thrown instanceof TryLater) return thrown.message;
    throw thrown;
  }
  throw new Error('it was answered');
}

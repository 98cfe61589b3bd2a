import type { JsonObject } from '../../src/json/json.ts';
import { KEY_QUEUE } from '../../src/backends/kai/names.ts';
import { BackendRegistry, type BackendProfile } from '../../src/backends/registry.ts';
import {
  collectionPath,
  POD_GANGS,
  type KubeObject,
  type Resource,
} from '../../src/kube/client/resources.ts';
import { GiveUp, until } from '../../test/cluster/control-plane/until.ts';
import type { BackendStage } from './stage.ts';
import { logLength, writesSince, type BackendWrites } from './writes.ts';
import { inParallel } from '../measure/in-parallel.ts';
import { gangName } from '../loop/objects.ts';
import { ANYWHERE, CREATORS } from '../loop/stage.ts';
import { cpuMicrosOf } from '../measure/process-usage.ts';
import { startServer, type RunningServer, type Scratch } from '../admission/servers.ts';

/** One process of Muster, from its start until it had looked at every gang. */
export interface SyncPass {
  /** From the start of the process until its backend had been through all gangs and their objects were there. */
  readonly ms: number;
  /** CPU time of the process until then, its start included. */
  readonly cpuMs: number;
  readonly writes: BackendWrites;
}

export interface SyncFigures {
  readonly backend: string;
  readonly gangs: number;
  /** Kinds of the backend's objects, each of which a gang has one of. */
  readonly kinds: readonly string[];
  readonly first: SyncPass;
  /** Another process, on the same gangs, to which nothing has happened. */
  readonly second: SyncPass;
}

/** What is measured, and what its objects are; the version is that of the control plane, which `serve` finds itself. */
const PROFILES: readonly BackendProfile[] = [
  { name: 'default-scheduler', config: { api: 'v1beta1' } },
  { name: 'kai-scheduler' },
  { name: 'volcano' },
  { name: 'coscheduling' },
];

/** Gangs wait for a control plane that may share its cores with others. */
const PATIENCE = { withinMs: 300_000 };

interface Setting {
  readonly stage: BackendStage;
  readonly scratch: Scratch;
  readonly backend: string;
  readonly kinds: readonly Resource[];
  readonly gangs: number;
}

/** Every built-in backend in turn, on its own gangs; those of the one before are gone by then. */
export async function measureSync(
  stage: BackendStage,
  scratch: Scratch,
  gangs: number,
  progress: (line: string) => void,
): Promise<SyncFigures[]> {
  const figures: SyncFigures[] = [];
  for (const profile of PROFILES) {
    const kinds = new BackendRegistry([profile], profile.name).default.owns?.() ?? [];
    const measured = await measureBackend({ stage, scratch, backend: profile.name, kinds, gangs });
    const { first, second } = measured;
    progress(
      `sync, ${profile.name}: ${first.writes.objects} writes in ${first.ms.toFixed(0)} ms, then ${second.writes.objects} in ${second.ms.toFixed(0)} ms`,
    );
    figures.push(measured);
  }
  return figures;
}

async function measureBackend(setting: Setting): Promise<SyncFigures> {
  const { stage, backend, kinds, gangs } = setting;
  const namespaces = [backend, probeOf(backend)];
  for (const name of namespaces)
    await stage.plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name } });
  const all = Array.from({ length: gangs }, (_, index) => index);
  await inParallel(all, CREATORS, (index) =>
    stage.client.create(POD_GANGS, gang(backend, gangName(index)), { answer: 'metadata' }),
  );
  const first = await pass('first', setting);
  const second = await pass('second', setting);
  for (const namespace of namespaces) {
    await stage.plane.client.ok('DELETE', collectionPath(POD_GANGS, namespace));
  }
  return { backend, gangs, kinds: kinds.map(({ kind }) => kind), first, second };
}

const probeOf = (backend: string): string => `${backend}-probe`;

/** Two groups, so that backends with sub-groups have them to write; the queue is KAI's, which cannot do without. */
const gang = (namespace: string, name: string): KubeObject => ({
  metadata: { namespace, name, labels: { [KEY_QUEUE]: 'research' } },
  spec: {
    podgroups: [
      { name: 'leader', minReplicas: 1, podReferences: [] },
      { name: 'worker', minReplicas: 7, podReferences: [] },
    ],
  },
});

async function pass(name: string, setting: Setting): Promise<SyncPass> {
  const { stage, scratch, backend, kinds, gangs } = setting;
  const from = logLength(stage.auditLog);
  const since = performance.now();
  const options = { placement: ANYWHERE, kubeconfig: stage.kubeconfig, profiles: [backend] as const };
  const muster = await startServer('muster', scratch, options);
  try {
    await until(
      `${backend} has been through ${gangs} gangs`,
      () => hasDone(muster, backend, gangs),
      PATIENCE,
    );
    await until(`${gangs} objects of ${backend}`, () => exist(setting, backend, gangs), PATIENCE);
    const ms = performance.now() - since;
    const cpuMs = cpuMicrosOf(muster.pid) / 1000;
    // What comes after all others shows that this process does write, and that the log has it.
    await stage.client.create(POD_GANGS, gang(probeOf(backend), name));
    const probes = name === 'first' ? 1 : 2;
    await until(`objects of the ${name} probe`, () => exist(setting, probeOf(backend), probes), PATIENCE);
    await muster.stop();
    const where = { kinds, namespace: backend, probe: probeOf(backend) };
    const writes = writesSince(stage.auditLog, from, where);
    if (writes.probe < kinds.length)
      throw new Error(`${backend}: the audit log lacks the writes of the probe`);
    return { ms, cpuMs, writes };
  } finally {
    await muster.stop();
  }
}

/** By Muster's own metric, which only tells when to look: what was written the API server says. */
async function hasDone({ metricsPort }: RunningServer, backend: string, gangs: number): Promise<boolean> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const done = (operation: string, status: string): number => {
    const labels = `backend_name="${backend}",operation="${operation}",status="${status}"`;
    const line = `grove_scheduler_backend_operation_total{${labels}} `;
    const at = text.indexOf(line);
    return at < 0 ? 0 : Number.parseInt(text.slice(at + line.length), 10);
  };
  const failed = done('create', 'failure') + done('update', 'failure');
  if (failed > 0) throw new GiveUp(`${backend}: ${failed} operations of its gangs failed`);
  return done('create', 'success') + done('update', 'success') >= gangs;
}

/** Asks for one object and how many there are beside it: reading all of them would cost as much as writing some. */
async function exist({ stage, kinds }: Setting, namespace: string, count: number): Promise<boolean> {
  for (const kind of kinds) {
    const list = await stage.client.read<
      JsonObject & { items: unknown[]; metadata: { remainingItemCount?: number } }
    >(`${collectionPath(kind, namespace)}?limit=1`);
    if (list.items.length + (list.metadata.remainingItemCount ?? 0) < count) return false;
  }
  return true;
}

import { readFileSync } from 'node:fs';
import {
  GATE_POD_GANG_PENDING,
  LABEL_GANG,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
} from '../../src/api/names.ts';
import { PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import { applyAll } from '../../test/cluster/support/apply.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { webhookConfigurations } from '../../test/support/manifests.ts';
import { makeScratch } from '../admission/servers.ts';
import { startStage, type LoopStage } from '../loop/stage.ts';
import { countWrites, type Writes } from '../loop/writes.ts';
import { figure, type StageReport } from '../measure/figures.ts';
import { exactly } from '../measure/interval.ts';

export interface WorkloadTiming {
  /** How many Jobs of how many Pods each, one Job after the other. */
  readonly shapes: readonly { readonly jobs: number; readonly pods: number }[];
}

interface Measured {
  readonly jobs: number;
  readonly pods: number;
  /** Of each Job. */
  readonly writes: readonly Writes[];
}

/** The PodGang, its references, its status; and one for each Pod. */
const MAX_MORE_WRITES = 3;
const PATIENCE = 300_000;
const EVERY_MS = 250;

/**
 * What Muster writes for the gang of a plain workload: Jobs whose Pods have `muster.dev/gang` and nothing else, made by the
 * real Job controller, named by the webhooks as they ship, counted by the audit log of the API server.
 */
export async function measureWorkloads(
  { shapes }: WorkloadTiming,
  progress: (line: string) => void,
): Promise<StageReport> {
  const { scratch, remove } = await makeScratch();
  try {
    const stage = await startStage(scratch, { controllerManager: true });
    try {
      const muster = await stage.startMuster();
      const ca = readFileSync(scratch.caFile, 'utf8');
      await applyAll(stage.plane.client, await webhookConfigurations(muster.port, ca));
      await stage.createNamespace('asked');
      await untilAsked(stage);
      const measured: Measured[] = [];
      for (const { jobs, pods } of shapes) {
        const writes: Writes[] = [];
        for (let at = 0; at < jobs; at += 1) writes.push(await gangOf(`of-${pods}-${at}`, pods, stage));
        measured.push({ jobs, pods, writes });
        progress(`workloads: ${jobs} Jobs of ${pods} Pods: ${writes.map(sumOf).join(', ')} writes`);
      }
      await muster.stop();
      return report(measured);
    } finally {
      await stage.stop();
    }
  } finally {
    remove();
  }
}

/** The API server takes a moment to know of a webhook. */
async function untilAsked({ client }: LoopStage): Promise<void> {
  const labels = { [LABEL_POD_GANG]: 'nobodys', [LABEL_POD_CLIQUE]: 'main' };
  let tried = 0;
  await until('the webhook is asked', async () => {
    const metadata = { namespace: 'asked', name: `pod-${tried++}`, labels };
    const { spec } = await client.create<Pod>(PODS, { metadata, spec: SPEC });
    return isGated({ spec });
  });
}

const SPEC = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example/train:1' }] };

interface Pod extends KubeObject {
  readonly spec: { readonly schedulingGates?: readonly { readonly name: string }[] };
}
const isGated = ({ spec }: Pick<Pod, 'spec'>): boolean =>
  (spec.schedulingGates ?? []).some(({ name }) => name === GATE_POD_GANG_PENDING);

/** One Job, in a namespace of its own, until no Pod of it has a gate. @returns what was written by then */
async function gangOf(namespace: string, count: number, stage: LoopStage): Promise<Writes> {
  const { plane, client, auditLog } = stage;
  await stage.createNamespace(namespace);
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  const labels = { [LABEL_GANG]: 'true', [LABEL_SCHEDULER_NAME]: 'default-scheduler' };
  const template = { metadata: { labels }, spec: SPEC };
  await plane.client.ok('POST', jobs, {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'train' } },
    spec: { parallelism: count, completions: count, completionMode: 'Indexed', template },
  });
  await until(
    `no Pod of ${namespace} has a gate`,
    async () => {
      const { items } = await client.list<Pod>(PODS, { namespace });
      return items.length === count && !items.some(isGated);
    },
    { withinMs: PATIENCE, everyMs: EVERY_MS },
  );
  // What is logged comes after the answer.
  const writes = await until('every gate is in the log', async () => {
    const found = countWrites(auditLog, namespace);
    return Promise.resolve(found.gates >= count && found);
  });
  await plane.client.ok('DELETE', `${jobs}/train`, undefined, {
    query: { propagationPolicy: 'Background' },
  });
  await stage.empty(namespace);
  return writes;
}

const sumOf = ({ made, references, status, gates }: Writes): number => made + references + status + gates;

function report(measured: readonly Measured[]): StageReport {
  const title = ({ jobs, pods }: Measured): string => `${jobs} × a Job of ${pods} Pods`;
  const mean = (writes: readonly Writes[], of: keyof Writes): string =>
    (writes.reduce((sum, one) => sum + one[of], 0) / writes.length).toFixed(2);
  const head = ['writes per gang', 'PodGang', 'references', 'status', 'gates', 'Events', 'refused'];
  const columns = ['made', 'references', 'status', 'gates', 'events', 'refused'] as const;
  return {
    tables: {
      'workload writes': [
        head,
        ...measured.map((one) => [title(one), ...columns.map((of) => mean(one.writes, of))]),
      ],
    },
    figures: measured.map((one) =>
      figure(
        'workloads',
        `writes for a gang of N beyond N, a Job of ${one.pods} Pods with muster.dev/gang, the most of ${one.jobs}`,
        exactly(Math.max(...one.writes.map(sumOf)) - one.pods),
        { most: MAX_MORE_WRITES },
      ),
    ),
  };
}

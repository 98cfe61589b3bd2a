import { setTimeout as delay } from 'node:timers/promises';
import type { Client, KubeList, KubeObject } from '../test/cluster/control-plane/client.ts';

const EVERY_MS = 300;

interface DemoPod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string; readonly command?: readonly string[] }[];
  };
  readonly status: {
    readonly phase: string;
    readonly startTime?: string;
    readonly conditions?: readonly { readonly type: string }[];
  };
}

/** Does to the Pods of a namespace what a kubelet would, until it is aborted: a command `sleep N` ends after N seconds. */
export async function playKubelet(client: Client, namespace: string, signal: AbortSignal): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const look = async (): Promise<void> => {
    const { items } = await client.ok<KubeList<DemoPod>>('GET', path);
    for (const pod of items) {
      if (pod.spec.nodeName === undefined) continue;
      const { name, uid, resourceVersion, deletionTimestamp } = pod.metadata;
      const own = `${path}/${name}`;
      const status = nextStatus(pod, new Date().toISOString().replace(/\.\d+/, ''));
      // A Pod that somebody has written meanwhile is looked at again.
      if (status !== undefined)
        await client.request('PATCH', `${own}/status`, { metadata: { resourceVersion }, status });
      else if (deletionTimestamp !== undefined)
        await client.request('DELETE', own, { gracePeriodSeconds: 0, preconditions: { uid } });
      if (status?.phase === 'Running')
        await client.request('POST', `/api/v1/namespaces/${namespace}/events`, started(pod));
    }
  };
  while (!signal.aborted) {
    // The API server may be busy, and ends before whoever waits here.
    await look().catch(() => undefined);
    await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

function started({ metadata: { name, namespace, uid } }: DemoPod): object {
  const at = new Date().toISOString();
  return {
    metadata: { generateName: `${name}.` },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name, namespace, uid },
    ...{ type: 'Normal', reason: 'Started', message: 'Started container main' },
    ...{ source: { component: 'kubelet' }, firstTimestamp: at, lastTimestamp: at, count: 1 },
  };
}

/** @returns undefined where nothing changes */
function nextStatus(
  { metadata, spec, status }: DemoPod,
  now: string,
): { readonly phase: string } | undefined {
  const { phase, startTime = now, conditions = [] } = status;
  const killed = metadata.deletionTimestamp !== undefined;
  const seconds = Number(spec.containers[0]?.command?.[1] ?? Infinity);
  const ends = killed || Date.parse(now) - Date.parse(startTime) >= seconds * 1000;
  if (phase === 'Pending' ? killed : phase !== 'Running' || !ends) return undefined;
  const ready = phase === 'Pending';
  const exit = killed ? { exitCode: 143, reason: 'Error' } : { exitCode: 0, reason: 'Completed' };
  const state = ready
    ? { running: { startedAt: now } }
    : { running: null, terminated: { ...exit, startedAt: startTime, finishedAt: now } };
  const own = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    ...{ type, status: ready || type === 'Initialized' ? 'True' : 'False' },
    lastTransitionTime: type === 'Initialized' ? startTime : now,
  }));
  return {
    phase: ready ? 'Running' : killed ? 'Failed' : 'Succeeded',
    ...{
      startTime,
      conditions: [...conditions.filter(({ type }) => own.every((one) => one.type !== type)), ...own],
    },
    containerStatuses: spec.containers.map(({ name }) => ({
      ...{ name, ready, started: ready, restartCount: 0, image: '', imageID: '', state },
    })),
  } as { readonly phase: string };
}

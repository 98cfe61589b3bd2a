/** Gangs that come and go: somebody who creates them, and what a kubelet would say of their Pods. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, KubeList } from '../../test/cluster/control-plane/client.ts';
import { gangPod, GANGS, PODS } from '../../test/cluster/support/registered-muster.ts';

const SCHEDULER = { 'grove.io/scheduler-name': 'default-scheduler' };
const WORKERS = 3;
const FORCED = { query: { gracePeriodSeconds: 0 } };

interface StoredPod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

export interface Stream {
  /** Gangs a second from now on. */
  setRate(perSecond: number): void;
  /** Creations that were refused, by status. */
  readonly refused: ReadonlyMap<number, number>;
  stop(): Promise<void>;
}

/** Each gang lives for `seconds`. One in twenty lacks a Pod, one in thirty has a mistake that is refused. */
export function streamOfGangs(client: Client, seconds: number): Stream {
  const refused = new Map<number, number>();
  const living = new Set<Promise<void>>();
  let [perSecond, running, count] = [0, true, 0];
  const ask = async (method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> => {
    const { status } = await client
      .request(method, path, body, method === 'DELETE' ? FORCED : undefined)
      .catch(() => ({ status: 0 }));
    if (status >= 400 || status === 0) refused.set(status, (refused.get(status) ?? 0) + 1);
  };
  const live = async (index: number): Promise<void> => {
    const name = `train-${index}`;
    await ask('POST', GANGS, {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name, labels: SCHEDULER },
      spec: { podgroups: [{ name: 'worker', minReplicas: index % 30 === 7 ? -1 : WORKERS }] },
    });
    if (index % 30 === 7) return;
    const pods = index % 20 === 3 ? WORKERS - 1 : WORKERS;
    const labels = { ...SCHEDULER, 'grove.io/podgang': name };
    for (let pod = 0; pod < pods; pod += 1) {
      await delay(150);
      await ask('POST', PODS, gangPod({ name: `${name}-${pod}` }, {}, labels));
    }
    await delay(seconds * 1000);
    for (let pod = 0; pod < pods; pod += 1) await ask('DELETE', `${PODS}/${name}-${pod}`);
    await ask('DELETE', `${GANGS}/${name}`);
  };
  const create = async (): Promise<void> => {
    while (running) {
      await delay(perSecond === 0 ? 100 : 1000 / perSecond);
      if (perSecond === 0 || !running) continue;
      count += 1;
      const life: Promise<void> = live(count).finally(() => living.delete(life));
      living.add(life);
    }
  };
  const created = create();
  const started = startBoundPods(client, () => running);
  return {
    setRate: (given) => {
      perSecond = given;
    },
    refused,
    stop: async () => {
      running = false;
      await created;
      await started;
    },
  };
}

/** Says of each bound Pod that it runs and is ready. */
async function startBoundPods(client: Client, running: () => boolean): Promise<void> {
  const status = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }],
  };
  while (running()) {
    await delay(1000);
    const query = { fieldSelector: 'status.phase=Pending', resourceVersion: '0' };
    const pods = await client
      .ok<KubeList<StoredPod>>('GET', PODS, undefined, { query })
      .catch(() => undefined);
    const bound = pods?.items.filter(({ spec }) => spec.nodeName !== undefined) ?? [];
    for (const { metadata } of bound)
      await client.request('PATCH', `${PODS}/${metadata.name}/status`, { status }).catch(() => undefined);
  }
}

// Whoever floods, a process of its own: begins and ends one flood in one namespace when told to.
import { setTimeout as delay } from 'node:timers/promises';
import { findConnection } from '../../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import type { Page } from '../../../src/kube/client/client.ts';
import { POD_GANGS, PODS, type KubeObject } from '../../../src/kube/client/resources.ts';
import { inParallel } from '../../measure/in-parallel.ts';
import { FLOODS } from './floods.ts';

export interface FloodJob {
  readonly kubeconfig: string;
  readonly flood: string;
}

/** An API server that is asked for more at a time has less for others. */
const CONNECTIONS = 4;

const { kubeconfig, flood: id } = JSON.parse(process.argv[2] ?? '') as FloodJob;
const flood = FLOODS.find((one) => one.id === id);
if (flood === undefined) throw new Error(`${id}: no such flood`);
const client = createKubeClient(await findConnection({ kubeconfig }), {
  connections: CONNECTIONS,
  userAgent: 'bench-flood',
});
let namespace = '';
let going = false;
let running: Promise<void> = Promise.resolve();
let turns = 0;
let refused = 0;

async function goOn(): Promise<void> {
  const since = performance.now();
  for (let turn = 0; going; turn += 1) {
    await delay(Math.max(0, since + (turn * 1000) / (flood?.perSecond ?? 1) - performance.now()));
    if (!going) return;
    turns += 1;
    await flood?.again(client, namespace, turns).catch(() => (refused += 1));
  }
}

async function begin(into: string): Promise<void> {
  namespace = into;
  await inParallel(
    Array.from({ length: flood?.objects ?? 0 }, (_, index) => index),
    CONNECTIONS,
    (index) => flood?.make(client, namespace, index) ?? Promise.resolve(),
  );
  going = true;
  running = goOn();
}

async function end(): Promise<string> {
  going = false;
  await running;
  for (const resource of [POD_GANGS, PODS]) {
    // In pages: of large objects a hundred are as much as an answer may have.
    for (let more: string | undefined = ''; more !== undefined;) {
      const page: Page<KubeObject> = await client.list(resource, { namespace, limit: 50 });
      await inParallel(page.items, CONNECTIONS, ({ metadata: { name } }) =>
        client.delete({ resource, namespace, name }, { gracePeriodSeconds: 0 }).catch(() => undefined),
      );
      more = page.continue;
    }
  }
  return `${turns} writes beside what was there, ${refused} refused`;
}

process.on('message', (order: { begin: string } | 'end') => {
  void (order === 'end' ? end() : begin(order.begin).then(() => 'begun')).then(
    (said) => process.send?.(said),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

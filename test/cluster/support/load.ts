import { setTimeout as delay } from 'node:timers/promises';
import { inLength } from '../../support/length.ts';
import type { Client } from '../control-plane/client.ts';
import { DRY_RUN, gangPod, PODS } from './registered-muster.ts';

export interface Load {
  /** Pods admitted so far. */
  admitted(): number;
  /** What went wrong, each as status and message. */
  failures(): readonly string[];
  stop(): Promise<void>;
}

/** Of a worker between two Pods (ms). What matters is that some are under way at any moment, not that the processors are full. */
const PAUSE = inLength({ short: 40, long: 0 });

/**
 * Creates gang Pods one after the other, by `workers` at a time, as dry runs: the whole admission chain runs for each,
 * and the store is not what is tested.
 */
export function createLoad(client: Client, workers: number): Load {
  let running = true;
  let admitted = 0;
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    while (running) {
      const { status, body } = await client.request('POST', PODS, gangPod(), DRY_RUN);
      const prepared = body.metadata?.annotations?.['pod-group-name'] !== undefined;
      if (status === 201 && prepared) admitted += 1;
      else failures.push(`${status} ${body.message ?? JSON.stringify(body)}`);
      if (PAUSE > 0) await delay(PAUSE);
    }
  };
  const done = Promise.all(Array.from({ length: workers }, work));
  return {
    admitted: () => admitted,
    failures: () => failures,
    stop: async () => {
      running = false;
      await done;
    },
  };
}

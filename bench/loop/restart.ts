import type { RunningServer } from '../admission/servers.ts';
import { bareListMs } from './bare-list.ts';
import { ReviewsMeanwhile } from './reviews-meanwhile.ts';
import type { LoopStage } from './stage.ts';

/** Of a Muster that is started when all is there. */
export interface Restart {
  /** Milliseconds from its start to its first write, for which it has to have listed everything. */
  readonly readyMs: number;
  /** Milliseconds in which a client that reads nothing receives the same lists, right before. */
  readonly bareMs: number;
  /** Milliseconds that each review took meanwhile. */
  readonly reviewWaits: readonly number[];
  /** The same of a webhook that decides nothing, while that client received the lists. */
  readonly bareWaits: readonly number[];
}

/** @returns the Muster as well, which goes on */
export async function restart(stage: LoopStage): Promise<Restart & { readonly muster: RunningServer }> {
  const beside = new ReviewsMeanwhile();
  const webhook = await stage.startBareWebhook((opened, scratch) => beside.begin(opened, scratch));
  const bareMs = await bareListMs(stage.plane.kubeconfig);
  await beside.end();
  await webhook.stop();
  const startedAt = performance.now();
  const reviews = new ReviewsMeanwhile();
  const muster = await stage.startMuster({ opened: (server, scratch) => reviews.begin(server, scratch) });
  const readyMs = performance.now() - startedAt;
  await reviews.end();
  return { muster, readyMs, bareMs, reviewWaits: reviews.waits, bareWaits: beside.waits };
}

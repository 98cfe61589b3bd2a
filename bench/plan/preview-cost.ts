import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../test/cluster/control-plane/until.ts';
import { applyAll } from '../../test/cluster/support/apply.ts';
import { manifestsIn } from '../../test/support/manifests.ts';
import { contest, type AdmissionTiming } from '../admission/admission.ts';
import type { ContestResult } from '../admission/contest.ts';
import { ratioBetween } from '../admission/ratios.ts';
import { bodyOf } from '../admission/reviews.ts';
import { startServer, type RunningServer, type ServerName } from '../admission/servers.ts';
import { makeReviewedGang, onStage, type BackendStage } from '../backends/stage.ts';
import { withInterval } from '../measure/figures.ts';
import { meanOf, type Estimate } from '../measure/interval.ts';
import { choosePlacement } from '../measure/placement.ts';

export interface PreviewCosts {
  /** CPU of an ordinary review of Muster with forecasts on, times that of one without. */
  readonly withForecasts: Estimate;
  /** The same of two without: what is not smaller than this cannot be seen. */
  readonly alike: Estimate;
}

/** `other` is a second Muster like the first. */
const SIDES: readonly ServerName[] = ['muster', 'other', 'preview'];

/**
 * What an ordinary review of 8 KiB costs where forecasts are on: three Musters on one cluster, two without and one with,
 * in turns, a slice of a tenth of a second each. What V8 makes of a program differs from start to start, so each start
 * gives one ratio, and the interval is that of the starts. Whose turn comes first, which is some percent, goes round, and with
 * it who leads.
 */
export async function measurePreviewCost(
  timing: AdmissionTiming,
  progress: (line: string) => void,
): Promise<PreviewCosts> {
  const results: ContestResult[] = [];
  await onStage(async (stage, scratch) => {
    const setting = { scratch, placement: choosePlacement() };
    await prepare(stage);
    for (let start = 0; start < timing.starts; start += 1) {
      const servers = new Map<ServerName, RunningServer>();
      try {
        const order = SIDES.map((_, at) => SIDES[(at + start) % SIDES.length] ?? 'muster');
        for (const name of order)
          servers.set(name, await startServer(name, scratch, { ...setting, kubeconfig: stage.kubeconfig }));
        await until('forecasts can be given', () =>
          readFileSync(join(scratch.folder, 'preview.log'), 'utf8').includes(
            'forecasts of preemption can be given',
          ),
        );
        const sides = order.flatMap((name) => servers.get(name) ?? []);
        const load = {
          body: bodyOf(8),
          mode: 'keep',
          rounds: timing.rounds,
          sliceMs: timing.sliceMs,
        } as const;
        // Until each has looked at its cluster it asks everybody to come again.
        await until('all answer', () =>
          contest(sides, { ...load, rounds: 1, warmUpMs: 0, reviews: 16 }, setting).then(() => true),
        );
        const result = await contest(sides, { ...load, warmUpMs: timing.firstWarmUpMs }, setting);
        results.push(result);
        progress(
          `forecasts, start ${start + 1} of ${timing.starts}: CPU ${withInterval(ratioBetween('preview', 'muster', 'cpuMicros', [result]))} × without`,
        );
      } finally {
        for (const server of servers.values()) await server.stop();
      }
    }
  });
  const over = (name: ServerName): Estimate =>
    meanOf(results.map((one) => ratioBetween(name, 'muster', 'cpuMicros', [one]).value));
  return { withForecasts: over('preview'), alike: over('other') };
}

/** The gang, and the rights to look at everything. */
async function prepare({ plane }: BackendStage): Promise<void> {
  await applyAll(plane.client, await manifestsIn('components/preemption-preview'));
  await makeReviewedGang(plane);
}

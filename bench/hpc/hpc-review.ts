import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENTRYPOINT_COMMAND } from '../../src/preparers/flux/names.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { applyAll } from '../../test/cluster/support/apply.ts';
import { manifestsIn } from '../../test/support/manifests.ts';
import { contest, type AdmissionTiming } from '../admission/admission.ts';
import type { ContestResult, PatchOperation } from '../admission/contest.ts';
import { ratioBetween } from '../admission/ratios.ts';
import { patchOf } from '../admission/patch-of.ts';
import { NAMESPACE, type Body } from '../admission/reviews.ts';
import { startServer, type RunningServer, type Scratch } from '../admission/servers.ts';
import { makeReviewedGang, onStage, type BackendStage } from '../backends/stage.ts';
import { figure, short, withInterval, type StageReport } from '../measure/figures.ts';
import { meanOf, plainMean } from '../measure/interval.ts';
import { choosePlacement } from '../measure/placement.ts';

/** A Pod whose command runs under Flux gets volumes, an init container and mounts: a patch of several kilobytes. */
const BODY: Body = { size: 8, managedFields: true, hpc: true };
/** Times the CPU of a server that answers the same patch without having worked it out. */
const MOST_CPU = 1.3;
const POLICY = 'flux';

/**
 * What the review of a Pod under Flux costs at 8 KiB. Muster knows gang and policy from a real API server, as in production; the
 * bare server answers the very patch that Muster gives, made beforehand.
 */
export async function measureHpc(
  { starts, rounds, sliceMs, firstWarmUpMs }: AdmissionTiming,
  progress: (line: string) => void,
): Promise<StageReport> {
  const results: ContestResult[] = [];
  await onStage(async (stage, scratch) => {
    const setting = { scratch, placement: choosePlacement() };
    await prepare(stage);
    for (let start = 1; start <= starts; start += 1) {
      const servers: RunningServer[] = [];
      try {
        const { kubeconfig } = stage;
        const muster = await startServer('muster', scratch, { ...setting, kubeconfig, hpc: true });
        servers.push(muster);
        // Until it has looked at its cluster it asks everybody to come again.
        const patch = await until('the Pod is prepared', () => fluxPatchOf(muster, scratch));
        const patchFile = join(scratch.folder, 'patch.json');
        writeFileSync(patchFile, JSON.stringify(patch));
        servers.push(await startServer('bare', scratch, { ...setting, patchFile }));
        const load = { body: BODY, mode: 'keep', rounds, sliceMs, warmUpMs: firstWarmUpMs, patch } as const;
        const result = await contest(servers, load, setting);
        results.push(result);
        const ratio = withInterval(ratioBetween('muster', 'bare', 'cpuMicros', [result]));
        progress(`a Pod under Flux, start ${start} of ${starts}: CPU ${ratio} × bare`);
      } finally {
        for (const server of servers) await server.stop();
      }
    }
  });
  const micros = (name: 'bare' | 'muster'): number[] =>
    results.flatMap(({ slices }) => (slices[name] ?? []).map(({ cpuMicros }) => cpuMicros));
  const ratio = ratioBetween('muster', 'bare', 'cpuMicros', results);
  return {
    tables: {
      hpc: [
        ['8 KiB, under Flux', 'CPU µs', '× bare'],
        ['bare node:https', short(plainMean(micros('bare'))), '1'],
        ['Muster', short(plainMean(micros('muster'))), withInterval(ratio)],
      ],
    },
    figures: [
      figure('hpc', '8 KiB under Flux: CPU µs per review, Muster', meanOf(micros('muster'))),
      figure('hpc', '8 KiB under Flux: CPU per review, times bare', ratio, { most: MOST_CPU }),
    ],
  };
}

async function prepare({ plane }: BackendStage): Promise<void> {
  await applyAll(plane.client, await manifestsIn('components/hpc'));
  await makeReviewedGang(plane, { 'muster.dev/hpc-policy': POLICY });
  await plane.client.ok('POST', `/apis/muster.dev/v1alpha1/namespaces/${NAMESPACE}/hpcpolicies`, {
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'HPCPolicy',
    metadata: { name: POLICY },
    spec: { hpc: { manager: 'flux', settings: { 'tasks-per-node': '8' } } },
  });
}

/** The patch that one Muster gives. @throws where it does not put the Pod under Flux (yet) */
async function fluxPatchOf(server: RunningServer, { caFile }: Scratch): Promise<readonly PatchOperation[]> {
  const patch = await patchOf(server, caFile, BODY);
  const command = patch.find(({ path }) => path === '/spec/containers/0/command')?.value;
  if (!JSON.stringify(command ?? '').startsWith(JSON.stringify(ENTRYPOINT_COMMAND).slice(0, -1)))
    throw new Error(`the Pod does not run under Flux: ${JSON.stringify(patch).slice(0, 500)}`);
  return patch;
}

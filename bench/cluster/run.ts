// `npm run bench -- cluster`: what gangs cost a whole cluster, beside the same Pods alone.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ControlPlaneUnavailable } from '../../test/cluster/control-plane/binaries.ts';
import { startWatchdog } from '../../test/cluster/control-plane/watchdog.ts';
import { GoToolUnavailable, locateGoTool } from '../../test/cluster/go-tools/go-tools.ts';
import { computingElsewhere, disturbed } from '../measure/elsewhere.ts';
import { commitName, machineName } from '../measure/machine.ts';
import { contend } from './contender.ts';
import { endingOf } from './ending.ts';
import { CLUSTER_USAGE, clusterOptionsFrom, type ClusterOptions } from './options.ts';
import { keepResults, nothingMeasured, type ClusterResults, type ContenderRun } from './results.ts';
import { clusterReport } from './table.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
/** Of the minutes; the same Pods alone take a third of the time. */
const SHARE_OF_GANGS = 0.7;
const NOT_BEGUN = 'it has not begun';

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** @returns the exit code */
export async function runCluster(argv: readonly string[]): Promise<number> {
  const options = clusterOptionsFrom(argv.filter((word) => word !== '--help'));
  if (argv.includes('--help')) {
    say(CLUSTER_USAGE);
    return 0;
  }
  if (typeof options === 'string') {
    progress(`${options}\n\n${CLUSTER_USAGE}`);
    return 2;
  }
  try {
    const results = await measureCluster(options);
    for (const line of ['', ...clusterReport(results), '']) say(line);
    const disturbance = disturbed(results.elsewhere);
    if (disturbance !== undefined) say(disturbance);
    if (results.muster.early > 0)
      say(`MISSED: ${results.muster.early} Pods were bound before their gang was released`);
    return results.muster.early > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof GoToolUnavailable || error instanceof ControlPlaneUnavailable)) throw error;
    progress(error.message);
    return 2;
  }
}

async function measureCluster(options: ClusterOptions): Promise<ClusterResults> {
  const begun = performance.now();
  const whole = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => whole.abort(`${signal} came`));
  const { pods, nodes, ahead, minutes } = options;
  const kwok = await locateGoTool('kwok', { build: true });
  const commit = commitName();
  const elsewhere = await computingElsewhere();
  const dir = await mkdtemp(join(tmpdir(), 'muster-cluster-'));
  const watchdog = startWatchdog(options.logs === undefined ? dir : undefined);
  let results: ClusterResults = {
    ...{ date: new Date().toISOString(), commit, node: process.versions.node, kubernetes: '' },
    ...{ machine: machineName(), elsewhere: Number(elsewhere.toFixed(2)), pods, nodes, ahead },
    ...{ alone: nothingMeasured(NOT_BEGUN), muster: nothingMeasured(NOT_BEGUN) },
  };
  /** @param share of the minutes that are over when it ends */
  const measure = async (kind: 'alone' | 'muster', share: number, until?: number): Promise<void> => {
    if (whole.signal.aborted) return;
    const left = minutes === undefined ? undefined : begun + share * minutes * 60_000 - performance.now();
    const given = { kwok, watchdog, dir: resolve(options.logs ?? dir), ending: endingOf(whole.signal, left) };
    const made = (run: ContenderRun): void => {
      results = { ...results, [kind]: run };
      keepResults(options.json, results);
    };
    const target = { ...options, ...(until !== undefined && { until }) };
    const { kubernetes } = await contend(kind, target, { ...given, made }, progress);
    results = { ...results, kubernetes: results.kubernetes || kubernetes };
    keepResults(options.json, results);
  };
  try {
    // Gangs are slower, and beyond what they reach there is nothing to compare.
    await measure('muster', SHARE_OF_GANGS);
    await measure('alone', 1, results.muster.steps.at(-1)?.pods);
    return results;
  } finally {
    await watchdog.dismiss();
    await rm(dir, { recursive: true, force: true });
  }
}

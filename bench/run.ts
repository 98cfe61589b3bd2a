// `npm run bench`: what Muster costs, side by side with the least that is possible, in one run.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { measureAdmission } from './admission/admission.ts';
import { measureGrowth } from './admission/growth.ts';
import { measureLabelled } from './admission/labelled.ts';
import { measureRested } from './admission/rested.ts';
import { makeScratch } from './admission/servers.ts';
import { measureApiServer } from './api-server/api-server.ts';
import { measureBackends } from './backends/backends.ts';
import { runCluster } from './cluster/run.ts';
import { measureFleet } from './fleet/fleet.ts';
import { measureHostile } from './hostile/hostile.ts';
import { measureHpc } from './hpc/hpc-review.ts';
import { measureFar } from './far/far.ts';
import { measureLarge } from './loop/large.ts';
import { measureLoop } from './loop/loop.ts';
import { computingElsewhere, disturbed } from './measure/elsewhere.ts';
import { aligned, goalLines, type StageReport } from './measure/figures.ts';
import { commitName, machineName } from './measure/machine.ts';
import { choosePlacement } from './measure/placement.ts';
import { optionsFrom, partsOf, USAGE, type BenchOptions } from './options.ts';
import type { Results } from './results.ts';
import { measurePlan } from './plan/plan.ts';
import { measureReview } from './review/review.ts';
import { measureWorkloads } from './workloads/workloads.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** One stage after the other; each is left out where nothing of it was asked for. */
async function measureAll({ only, timing, against }: BenchOptions): Promise<Map<string, StageReport>> {
  const reports = new Map<string, StageReport>();
  const stage = async (name: string, measure: () => Promise<StageReport>): Promise<void> => {
    if (!partsOf(name).some((part) => only.has(part))) return;
    const since = performance.now();
    reports.set(name, await measure());
    progress(`${name}: ${((performance.now() - since) / 1000).toFixed(0)} s`);
  };
  const { scratch, remove } = await makeScratch();
  const setting = { scratch, placement: choosePlacement(), progress, ...(against && { against }) };
  try {
    await stage('admission', () => measureAdmission(only, timing.admission, setting));
    await stage('labelled', () => measureLabelled(timing.labelled, setting));
    await stage('rested', () => measureRested(timing.rested, setting));
    await stage('growth', () => measureGrowth(timing.growth, setting));
    await stage('hostile', () => measureHostile(only, timing.hostile, setting));
  } finally {
    remove();
  }
  await stage('api-server', () => measureApiServer(timing.apiServer, progress));
  await stage('review', () => Promise.resolve(measureReview(timing.review, progress)));
  await stage('loop', () => measureLoop(only, timing.loop, progress));
  await stage('large', () => measureLarge(only, timing.large, progress));
  await stage('far', () => measureFar(only, timing.far, progress));
  await stage('workloads', () => measureWorkloads(timing.workloads, progress));
  await stage('backends', () => measureBackends(only, timing.backends, progress));
  await stage('plan', () => measurePlan(only, timing.plan, progress));
  await stage('fleet', () => measureFleet(timing.fleet, progress));
  await stage('hpc', () => measureHpc(timing.hpc, progress));
  return reports;
}

async function bench(options: BenchOptions): Promise<boolean> {
  const elsewhere = await computingElsewhere();
  const reports = await measureAll(options);
  const machine = machineName();
  const figures = [...reports.values()].flatMap((report) => report.figures);
  const results: Results = {
    date: new Date().toISOString(),
    commit: commitName(),
    node: process.versions.node,
    machine,
    elsewhere,
    rows: figures,
    tables: Object.fromEntries([...reports.values()].flatMap(({ tables }) => Object.entries(tables))),
  };
  say(`\n${machine}, Node ${results.node}; commit ${results.commit}; in brackets the interval of 95 %\n`);
  for (const { tables, notes = [] } of reports.values()) {
    for (const rows of Object.values(tables).filter(({ length }) => length > 1)) {
      for (const line of [...aligned(rows), '']) say(line);
    }
    for (const note of notes) say(note);
  }
  if (options.quick)
    say('--quick: everything answers as it should; these figures are not for quoting and not judged');
  for (const line of goalLines(figures, options.quick)) say(line);
  const disturbance = disturbed(elsewhere);
  if (disturbance !== undefined) say(disturbance);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, undefined, 2)}\n`);
  return options.quick || figures.every(({ verdict }) => verdict !== 'FAIL');
}

// Control planes are those of the tests, which collect garbage seldom, a second of it now and then, and on one processor.
// Here as an API server does by itself, so that each round has its share.
Object.assign(process.env, { GOGC: '100', GOMEMLIMIT: 'off', GOMAXPROCS: String(availableParallelism()) });

// Servers and folders go with the `exit` event, which a signal alone does not cause; the bench of a cluster ends by itself.
const argv = process.argv.slice(2);
const [stage, ...more] = argv;
if (stage !== 'cluster')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const options = optionsFrom(argv);
if (process.platform !== 'linux') {
  process.stderr.write('the bench reads /proc: it runs on Linux only\n');
  process.exitCode = 2;
} else if (stage === 'cluster') {
  process.exitCode = await runCluster(more);
} else if (typeof options === 'string') {
  process.stderr.write(`${options}\n\n${USAGE}\n`);
  process.exitCode = 2;
} else if (options.help) {
  say(USAGE);
} else {
  process.exitCode = (await bench(options)) ? 0 : 1;
}

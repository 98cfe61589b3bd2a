// `npm run bench`: Muster, a bare node:https server and a controller-runtime webhook, side by side in one run.
import { writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { judgeBackends } from './backend-goals.ts';
import { backendTables } from './backend-report.ts';
import { BACKEND_PARTS, measureBackends, type BackendFigures } from './backends.ts';
import { buildPeer } from './build-peer.ts';
import { generateLoad } from './generate-load.ts';
import { judge } from './goals.ts';
import { measureGrowth, type Growth } from './growth.ts';
import type { LoadResult } from './load-job.ts';
import { LOOP_PARTS, measureLoop, type LoopFigures } from './loop.ts';
import { judgeLoop } from './loop-goals.ts';
import { loopTables } from './loop-report.ts';
import { optionsFrom, USAGE, type BenchOptions } from './options.ts';
import { choosePlacement, type Placement } from './placement.ts';
import { warnings, goalLines, tableOf } from './report.ts';
import { scenarios, type Measurements, type Round, type Scenario } from './scenarios.ts';
import { makeScratch } from './scratch.ts';
import { startServer, type RunningServer, type Scratch } from './servers.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

interface Setting {
  readonly scratch: Scratch;
  readonly placement: Placement;
}

async function startAll(setting: Setting): Promise<{ servers: RunningServer[]; peerMissing?: string }> {
  const peer = buildPeer(progress);
  const servers = [
    await startServer('bare', setting.scratch, setting),
    await startServer('muster', setting.scratch, setting),
  ];
  if ('missing' in peer) return { servers, peerMissing: peer.missing };
  const { program } = peer;
  servers.push(await startServer('peer', setting.scratch, { ...setting, peerProgram: program }));
  return { servers };
}

/** One scenario: every server once to get warm, then rounds in which each has its turn, so that drift hits all. */
async function measure(
  scenario: Scenario,
  servers: readonly RunningServer[],
  { rounds, timing }: BenchOptions,
  setting: Setting,
  first: boolean,
): Promise<Round[]> {
  const load = { size: scenario.size, connections: scenario.connections, mode: scenario.mode };
  for (const server of servers) {
    const window = { ms: first ? timing.firstWarmUpMs : timing.warmUpMs };
    await generateLoad(server, { ...load, rampMs: timing.rampMs, window }, setting);
  }
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const results: Partial<Record<RunningServer['name'], LoadResult>> = {};
    for (const server of servers) {
      const window = { ms: timing.windowMs };
      results[server.name] = await generateLoad(server, { ...load, rampMs: timing.rampMs, window }, setting);
    }
    measured.push(results);
    progress(`${scenario.title}: round ${round + 1} of ${rounds}`);
  }
  return measured;
}

async function bench(options: BenchOptions): Promise<boolean> {
  const placement = choosePlacement();
  const { scratch, remove } = await makeScratch();
  const setting = { scratch, placement };
  const measurements: Measurements = new Map();
  let growth: Growth | undefined;
  let peerMissing: string | undefined;
  let loop: LoopFigures | undefined;
  let backends: BackendFigures = {};
  try {
    const chosen = scenarios.filter(({ id }) => options.only.has(id));
    if (chosen.length > 0) {
      const started = await startAll(setting);
      peerMissing = started.peerMissing;
      for (const scenario of chosen) {
        const first = scenario === chosen[0];
        measurements.set(scenario.id, await measure(scenario, started.servers, options, setting, first));
      }
      for (const server of started.servers) await server.stop();
    }
    if (options.only.has('growth')) growth = await measureGrowth(options.timing.growth, setting, progress);
    if (LOOP_PARTS.some((part) => options.only.has(part)))
      loop = await measureLoop(options.only, options.timing.loop, progress);
    if (BACKEND_PARTS.some((part) => options.only.has(part)))
      backends = await measureBackends(options.only, options.timing.backends, progress);
  } finally {
    remove();
  }

  const machine = `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, Linux ${release()}, Node ${process.versions.node}`;
  say(`\n${machine}; ${placement.description}; medians of ${options.rounds} interleaved rounds\n`);
  for (const line of tableOf(measurements)) say(line);
  for (const line of warnings(measurements)) say(line);
  if (peerMissing !== undefined) say(`controller-runtime was not measured: ${peerMissing}`);
  for (const line of loop === undefined ? [] : ['', ...loopTables(loop)]) say(line);
  for (const line of backendTables(backends)) say(line);
  const goals = [
    ...judge(measurements, growth),
    ...judgeLoop(loop ?? { timing: options.timing.loop }),
    ...judgeBackends(backends),
  ];
  say('');
  if (options.quick)
    say('--quick: everything answers as it should; these figures are not for quoting and not judged');
  for (const line of goalLines(goals, options.quick)) say(line);
  if (options.json !== undefined) {
    const rounds = Object.fromEntries(measurements);
    const report = {
      date: new Date().toISOString(),
      machine,
      placement,
      options,
      rounds,
      growth,
      loop,
      backends,
      goals,
    };
    writeFileSync(options.json, `${JSON.stringify(report, undefined, 2)}\n`);
  }
  return options.quick || goals.every((goal) => goal.verdict !== 'FAIL');
}

// Servers and folders go with the `exit` event, which a signal alone does not cause.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const options = optionsFrom(process.argv.slice(2));
if (typeof options === 'string') {
  process.stderr.write(`${options}\n\n${USAGE}\n`);
  process.exitCode = 2;
} else if (process.platform !== 'linux') {
  process.stderr.write('the bench reads /proc: it runs on Linux only\n');
  process.exitCode = 2;
} else if (options.help) {
  say(USAGE);
} else {
  process.exitCode = (await bench(options)) ? 0 : 1;
}

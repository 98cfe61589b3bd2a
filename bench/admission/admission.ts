import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { figure, short, withInterval, type Figure, type StageReport } from '../measure/figures.ts';
import { meanOf, NOTHING, plainMean, type Estimate } from '../measure/interval.ts';
import type { Placement } from '../measure/placement.ts';
import { buildPeer } from './build-peer.ts';
import type { Contest, ContestResult, Sent, Slice } from './contest.ts';
import { p99sOf, ratioBetween, ratioOrNothing, slicesOf, valueOf } from './ratios.ts';
import { bodyOf, type Body } from './reviews.ts';
import { startServer, type RunningServer, type Scratch, type ServerName } from './servers.ts';

const run = promisify(execFile);

/** One load that all servers get in turn. */
interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly body: Body;
  readonly mode: Contest['mode'];
  /** Times the CPU of bare. */
  readonly mostCpu?: number;
}

const reviewed = (id: string, title: string, body: Body, mostCpu: number): Scenario => ({
  ...{ id, title, body, mostCpu },
  mode: 'keep',
});

/** 8 KiB first: memory is compared after it, and a server that has seen 512 KiB keeps what it took for them. */
export const SCENARIOS: readonly Scenario[] = [
  reviewed('8', '8 KiB', bodyOf(8), 1.15),
  reviewed('8-plain', '8 KiB without managedFields', { size: 8, managedFields: false }, 1.2),
  reviewed('2', '2 KiB', bodyOf(2), 1.25),
  reviewed('64', '64 KiB', bodyOf(64), 0.8),
  reviewed('512', '512 KiB', bodyOf(512), 0.8),
  reviewed('interpret', 'interpretation of 8 KiB', { size: 8, managedFields: false, interpreted: true }, 1.1),
  { id: 'new', title: 'new connection', body: bodyOf(8), mode: 'new' },
];

const MIN_PEER_TO_MUSTER = 12;
const MAX_P99_TO_BARE = 1;
const MIN_NEW_CONNECTIONS_TO_BARE = 1;
/** MiB beyond bare, at 8 KiB. */
const MAX_MORE_RSS = 60;
/** The sizes that Pods mostly have: plain, and with much environment and managedFields. */
const USUAL = ['8', '64'];

/** An API server keeps few connections to a webhook; 16 of them keep one core busy without a long queue. */
const CONNECTIONS = 16;
/** The peer takes part in every so many rounds. */
const PEER_EVERY = 4;

export interface AdmissionTiming {
  /** Times that all servers are started: what V8 makes of a program differs from start to start by some percent. */
  readonly starts: number;
  /** Per start and scenario. */
  readonly rounds: number;
  readonly sliceMs: number;
  /** CPU time before the first scenario of a start: V8 goes on optimising for tens of thousands of reviews. */
  readonly firstWarmUpMs: number;
  readonly warmUpMs: number;
}

export interface AdmissionSetting {
  readonly scratch: Scratch;
  readonly placement: Placement;
  readonly progress: (line: string) => void;
  /** A folder with the build of another Muster, which then takes part. */
  readonly against?: string;
}

/** What the servers had in one scenario, one result for each start. */
type Measured = ReadonlyMap<string, readonly ContestResult[]>;

export async function measureAdmission(
  only: ReadonlySet<string>,
  timing: AdmissionTiming,
  setting: AdmissionSetting,
): Promise<StageReport> {
  const { progress } = setting;
  const chosen = SCENARIOS.filter(({ id }) => only.has(id));
  const measured = new Map<string, ContestResult[]>(chosen.map(({ id }) => [id, []]));
  const peer = buildPeer(progress);
  for (let start = 1; start <= timing.starts; start += 1) {
    const servers = await startAll(setting, 'program' in peer ? peer.program : undefined);
    for (const [at, scenario] of chosen.entries()) {
      const warmUpMs = at === 0 ? timing.firstWarmUpMs : timing.warmUpMs;
      // The peer answers reviews only.
      const present = scenario.body.interpreted ? servers.filter(({ name }) => name !== 'peer') : servers;
      const result = await contest(present, { ...scenario, ...timing, warmUpMs }, setting);
      measured.get(scenario.id)?.push(result);
      const ratio = withInterval(ratioBetween('muster', 'bare', 'cpuMicros', [result]));
      progress(`start ${start} of ${timing.starts}, ${scenario.title}: CPU ${ratio} × bare`);
    }
    for (const server of servers) await server.stop();
  }
  return {
    tables: { reviews: table(measured) },
    figures: figuresOf(measured),
    ...('missing' in peer ? { notes: [`controller-runtime was not measured: ${peer.missing}`] } : {}),
  };
}

async function startAll(setting: AdmissionSetting, peerProgram?: string): Promise<RunningServer[]> {
  const { scratch, against } = setting;
  const servers = [
    await startServer('bare', scratch, setting),
    await startServer('muster', scratch, setting),
  ];
  if (against !== undefined)
    servers.push(await startServer('other', scratch, { ...setting, build: against }));
  if (peerProgram !== undefined)
    servers.push(await startServer('peer', scratch, { ...setting, peerProgram }));
  return servers;
}

interface Load extends Pick<
  Contest,
  'body' | 'mode' | 'warmUpMs' | 'rounds' | 'sliceMs' | 'reviews' | 'patch'
> {
  /** What one of them gets in place of what the others get. */
  readonly own?: Partial<Record<ServerName, Sent>>;
}

/** Runs the load generator once. A new process: no scenario profits from what an earlier one left in the client. */
export async function contest(
  servers: readonly RunningServer[],
  { body, mode, warmUpMs, rounds, sliceMs, reviews, patch, own = {} }: Load,
  { scratch, placement }: Pick<AdmissionSetting, 'scratch' | 'placement'>,
): Promise<ContestResult> {
  const job: Contest = {
    contenders: servers.map(({ name, port, pid }) => ({
      ...{ name, port, pid },
      every: name === 'peer' ? PEER_EVERY : 1,
      ...(own[name] && { own: own[name] }),
    })),
    caFile: scratch.caFile,
    connections: CONNECTIONS,
    ...{ body, mode, warmUpMs, rounds, sliceMs },
    ...(reviews === undefined ? {} : { reviews }),
    ...(patch === undefined ? {} : { patch }),
  };
  const program = join(import.meta.dirname, 'load.ts');
  const [file = '', ...args] = [...placement.onClientCore, process.execPath, program, JSON.stringify(job)];
  try {
    const { stdout } = await run(file, args, { maxBuffer: 1 << 26 });
    return JSON.parse(stdout) as ContestResult;
  } catch (thrown) {
    const printed = (thrown as { stderr?: string }).stderr?.trim() ?? String(thrown);
    throw new Error(`the load generator failed: ${printed}`, { cause: thrown });
  }
}

const NAMES: Readonly<Record<ServerName, string>> = {
  bare: 'bare node:https',
  muster: 'Muster',
  other: 'the other Muster',
  preview: 'Muster with forecasts',
  peer: 'controller-runtime',
};
const HEAD = ['review', 'server', 'per s', 'CPU µs', '× bare', 'p50 ms', 'p99 ms', 'RSS MiB'];

function table(measured: Measured): string[][] {
  const rows = SCENARIOS.flatMap(({ id, title }) => {
    const results = measured.get(id) ?? [];
    const present = (['bare', 'muster', 'other', 'peer'] as const).filter(
      (name) => slicesOf(results, name).length > 0,
    );
    return present.map((name, index) => {
      const slices = slicesOf(results, name);
      const mean = (of: (slice: Slice) => number): number => plainMean(slices.map(of));
      return [
        index === 0 ? title : '',
        NAMES[name],
        mean((slice) => valueOf(slice, 'perSecond')).toFixed(0),
        short(mean(({ cpuMicros }) => cpuMicros)),
        name === 'bare' ? '1' : withInterval(ratioBetween(name, 'bare', 'cpuMicros', results)),
        mean(({ p50 }) => p50).toFixed(2),
        plainMean(p99sOf(results, name)).toFixed(2),
        plainMean(results.map(({ rss }) => rss[name] ?? Number.NaN)).toFixed(0),
      ];
    });
  });
  return [HEAD, ...rows];
}

function figuresOf(measured: Measured): Figure[] {
  const of = (id: string): readonly ContestResult[] => measured.get(id) ?? [];
  const goal = (name: string, estimate: Estimate, limit: Parameters<typeof figure>[3]): Figure =>
    figure('admission', name, estimate, limit);
  const rss = of('8').map((one) => (one.rss['muster'] ?? Number.NaN) - (one.rss['bare'] ?? Number.NaN));
  return [
    ...SCENARIOS.flatMap(({ id, title }) =>
      (['bare', 'muster', 'peer'] as const).map((name) => {
        const micros = slicesOf(of(id), name).map(({ cpuMicros }) => cpuMicros);
        return figure('admission', `${title}: CPU µs per review, ${NAMES[name]}`, meanOrNothing(micros));
      }),
    ),
    ...SCENARIOS.flatMap(({ id, title, mostCpu }) =>
      mostCpu === undefined
        ? []
        : goal(`${title}: CPU per review, times bare`, ratioBetween('muster', 'bare', 'cpuMicros', of(id)), {
            most: mostCpu,
          }),
    ),
    ...USUAL.flatMap((id) => [
      goal(
        `${id} KiB: controller-runtime's CPU per review, times Muster's`,
        ratioBetween('peer', 'muster', 'cpuMicros', of(id)),
        { least: MIN_PEER_TO_MUSTER },
      ),
      goal(
        `${id} KiB: p99 at 16 connections, times bare`,
        ratioOrNothing(p99sOf(of(id), 'muster'), p99sOf(of(id), 'bare')),
        { most: MAX_P99_TO_BARE },
      ),
    ]),
    goal('new connections per second, times bare', ratioBetween('muster', 'bare', 'perSecond', of('new')), {
      least: MIN_NEW_CONNECTIONS_TO_BARE,
    }),
    goal('memory (RSS) at 8 KiB beyond bare, MiB', meanOrNothing(rss), { most: MAX_MORE_RSS }),
  ];
}

const meanOrNothing = (values: readonly number[]): Estimate =>
  values.length === 0 ? NOTHING : meanOf(values);

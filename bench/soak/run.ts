// `npm run soak`: three replicas behind a balancer on a real control plane, under load and disturbed, judged by etcd's record.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { ControlPlaneUnavailable } from '../../test/cluster/control-plane/binaries.ts';
import { GoToolUnavailable, locateGoTool } from '../../test/cluster/go-tools/go-tools.ts';
import { computingElsewhere, disturbed } from '../measure/elsewhere.ts';
import { locateHaproxy, NO_HAPROXY } from './balancer.ts';
import { soakOptionsFrom, USAGE, type SoakOptions } from './options.ts';
import { missed } from './results.ts';
import { soak } from './soak.ts';
import { report } from './table.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(options: SoakOptions): Promise<number> {
  const haproxy = await locateHaproxy();
  if (haproxy === undefined) {
    progress(NO_HAPROXY);
    return 2;
  }
  try {
    const kwok = await locateGoTool('kwok', { build: true });
    const elsewhere = await computingElsewhere();
    progress(`seed ${options.seed}: ${JSON.stringify(options.counts)}`);
    const results = await soak(options, { haproxy, kwok }, elsewhere, progress);
    writeFileSync(options.json, `${JSON.stringify(results)}\n`);
    for (const line of ['', ...report(results), '']) say(line);
    for (const { name, examples } of results.goals)
      for (const example of examples) say(`${name}: ${example}`);
    for (const line of missed(results)) say(`MISSED: ${line}`);
    const disturbance = disturbed(elsewhere);
    if (disturbance !== undefined) say(disturbance);
    return missed(results).length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof GoToolUnavailable || error instanceof ControlPlaneUnavailable)) throw error;
    progress(error.message);
    return 2;
  }
}

// As a cluster's own: not one processor for each program, as for the tests.
Object.assign(process.env, { GOGC: '100', GOMEMLIMIT: 'off', GOMAXPROCS: String(availableParallelism()) });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const argv = process.argv.slice(2);
const options = soakOptionsFrom(argv.filter((word) => word !== '--help'));
if (argv.includes('--help')) {
  say(USAGE);
} else if (typeof options === 'string') {
  progress(`${options}\n\n${USAGE}`);
  process.exitCode = 2;
} else if (process.platform !== 'linux') {
  progress('the soak reads /proc: it runs on Linux only');
  process.exitCode = 2;
} else {
  process.exitCode = await main(options);
}

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { countsFor, KINDS, type Counts, type Kind } from './schedule.ts';

export interface SoakOptions {
  readonly seconds: number;
  /** Pods a second. */
  readonly rate: number;
  readonly nodes: number;
  readonly seed: number;
  readonly counts: Counts;
  readonly overloadSeconds: number;
  /** Another checkout, built. */
  readonly other?: string;
  readonly json: string;
  /** Folder of all logs, kept; default: a temporary one. */
  readonly logs?: string;
}

export const USAGE = `npm run soak -- [options]

  --minutes N         how long gangs are created (30; a full schedule needs 24)
  --rate N            Pods of gangs a second (50)
  --nodes N           nodes, whose kubelets are kwok (1000)
  --seed N            of the schedule and of the gangs' sizes (chosen and shown)
  --disturb LIST      which and how often, such as 'SIGKILL=1,leaf rotation=3' (by the length of the run); one of
                      ${KINDS.slice(0, 5).join(', ')},
                      ${KINDS.slice(5).join(', ')}
  --overload-seconds N  how long an overload lasts (60)
  --other DIR         another checkout, built: rolled back to and upgraded from, program and manifests
  --logs DIR          where all logs are kept
  --json FILE         where the figures go (bench/soak/results.json)

It needs haproxy, and Go for what is not built yet: the control plane and kwok. Exit codes: 0 every goal is met, 1 one is
missed, 2 wrong usage or something that it needs is missing.`;

/** @returns what is wrong with the command line, where something is */
export function soakOptionsFrom(argv: readonly string[]): SoakOptions | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        minutes: { type: 'string', default: '30' },
        rate: { type: 'string', default: '50' },
        nodes: { type: 'string', default: '1000' },
        seed: { type: 'string' },
        disturb: { type: 'string' },
        'overload-seconds': { type: 'string', default: '60' },
        other: { type: 'string' },
        logs: { type: 'string' },
        json: { type: 'string', default: 'bench/soak/results.json' },
      },
    });
    const seconds = Math.round(above0('--minutes', values.minutes) * 60);
    const counts = values.disturb === undefined ? countsFor(seconds) : countsIn(values.disturb);
    const other = values.other === undefined ? undefined : resolve(values.other);
    if (other !== undefined && !existsSync(join(other, 'dist/src/main.js')))
      throw new Error(`--other ${values.other}: it has no dist/src/main.js; run \`npm run build\` there`);
    return {
      seconds,
      rate: above0('--rate', values.rate),
      nodes: Math.ceil(above0('--nodes', values.nodes)),
      seed: values.seed === undefined ? Date.now() % 1_000_000 : above0('--seed', values.seed),
      counts: other === undefined ? without(counts, 'rollback and upgrade') : counts,
      overloadSeconds: above0('--overload-seconds', values['overload-seconds']),
      json: values.json,
      ...(other !== undefined && { other }),
      ...(values.logs !== undefined && { logs: values.logs }),
    };
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

function above0(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${flag} ${text}: a number above 0 is needed`);
  return value;
}

function countsIn(list: string): Counts {
  return Object.fromEntries(
    list.split(',').map((item) => {
      const [name = '', times = '1'] = item.split('=').map((word) => word.trim());
      if (!KINDS.includes(name as Kind))
        throw new Error(`--disturb ${name}: one of ${KINDS.join(', ')} is needed`);
      return [name, Math.ceil(above0(`--disturb ${name}`, times))];
    }),
  );
}

const without = (counts: Counts, kind: Kind): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => name !== kind));

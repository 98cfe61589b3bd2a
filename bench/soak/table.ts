import { aligned } from '../measure/figures.ts';
import { BLAMED } from './failures.ts';
import type { SoakResults } from './results.ts';
import { KINDS } from './schedule.ts';

type Rows = readonly (readonly string[])[];

/** The tables of a run, by name. */
export function tablesOf(results: SoakResults): Readonly<Record<string, Rows>> {
  return { goals: goals(results), disturbances: disturbances(results), failures: failures(results) };
}

const goals = ({ goals: all }: SoakResults): Rows => [
  ['goal: none of these', 'found', 'verdict'],
  ...all.map(({ name, found }) => [name, String(found), found === 0 ? 'PASS' : 'FAIL']),
];

/** A row a kind: how often, how long, and which creations were lost to it. */
const disturbances = ({ events }: SoakResults): Rows => [
  ['what was done', 'times', 'seconds', 'what was seen'],
  ...KINDS.flatMap((kind) => {
    const all = events.filter((event) => event.kind === kind);
    if (all.length === 0) return [];
    const took = all.map(({ begun, ended }) => ended - begun);
    const [least, most] = [Math.min(...took), Math.max(...took)].map((seconds) => seconds.toFixed(1));
    const notes = [...new Set(all.map(({ note }) => note))];
    return [[kind, String(all.length), least === most ? `${least}` : `${least}–${most}`, some(notes)]];
  }),
];

/** No more than a cell can hold. */
const some = (notes: readonly string[]): string => {
  const [first = '', second] = notes;
  return notes.length > 2 || second === undefined ? first : `${first}; ${second}`;
};

const failures = ({ failures: all }: SoakResults): Rows => [
  ['creations that failed by', 'times', 'as the API server or the client says'],
  ...BLAMED.flatMap((who) => {
    const causes = all.filter(({ blamed }) => blamed === who);
    const times = causes.reduce((sum, cause) => sum + cause.times, 0);
    const text = causes
      .slice(0, 2)
      .map(({ cause, times: of }) => `${of} × ${cause.replaceAll('|', '/')}`)
      .join('; ');
    return [[who, String(times), text === '' ? '–' : text]];
  }),
];

/** The run in one line: where, when, of what, how long. */
export function runLine(results: SoakResults): string {
  const { date, machine, node, kubernetes, commit, seed, seconds, rate, nodes, elsewhere, other } = results;
  const busy = elsewhere > 0.1 ? `, busy with ${elsewhere} of a processor of other work at the start` : '';
  return (
    `${date.slice(0, 10)}, ${machine}${busy}, Node ${node}, Kubernetes ${kubernetes}, commit ${commit}` +
    `${other === undefined ? '' : ` (other build: ${other})`}; seed ${seed}, ${(seconds / 60).toFixed(1)} minutes, ` +
    `${rate} Pods a second, ${nodes} nodes.`
  );
}

/** What came of it in numbers. */
export function figuresLine(results: SoakResults): string {
  const { gangs, pods, podsEnded, gangsReleased, emptyAfter, overall, memoryMost } = results;
  return (
    `${count(gangs)} gangs of ${count(pods)} Pods; ${count(gangsReleased)} gangs released, ${count(podsEnded)} Pods ran and ended; ` +
    `nothing left ${emptyAfter} s after the last. Creation p50 ${overall.createP50} ms, p99 ${count(overall.createP99)} ms; ` +
    `complete to last gate off p50 ${count(overall.releaseP50)} ms, p99 ${count(overall.releaseP99)} ms; ` +
    `at most ${memoryMost} MiB in a replica.`
  );
}

/** All of it, for a terminal. */
export const report = (results: SoakResults): string[] => [
  runLine(results),
  figuresLine(results),
  ...Object.values(tablesOf(results)).flatMap((rows) => ['', ...aligned(rows)]),
];

const count = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

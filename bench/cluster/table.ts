import { aligned, short } from '../measure/figures.ts';
import { GANG_SIZE } from './options.ts';
import type { ClusterResults, ContenderRun, Program, Step } from './results.ts';

type Rows = readonly (readonly string[])[];

/** The tables of a run, by name. */
export const clusterTables = (results: ClusterResults): Readonly<Record<string, Rows>> => ({
  cost: cost(results),
  steps: steps(results),
  writes: writes(results),
});

/** What gangs cost the cluster beyond the Pods themselves, over the tenths that both have reached. */
function cost(results: ClusterResults): Rows {
  const { alone, muster } = reachedByBoth(results);
  const row = (name: string, of: (run: ContenderRun) => number): readonly string[] => {
    const [less, more] = [of(alone), of(muster)];
    return [name, short(less), short(more), less > 0 ? percent(more / less - 1) : '–'];
  };
  const cpu = (program: Program) => (run: ContenderRun) => meanOfSteps(run, (step) => step.cpu[program] ?? 0);
  const most = (program: Program) => (run: ContenderRun) =>
    Math.max(...run.steps.map(({ memory }) => memory[program] ?? 0));
  return [
    ['what', 'Pods alone', 'gangs', 'more'],
    row('seconds until all are bound', secondsOf),
    row('Pods bound a second', (run) => podsOf(run) / secondsOf(run)),
    row('API server, ms of CPU a Pod', cpu('kube-apiserver')),
    row('etcd, ms of CPU a Pod', cpu('etcd')),
    row('kube-scheduler, ms of CPU a Pod', cpu('kube-scheduler')),
    row('Muster, ms of CPU a Pod', cpu('muster')),
    row('writes a gang, of everybody', (run) => sum(Object.values(run.writes))),
    row('watches of Pods ended as too slow', ({ watchesEnded }) => watchesEnded),
    row('etcd, KiB a Pod that it keeps', ({ etcd, bound }) => (etcd * 1024) / bound),
    row('API server, most MiB', most('kube-apiserver')),
    row('kube-scheduler, most MiB', most('kube-scheduler')),
    row('Muster, most MiB', most('muster')),
  ];
}

/** The same run, and of each contender the tenths that the other has as well. */
export function reachedByBoth(results: ClusterResults): ClusterResults {
  const many = Math.min(results.alone.steps.length, results.muster.steps.length);
  const first = (run: ContenderRun): ContenderRun => ({ ...run, steps: run.steps.slice(0, many) });
  return { ...results, alone: first(results.alone), muster: first(results.muster) };
}

/** Pods of the tenths that were measured. */
export const podsOf = ({ steps: all }: ContenderRun): number => all.at(-1)?.pods ?? 0;
export const secondsOf = ({ steps: all }: ContenderRun): number => sum(all.map(({ seconds }) => seconds));

const steps = ({ alone, muster }: ClusterResults): Rows => [
  [
    ...['Pods', 'gangs a second', 'Pods alone, as gangs', 'release p50, ms', 'p99', 'bound p50, ms', 'p99'],
    ...['Pods alone p50', 'p99', 'calls a gang', 'Muster, MiB', 'API server, MiB', 'Pods alone'],
  ],
  ...muster.steps.map((step, index) => {
    const beside = alone.steps[index];
    const before = muster.steps[index - 1]?.pods ?? 0;
    const rate = ({ seconds }: Step): string => short((step.pods - before) / GANG_SIZE / seconds);
    return [
      ...[count(step.pods), rate(step), beside === undefined ? '–' : rate(beside)],
      ...[whole(step.releaseP50), whole(step.releaseP99), whole(step.boundP50), whole(step.boundP99)],
      ...[whole(beside?.boundP50), whole(beside?.boundP99), short(step.calls)],
      ...[whole(step.memory.muster), whole(step.memory['kube-apiserver'])],
      whole(beside?.memory['kube-apiserver']),
    ];
  }),
];

const writes = ({ alone, muster }: ClusterResults): Rows => [
  ['writes a gang', 'Pods alone', 'gangs'],
  ...[...new Set([...Object.keys(alone.writes), ...Object.keys(muster.writes)])]
    .sort()
    .map((name) => [name, short(alone.writes[name] ?? 0), short(muster.writes[name] ?? 0)]),
];

/** The run in one line: where, when, of what. */
export function clusterRunLine(results: ClusterResults): string {
  const { date, machine, node, kubernetes, commit, elsewhere, pods, nodes, ahead } = results;
  const busy = elsewhere > 0.1 ? `, busy with ${elsewhere} of a processor of other work at the start` : '';
  return (
    `${date.slice(0, 10)}, ${machine}${busy}, Node ${node}, Kubernetes ${kubernetes}, commit ${commit}; ${count(pods)} Pods in ` +
    `${count(pods / GANG_SIZE)} gangs of ${GANG_SIZE} on ${count(nodes)} nodes, at most ${ahead} gangs under way.${howFar(results)}`
  );
}

/** How far the contenders came, where not all Pods were reached. */
function howFar({ alone, muster, pods }: ClusterResults): string {
  if (alone.bound >= pods && muster.bound >= pods) return '';
  const because = ({ ended }: ContenderRun): string => (ended === undefined ? '' : ` (${ended})`);
  const both = `${count(muster.bound)} were bound as gangs${because(muster)} and ${count(alone.bound)} alone${because(alone)}`;
  return ` Of ${count(pods)} Pods ${both}; costs are those of the first ${count(Math.min(podsOf(muster), podsOf(alone)))}.`;
}

/** All of it, for a terminal. */
export const clusterReport = (results: ClusterResults): string[] => [
  clusterRunLine(results),
  `tried again: ${results.alone.failed} creations of Pods alone, ${results.muster.failed} of gangs; bound too early: ${results.muster.early}`,
  ...Object.values(clusterTables(results)).flatMap((rows) => ['', ...aligned(rows)]),
];

const meanOfSteps = ({ steps: all }: ContenderRun, of: (step: Step) => number): number =>
  sum(all.map(of)) / all.length;
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const percent = (share: number): string => `${share < 0 ? '-' : ''}${Math.abs(share * 100).toFixed(0)} %`;
const whole = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : count(value);
const count = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

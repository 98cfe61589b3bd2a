import { printable } from '../../text/printable.ts';
import type { GroupSummary } from '../../gang/plan/gang-plan.ts';
import { hostsText, type HpcStatus } from './brokers.ts';
import type { GangStatus } from './gang-status.ts';
import type { PodStatus } from './pod-status.ts';
import { cutLine, span, widthOf, wrapped, type Line, type Span } from './styled-line.ts';
import { ageOf, phaseOf } from './table.ts';

/** Kubernetes' own limit for the name of a group. */
const MAX_NAME = 63;
/** Eight hosts of 63 characters with their states, and what stands before them. */
const MAX_HPC = 1_536;

/**
 * One gang: its groups in their order, their Pods, and why each is where it is. Each line has at most `width` characters;
 * what the scheduler says is wrapped, not cut.
 * @param now milliseconds since 1970
 */
export function treeLines(gang: GangStatus, given: { readonly now: number; readonly width: number }): Line[] {
  const { width, now } = given;
  const groups = gang.summary?.groups ?? [];
  const known = new Set(groups.map(({ name }) => name));
  const strangers = gang.pods.filter(({ group }) => !known.has(group));
  const branches = [
    ...groups.map((group) => ({
      head: groupHead(group),
      pods: gang.pods.filter((pod) => pod.group === group.name),
    })),
    ...(strangers.length === 0
      ? []
      : [
          {
            head: [span(gang.summary === undefined ? 'Pods that name it' : 'in no group of the gang', 'bad')],
            pods: strangers,
          },
        ]),
  ];
  const head = [
    span(`${gang.namespace}/${gang.name}`, 'strong'),
    ...(gang.summary === undefined
      ? []
      : [
          span('  '),
          phaseOf(gang),
          span(`  ${gang.backend}  ${ageOf(gang, now)}`),
          ...(gang.summary.workload === undefined ? [] : [span(`  ${gang.summary.workload}`)]),
        ]),
  ];
  const lines = [
    head,
    ...wrapped(gang.why, width),
    ...(gang.plan === undefined ? [] : wrapped(gang.plan, width)),
    ...(gang.hpc === undefined ? [] : hpcLines(gang.hpc, width)),
    ...branches.flatMap(({ head: branch, pods }, index) => {
      const last = index === branches.length - 1;
      return [[span(last ? '└─ ' : '├─ '), ...branch], ...podLines(pods, last ? '     ' : '│    ', width)];
    }),
  ];
  return lines.map((line) => cutLine(line, width));
}

/** What stops a gang with an HPCPolicy, and its hosts. */
const hpcLines = (hpc: HpcStatus, width: number): Line[] => [
  ...wrapped(printable(hpc.why, MAX_HPC), width, '', 'bad'),
  ...wrapped(printable(hostsText(hpc), MAX_HPC), width),
];

/** What there is of a group; a count of none is left out. */
function groupHead(group: GroupSummary): Span[] {
  const { present, expected, minReplicas } = group;
  const counts = (['referenced', 'gated', 'bound', 'ready'] as const)
    .filter((what) => group[what] > 0)
    .map((what) => `${group[what]} ${what}`);
  const told = `${present}/${expected} Pods, minimum ${minReplicas}`;
  return [
    span(printable(group.name, MAX_NAME), 'strong'),
    span(`  ${told}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`),
  ];
}

/** Pods that wait for the same reason come together: a gang of hundreds says it once. */
function podLines(pods: readonly PodStatus[], indent: string, width: number): Line[] {
  const together = Map.groupBy(pods, ({ state, reason }) => `${state} ${reason}`);
  const names = pods.reduce((most, { name }) => Math.max(most, widthOf(name)), 0);
  const states = pods.reduce((most, { state }) => Math.max(most, state.length), 0);
  const line = (pod: PodStatus, more: string): Line => [
    span(indent),
    span(`${pod.name.padEnd(names)}  `),
    span(`${pod.state.padEnd(states)}  `, toneOf(pod)),
    span(more),
  ];
  return [...together.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { reason } = first;
    const inline = same.length === 1 && widthOf(indent) + names + states + 4 + widthOf(reason) <= width;
    if (inline && reason !== '') return [line(first, reason)];
    return [
      ...same.map((pod) => line(pod, pod.node === '' || reason.includes(pod.node) ? '' : `on ${pod.node}`)),
      ...wrapped(reason, width, `${indent}  `),
    ];
  });
}

function toneOf({ state }: PodStatus): Span['tone'] {
  if (state === 'running' || state === 'succeeded') return 'good';
  return state === 'failed' ? 'bad' : 'warn';
}

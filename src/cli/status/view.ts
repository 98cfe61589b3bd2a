import type { GangStatus, HpcStatus, PodStatus } from '../../status/gang-status.ts';
import { namespaceText, type Moment } from '../../status/moment.ts';
import {
  cutLine,
  span,
  wrapped,
  ageText,
  phaseOf,
  tableLines,
  widthOf,
  ageOf,
  type Line,
  type Span,
} from './table.ts';
import { printable } from '../../text/printable.ts';
import type { GroupSummary } from '../../gang/plan/gang-plan.ts';
import { hostsText } from '../../status/brokers.ts';

/** Width at which sentences are wrapped where there is no terminal. */
export const WIDTH = 100;

/** No limit: programs that read a pipe or a file need whole names. */
export const UNBOUNDED = Number.POSITIVE_INFINITY;

/** The table or, for one gang, the tree. */
export function bodyLines({ question, gangs, now }: Moment, width: number): Line[] {
  if (question.gang === undefined) {
    return tableLines(gangs, { namespaces: question.namespace === undefined, now, width });
  }
  return gangs.flatMap((gang, index) => [...(index === 0 ? [] : [[]]), ...treeLines(gang, { now, width })]);
}

/**
 * The lines of the whole screen: at most `rows` lines of at most `columns` characters.
 * @param below what is shown beneath: of a low screen it gets half
 */
export function screenLines(
  moment: Moment,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  below: readonly Line[] = [],
): Line[] {
  const head = [
    ...troubleLines(moment, columns),
    ...(moment.gangs.length === 0 ? [[span(nothing(moment))]] : []),
  ];
  const body = moment.gangs.length === 0 ? [] : bodyLines(moment, columns);
  const room = rows - head.length;
  const beneath = below.length === 0 ? [] : [[], ...below];
  const more = (shown: number): Line => moreLine(moment, body.length, shown);
  const shown = within(body, Math.max(room - beneath.length, Math.ceil(room / 2)), more);
  const left = within(beneath, room - shown.length, (some) => linesLeft(beneath.length - some));
  return [...head, ...shown, ...left].slice(0, rows).map((line) => cutLine(line, columns));
}

/** At most `room` lines, the last of them about those that did not fit. */
const within = (lines: readonly Line[], room: number, more: (shown: number) => Line): readonly Line[] =>
  lines.length <= room ? lines : [...lines.slice(0, room - 1), more(room - 1)];

const linesLeft = (count: number): Line => [span(`… ${count} more lines`, 'reason')];

function troubleLines({ trouble, now }: Moment, columns: number): Line[] {
  if (trouble === undefined) return [];
  const since = `since ${clockTime(trouble.since)} (${ageText(now - trouble.since)})`;
  return wrapped(`Not up to date ${since}: ${trouble.message}. Trying again.`, columns, '', 'bad');
}

function nothing({ question }: Moment): string {
  return question.gang === undefined
    ? `no gangs ${namespaceText(question)}`
    : `PodGang ${question.gang} does not exist any more ${namespaceText(question)}`;
}

/** The line about what did not fit; for a table with the phases of the hidden gangs, since one of them may be stuck. */
function moreLine({ question, gangs }: Moment, lines: number, shown: number): Line {
  if (question.gang !== undefined) return linesLeft(lines - shown);
  const hidden = gangs.slice(Math.max(0, shown - 1));
  const phases = new Map<string, number>();
  for (const gang of hidden) {
    const { text } = phaseOf(gang);
    phases.set(text, (phases.get(text) ?? 0) + 1);
  }
  const counts = [...phases]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([phase, count]) => `${count} ${phase}`);
  return [span(`… ${hidden.length} more gangs: ${counts.join(', ')}`, 'reason')];
}

const clockTime = (ms: number): string => new Date(ms).toISOString().slice(11, 19) + 'Z';

/** Kubernetes' own limit for the name of a group. */
const MAX_NAME = 63;
/** Eight hosts of 63 characters with their states, and the text before them. */
const MAX_HPC = 1_536;

/**
 * One gang: its groups in their order, their Pods, and the reason of each Pod's state. Each line has at most `width`
 * characters; messages of the scheduler are wrapped, not cut.
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

/** Why a gang with an HPCPolicy cannot run, and its hosts. */
const hpcLines = (hpc: HpcStatus, width: number): Line[] => [
  ...wrapped(printable(hpc.why, MAX_HPC), width, '', 'bad'),
  ...wrapped(printable(hostsText(hpc), MAX_HPC), width),
];

/** The counts of a group; those that are 0 are left out. */
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

/** Pods with the same reason share a line: a gang of hundreds of Pods prints it once. */
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

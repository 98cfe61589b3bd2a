import { printable } from '../api/printable.ts';
import type { Palette } from './palette.ts';
import type { GangStatus, PodStatus } from './status-view.ts';

/** A terminal's width that everybody has. */
const WIDTH = 100;

/** One line for each gang, the reason at its end, cut to the width. */
export function renderTable(
  gangs: readonly GangStatus[],
  given: { namespaces: boolean },
  palette: Palette,
): string {
  const rows = gangs.map((gang) => [
    ...(given.namespaces ? [gang.namespace] : []),
    gang.name,
    gang.backend,
    gang.summary?.phase ?? '-',
    readyOf(gang),
    String(gang.summary?.gatesLeft ?? gang.pods.filter(({ state }) => state === 'gated').length),
    gang.ageMs === undefined ? '-' : age(gang.ageMs),
  ]);
  const heads = [
    ...(given.namespaces ? ['NAMESPACE'] : []),
    ...['GANG', 'BACKEND', 'PHASE', 'READY', 'GATES', 'AGE'],
  ];
  const widths = heads.map((head, index) =>
    Math.max(head.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
  const used = widths.reduce((sum, width) => sum + width + 2, 0);
  const room = Math.max(20, WIDTH - used);
  return [
    palette.strong(`${line(heads)}  WHY`),
    ...rows.map((row, index) => `${line(row)}  ${cut(gangs[index]?.why ?? '', room)}`.trimEnd()),
    '',
  ].join('\n');
}

/** One gang: its groups, their Pods, and why each is where it is. */
export function renderTree(gang: GangStatus, palette: Palette): string {
  const { summary } = gang;
  const head = [
    palette.strong(`${gang.namespace}/${gang.name}`),
    gang.backend,
    summary?.phase ?? '-',
    ...(gang.ageMs === undefined ? [] : [age(gang.ageMs)]),
  ].join('  ');
  const groups = summary?.groups ?? [];
  const known = new Set(groups.map(({ name }) => name));
  const strangers = gang.pods.filter(({ group }) => !known.has(group));
  return [
    head,
    ...(gang.why === '' ? [] : wrapped(gang.why, '')),
    ...groups.flatMap((group) => [
      `${palette.strong(group.name)}  ${group.present}/${group.expected} Pods, minimum ${group.minReplicas}; ${group.referenced} referenced, ${group.gated} gated, ${group.bound} bound, ${group.ready} ready`,
      ...podLines(
        gang.pods.filter((pod) => pod.group === group.name),
        palette,
      ),
    ]),
    ...(strangers.length === 0
      ? []
      : [palette.warn('in no group of the gang'), ...podLines(strangers, palette)]),
    '',
  ].join('\n');
}

/** Pods that wait for the same reason come together: a gang of hundreds says it once. */
function podLines(pods: readonly PodStatus[], palette: Palette): string[] {
  const together = new Map<string, PodStatus[]>();
  for (const pod of pods) {
    const key = `${pod.state} ${pod.reason}`;
    together.set(key, [...(together.get(key) ?? []), pod]);
  }
  return [...together.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const paint = first.state === 'running' ? palette.good : palette.warn;
    return [
      ...same.map(
        (pod) =>
          `  ${printable(pod.name, 63)}  ${paint(pod.state)}${pod.node === '' ? '' : `  on ${pod.node}`}`,
      ),
      ...(first.reason === '' ? [] : wrapped(first.reason, '    ')),
    ];
  });
}

function readyOf({ summary }: GangStatus): string {
  if (summary === undefined) return '-';
  let ready = 0;
  let wanted = 0;
  for (const group of summary.groups) {
    ready += group.ready;
    wanted += Math.max(group.expected, group.present);
  }
  return `${ready}/${wanted}`;
}

/** As kubectl has it: `45s`, `12m`, `3h`, `2d`. */
function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

const cut = (text: string, room: number): string =>
  text.length <= room ? text : `${text.slice(0, room - 1)}…`;

/** Lines that fit the width, each after `indent`. */
function wrapped(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > WIDTH) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return line === '' ? lines : [...lines, indent + line];
}

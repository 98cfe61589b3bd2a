import { kubeTime } from '../../k8s/time.ts';
import type { CliIo } from '../output/io.ts';
import type { Palette } from '../output/palette.ts';
import { painted, groupsReady, phaseOf, podsReady } from './table.ts';
import { gatesLeft } from '../../status/gang-counts.ts';
import { bodyLines, UNBOUNDED } from './view.ts';
import { listed } from '../../text/printable.ts';
import type { GangStatus, PodStatus } from '../../status/gang-status.ts';
import { namespaceText, type Changed, type Moment, type Show } from '../../status/moment.ts';

/** For a pipe or a file: prints all gangs once, then a line for every change. */
export function appendText(io: Pick<CliIo, 'stdout' | 'stderr'>, palette: Palette): Show {
  return appending(io, {
    first: (moment) => {
      if (moment.gangs.length === 0) io.stderr(`no gangs ${namespaceText(moment.question)}\n`);
      else
        io.stdout(
          bodyLines(moment, UNBOUNDED)
            .map((line) => `${painted(line, palette)}\n`)
            .join(''),
        );
    },
    change: (changed, { question }, time) => {
      const { namespace, name } = changed;
      const gang = gangChange(changed);
      // For a single gang the changes of its Pods are printed as well.
      const pods = question.gang === undefined ? [] : podChanges(changed);
      return [...(gang === '' ? [] : [gang]), ...pods].map(
        (told) => `${time}  ${namespace}/${name}  ${told}\n`,
      );
    },
  });
}

/** One JSON object a line (NDJSON): every gang once, then each changed gang, with the event types of a Kubernetes watch. */
export function appendJson(io: Pick<CliIo, 'stdout' | 'stderr'>): Show {
  const change = (changed: Changed, _moment: Moment, time: string): string[] => {
    const type = changed.new === undefined ? 'DELETED' : changed.old === undefined ? 'ADDED' : 'MODIFIED';
    return [`${JSON.stringify({ type, time, gang: changed.new ?? changed.old })}\n`];
  };
  return appending(io, { change });
}

interface Words {
  /** Prints the first moment, in place of `change` for every gang. */
  readonly first?: (moment: Moment) => void;
  readonly change: (changed: Changed, moment: Moment, time: string) => readonly string[];
}

function appending(io: Pick<CliIo, 'stdout' | 'stderr'>, words: Words): Show {
  let begun = false;
  let troubled = false;
  return {
    show: (moment, changed) => {
      const time = kubeTime(moment.now);
      const { trouble } = moment;
      if (!begun && words.first !== undefined) words.first(moment);
      else io.stdout(changed.flatMap((one) => words.change(one, moment, time)).join(''));
      begun = true;
      if (trouble !== undefined && !troubled) io.stderr(`${time}  ${trouble.message}; trying again\n`);
      if (trouble === undefined && troubled) io.stderr(`${time}  watching again\n`);
      troubled = trouble !== undefined;
    },
    close: () => undefined,
  };
}

/** The differences in a gang's line of the table: `phase Pending → Starting, gates 3 → 0`. */
export function gangChange({ old, new: now }: Changed): string {
  if (now === undefined) return 'deleted';
  if (old === undefined)
    return `new: ${[phaseOf(now).text, now.why].filter((part) => part !== '').join(', ')}`;
  const moved = [
    ['phase', phaseOf],
    ['groups', groupsReady],
    ['pods', podsReady],
    ['gates', gatesLeft],
    ['backend', ({ backend }: GangStatus) => backend],
  ] as const;
  const parts = moved.flatMap(([what, of]) => {
    const [before, after] = [shown(of(old)), shown(of(now))];
    return before === after ? [] : [`${what} ${before} → ${after}`];
  });
  if (now.summary === undefined)
    return old.summary === undefined ? '' : 'PodGang deleted, its Pods are still there';
  const reborn = old.creationTimestamp !== now.creationTimestamp ? ['PodGang created'] : [];
  const initialized =
    now.summary?.initialized === true && old.summary?.initialized !== true ? ['Initialized'] : [];
  const told = [...reborn, ...initialized, ...parts].join(', ');
  const why = old.why === now.why || now.why === '' ? '' : now.why;
  return [told, why].filter((part) => part !== '').join(': ');
}

const shown = (value: string | number | { readonly text: string }): string =>
  typeof value === 'object' ? value.text : String(value);

/** Changes of the gang's Pods; Pods with the same change share a line. */
export function podChanges({ old, new: now }: Changed): string[] {
  const before = new Map(old?.pods.map((pod) => [pod.name, pod]));
  const after = new Map(now?.pods.map((pod) => [pod.name, pod]));
  const ways = new Map<string, string[]>();
  const note = (name: string, way: string): void => {
    ways.getOrInsert(way, []).push(name);
  };
  for (const pod of after.values()) {
    const known = before.get(pod.name);
    if (known === undefined) note(pod.name, `new, ${stateOf(pod)}`);
    else if (known.state !== pod.state) note(pod.name, `${known.state} → ${stateOf(pod)}`);
    else if (known.reason !== pod.reason && pod.reason !== '') note(pod.name, stateOf(pod));
  }
  for (const pod of before.values()) if (!after.has(pod.name)) note(pod.name, 'deleted');
  return [...ways].map(([way, names]) => `${listed(names, 'Pods')}: ${way}`);
}

function stateOf({ state, reason, node }: PodStatus): string {
  if (reason !== '') return `${state} (${reason})`;
  return node === '' ? state : `${state} on ${node}`;
}

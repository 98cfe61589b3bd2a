import { listed } from '../../text/printable.ts';
import type { GangStatus } from './gang-status.ts';
import type { PodStatus } from './pod-status.ts';
import { gatesLeft, groupsReady, phaseOf, podsReady } from './table.ts';

/** A gang before and after something happened to it; at least one is there. */
export interface Changed {
  readonly namespace: string;
  readonly name: string;
  readonly old: GangStatus | undefined;
  readonly new: GangStatus | undefined;
}

/** What a line of the table does not show any more as it did, in one line: `phase Pending → Starting, gates 3 → 0`. */
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

/** What happened to its Pods; those that went the same way come together. */
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

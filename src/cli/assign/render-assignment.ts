import { printable } from '../../text/printable.ts';
import { SCHEDULED, type Assignment } from '../../fleet/assign/assign.ts';
import type { Binding } from '../../fleet/assign/binding.ts';
import { columns } from '../output/columns.ts';
import { count } from '../output/findings.ts';
import type { Palette } from '../output/palette.ts';

/** A binding with where it goes. */
export interface Assigned {
  readonly binding: Binding;
  readonly assignment: Assignment;
}

/** For programs: sorted, so that the same assignment is the same text. */
export const assignmentObject = ({ binding, assignment }: Assigned): object => ({
  binding: binding.key,
  strategy: assignment.strategy,
  ...(assignment.affinityName === '' ? {} : { affinityName: assignment.affinityName }),
  clusters: assignment.clusters.map(({ name, replicas, components }) => ({
    name,
    replicas,
    ...(components === undefined ? {} : { components }),
  })),
  reason: assignment.reason,
  message: assignment.message,
  leftOut: assignment.leftOut,
});

/** For people. */
export function assignmentText({ binding, assignment }: Assigned, palette: Palette): string {
  const { clusters, leftOut, strategy, reason, message, affinityName } = assignment;
  const group = affinityName === '' ? '' : `, group ${printable(affinityName)}`;
  const verdict =
    reason === 'Success'
      ? palette.good(`goes to ${count(clusters.length, 'cluster')}`)
      : palette.bad(`goes nowhere: ${printable(message)} (${reason})`);
  const lines = [`${printable(binding.key)} (${printable(strategy)}${group}) ${verdict}`];
  if (clusters.length > 0) {
    const rows = clusters.map(({ name, replicas, components }) => [
      printable(name),
      components === undefined ? String(replicas) : String(sum(components)),
      (components ?? []).map((one) => `${printable(one.name)} ${one.replicas}`).join(', ') || '-',
    ]);
    lines.push('', ...columns([['CLUSTER', 'REPLICAS', 'COMPONENTS'], ...rows], palette));
  }
  const remark = reason === 'Success' ? message.slice(SCHEDULED.length).trim() : '';
  if (remark !== '') lines.push('', printable(remark));
  if (leftOut.length > 0) {
    const rows = leftOut.map(({ name, why }) => [printable(name), printable(why)]);
    lines.push('', ...columns([['LEFT OUT', 'WHY'], ...rows], palette));
  }
  return `${lines.join('\n')}\n`;
}

const sum = (components: readonly { readonly replicas: number }[]): number =>
  components.reduce((all, { replicas }) => all + replicas, 0);

import type { FleetStatus, QueueStatus } from '../../status/fleet-status.ts';
import { printable } from '../../text/printable.ts';
import { columns } from '../output/text-layout.ts';
import type { Palette } from '../output/palette.ts';
import { ageText } from './table.ts';

/** The status of a fleet for people. @param now milliseconds since 1970 */
export function fleetText({ queues, waiting }: FleetStatus, palette: Palette, now: number): string {
  if (queues.length === 0 && waiting.length === 0) return 'no queues, and nobody waits\n';
  const lines: string[] = [];
  if (queues.length > 0) {
    const rows = queues.map((queue) => [
      printable(queue.name),
      printable(queue.parent) || '-',
      String(queue.weight),
      String(queue.waiting),
      String(queue.through),
      queue.closed === null ? usedText(queue) : printable(queue.closed),
    ]);
    lines.push(...columns([['QUEUE', 'PARENT', 'WEIGHT', 'WAITING', 'THROUGH', 'USED'], ...rows], palette));
  }
  if (waiting.length > 0) {
    const rows = waiting.map((one) => [
      one.queue === null ? '-' : printable(one.queue),
      one.position === 0 ? '-' : String(one.position),
      printable(one.namespace === '' ? one.name : `${one.namespace}/${one.name}`),
      one.since === null ? '-' : ageText(now - Date.parse(one.since)),
      printable(one.why),
    ]);
    if (lines.length > 0) lines.push('');
    lines.push(...columns([['QUEUE', 'POSITION', 'BINDING', 'AGE', 'WHY'], ...rows], palette));
  } else lines.push('', 'nobody waits');
  return `${lines.join('\n')}\n`;
}

/** `8 of 10 nvidia.com/gpu`; resources without a limit are left out. */
function usedText({ capacity, used }: QueueStatus): string {
  const parts = Object.entries(capacity).map(
    ([resource, most]) => `${used[resource] ?? '0'} of ${most} ${printable(resource)}`,
  );
  return parts.length === 0 ? 'no limit' : parts.join(', ');
}

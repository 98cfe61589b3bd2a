import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Reading what the kernel counted. Linux only: /proc. */

/** Length of a clock tick in microseconds: 10,000 almost everywhere. */
const tickMicros = (): number => (ticks ??= 1_000_000 / Number(execFileSync('getconf', ['CLK_TCK'])));
let ticks: number | undefined;

/**
 * CPU time of a process so far in microseconds, user and system, all threads, ended ones too: a Node process compiles
 * and collects garbage on threads of its own, and that is part of the price. Exact to one clock tick.
 */
export function cpuMicrosOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field is the command in brackets and may hold anything; utime and stime are fields 14 and 15.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMicros();
}

/**
 * The same for differences over tenths of a second: as the scheduler counts it, in nanoseconds, of the threads that
 * there are. In clock ticks where a kernel does not tell.
 */
export function fineCpuMicrosOf(pid: number): number {
  let nanos = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1');
      nanos += Number(text.slice(0, text.indexOf(' ')));
    }
  } catch {
    return cpuMicrosOf(pid);
  }
  return nanos / 1000;
}

/** Memory of a process that is in RAM, in MiB. */
export const rssMiBOf = (pid: number): number => statusKiB(pid, 'VmRSS') / 1024;

/** The most it ever was, in MiB. */
export const peakRssMiBOf = (pid: number): number => statusKiB(pid, 'VmHWM') / 1024;

function statusKiB(pid: number, field: string): number {
  const text = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

/** The cores that this process may run on. */
export function allowedCores(): number[] {
  const text = readFileSync('/proc/self/status', 'latin1');
  const list = /^Cpus_allowed_list:\s+(\S+)$/m.exec(text)?.[1] ?? '0';
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

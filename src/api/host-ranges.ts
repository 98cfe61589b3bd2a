import { ANNOTATION_HOSTS } from './names.ts';
import type { PodGang } from './pod-gang.ts';
import { printable, quoted } from '../text/printable.ts';

/** Hosts that differ in the number at the end of their names. */
export interface HostRange {
  readonly prefix: string;
  readonly from: number;
  readonly count: number;
}

/** More entries than any stored annotation has. */
const MOST_ENTRIES = 16_384;

const ENTRY =
  /^([^=\s]+)=([a-z0-9](?:[-a-z0-9]{0,61}-)?)(?:(0|[1-9]\d{0,5})|\[(0|[1-9]\d{0,5})-([1-9]\d{0,5})\])$/;

export interface NamedHosts {
  /** The hosts of each group that the annotation names. */
  readonly groups: ReadonlyMap<string, readonly HostRange[]>;
  /** Faults of the annotation; an entry with a fault is left out. */
  readonly faults: readonly string[];
}

const NONE: NamedHosts = { groups: new Map(), faults: [] };

/** Reads the host names of a gang's groups, such as `leader=vllm-0,worker=vllm-0-[1-3]`; a group may have several entries. */
export function namedHosts({ annotations, spec }: Pick<PodGang, 'annotations' | 'spec'>): NamedHosts {
  const text = annotations.get(ANNOTATION_HOSTS);
  if (text === undefined || text.trim() === '') return NONE;
  const [groups, faults] = [new Map<string, HostRange[]>(), new Array<string>()];
  const known = new Set(spec.groups.map(({ name }) => name));
  for (const entry of text.split(',', MOST_ENTRIES)) {
    const [, group = '', prefix = '', one, from = '0', to = '0'] = ENTRY.exec(entry.trim()) ?? [];
    const range =
      one === undefined
        ? { prefix, from: Number(from), count: Number(to) - Number(from) + 1 }
        : { prefix, from: Number(one), count: 1 };
    if (group === '' || range.count < 1) {
      faults.push(`${quoted(entry.trim())} is not group=prefix-0 or group=prefix-[0-3]`);
    } else if (!known.has(group)) {
      faults.push(`${printable(group)} is no group of this gang`);
    } else {
      groups.set(group, [...(groups.get(group) ?? []), range]);
    }
  }
  return { groups, faults };
}

/** The annotation's value for the hosts of each group, which {@link namedHosts} reads; undefined for no group. */
export function hostsAnnotation(
  groups: readonly { readonly name: string; readonly ranges: readonly HostRange[] }[],
): string | undefined {
  const entries = groups.flatMap(({ name, ranges }) =>
    ranges.filter(({ count }) => count > 0).map((range) => `${name}=${rangeText(range)}`),
  );
  return entries.length === 0 ? undefined : entries.join(',');
}

/** Hosts in Flux's notation (RFC 29): `train-0`, `train-[0-3]`. */
export const rangeText = ({ prefix, from, count }: HostRange): string =>
  count === 1 ? `${prefix}${from}` : `${prefix}[${from}-${from + count - 1}]`;

export const namesInRange = ({ prefix, from, count }: HostRange): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${from + at}`);

export const lastInRange = ({ prefix, from, count }: HostRange): string => `${prefix}${from + count - 1}`;

/** The index of a host among all of the ranges; undefined where it is in none. */
export function indexInRanges(ranges: readonly HostRange[], host: string): number | undefined {
  let before = 0;
  for (const { prefix, from, count } of ranges) {
    const number = host.startsWith(prefix) ? host.slice(prefix.length) : '';
    const at = /^(?:0|[1-9]\d{0,5})$/.test(number) ? Number(number) - from : -1;
    if (at >= 0 && at < count) return before + at;
    before += count;
  }
  return undefined;
}

export const countInRanges = (ranges: readonly HostRange[]): number =>
  ranges.reduce((sum, { count }) => sum + count, 0);

import { isDnsLabel, isLabelValue, MAX_LABEL_VALUE } from '../k8s/name-syntax.ts';

/** Separates the names of a workload and its part. A name that contains it or a dot is cut and hashed. */
const PART = '--';

/**
 * The name of the gang of a workload or of its part: `job-train`, `jobset-train--worker`. A name that is too long or no DNS
 * label becomes `job--<as much of the name as fits>-<hash>`. The same workload always gets the same name, and two workloads
 * never share one: kinds have no dash, and names that are kept in full have no `--`. Names with dots are hashed too, since
 * schedulers' objects are named `<gang>.<group>`.
 */
export function gangName(kind: string, name: string, part?: string): string {
  const parts = part === undefined ? [name] : [name, part];
  const plain = `${kind}-${parts.join(PART)}`;
  const tells = parts.every((one) => isDnsLabel(one) && !one.includes(PART));
  if (tells && plain.length <= MAX_LABEL_VALUE) return plain;
  return cut(`${kind}${PART}`, parts.join('-'), hashOf(JSON.stringify(parts)));
}

/** Whether the gang of a workload, or of one of its parts, may have this name. */
export function maybeGangName(gang: string, kind: string, name: string): boolean {
  const whole = gangName(kind, name);
  return gang === whole || gang.startsWith(`${whole}${PART}`) || gang.startsWith(`${kind}${PART}`);
}

/** The name of a group: the workload's own name for it when that is a label value, else one with a hash. */
export const groupName = (name: string): string => (isLabelValue(name) ? name : cut('', name, hashOf(name)));

function cut(before: string, name: string, hash: string): string {
  const room = MAX_LABEL_VALUE - before.length - hash.length - 1;
  const kept = name
    .slice(0, 253)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, Math.max(room, 0))
    .replaceAll(/^-|-$/g, '');
  return kept === '' ? `${before}${hash}` : `${before}${kept}-${hash}`;
}

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;

/** 64-bit FNV-1a: among a million names, the chance that two have the same hash is one in thirty million. */
function hashOf(text: string): string {
  let hash = OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * PRIME);
  }
  return hash.toString(36).padStart(13, '0');
}

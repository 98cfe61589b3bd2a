import { isDnsLabel, isLabelValue, MAX_LABEL_VALUE } from '../k8s/name-syntax.ts';

/** Between the name of a workload and that of a part of it. A name that has it, or a dot, is cut and hashed. */
const PART = '--';

/**
 * The name of the gang of a workload, or of a part of it: `job-train`, `jobset-train--worker`. What is too long or no DNS
 * label becomes `job--<as much of it as there is room for>-<hash>`. The same workload always has the same name, and two
 * never share one: no kind has a dash in it, and what is written out has no `--` of its own. Names with dots are hashed,
 * too, since schedulers' objects are called `<gang>.<group>`.
 */
export function gangName(kind: string, name: string, part?: string): string {
  const parts = part === undefined ? [name] : [name, part];
  const plain = `${kind}-${parts.join(PART)}`;
  const tells = parts.every((one) => isDnsLabel(one) && !one.includes(PART));
  if (tells && plain.length <= MAX_LABEL_VALUE) return plain;
  return cut(`${kind}${PART}`, parts.join('-'), hashOf(JSON.stringify(parts)));
}

/** Whether the gang of a workload, or of some part of it, may be called so. */
export function maybeGangName(gang: string, kind: string, name: string): boolean {
  const whole = gangName(kind, name);
  return gang === whole || gang.startsWith(`${whole}${PART}`) || gang.startsWith(`${kind}${PART}`);
}

/** The name of a group: as the workload calls it, where that can be the value of a label. */
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

/** FNV-1a of 64 bits: of a million names the chance that two are the same is one in thirty million. */
function hashOf(text: string): string {
  let hash = OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * PRIME);
  }
  return hash.toString(36).padStart(13, '0');
}

import { ownList, ownString, type Json } from '../json/json.ts';
/**
 * Reads quantities of Kubernetes (`resource.Quantity`) exactly: digits with an optional fraction, and a suffix. They are
 * kept in billionths, Kubernetes' smallest step, so that no amount is rounded too early.
 */
const FORM = /^([+-]?)(\d+)?(?:\.(\d*))?(?:([KMGTPE])i|([numkMGTPE])|[eE]([+-]?\d{1,3}))?$/;
const LONGEST = 64;

/** Exponents of 10 for the decimal suffixes, of 1024 for the binary ones. */
const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY = 'KMGTPE';
const BILLION = 1_000_000_000n;
const MILLION = 1_000_000n;

/**
 * Converts a quantity to billionths of its unit, rounded away from zero as Kubernetes does; undefined where `text` is no
 * quantity.
 * @param text a string or a number
 */
export function parseQuantity(text: unknown): bigint | undefined {
  const written = typeof text === 'number' ? String(text) : text;
  if (typeof written !== 'string' || written.length > LONGEST) return undefined;
  const found = FORM.exec(written.trim());
  if (found === null) return undefined;
  const [, sign, whole = '', fraction = '', binary, decimal, exponent] = found;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction);
  const power =
    9 - fraction.length + (decimal === undefined ? Number(exponent ?? 0) : (DECIMAL[decimal] ?? 0));
  const factor = binary === undefined ? 1n : 1024n ** BigInt(BINARY.indexOf(binary) + 1);
  const exact = digits * factor;
  const billionths = power >= 0 ? exact * 10n ** BigInt(power) : dividedUp(exact, 10n ** BigInt(-power));
  return sign === '-' ? -billionths : billionths;
}

const dividedUp = (amount: bigint, by: bigint): bigint =>
  amount < 0n ? -((-amount + by - 1n) / by) : (amount + by - 1n) / by;

/**
 * The amount of a resource as schedulers count it: thousandths of `cpu`, whole units of all others, rounded up; undefined
 * where the amount is negative or too large to count exactly (above 2^53 - 1).
 */
export function countOf(resource: string, billionths: bigint): number | undefined {
  const count = dividedUp(billionths, resource === 'cpu' ? MILLION : BILLION);
  return count >= 0n && count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : undefined;
}

/** Small whole numbers, the form of nearly all amounts that are not bytes. */
const FEW_DIGITS = /^\d{1,9}$/;

/** Returns {@link countOf} for a quantity as text; undefined also where the text is no quantity. */
export function countOfText(resource: string, text: unknown): number | undefined {
  if (typeof text === 'string' && FEW_DIGITS.test(text))
    return resource === 'cpu' ? Number(text) * 1000 : Number(text);
  const billionths = parseQuantity(text);
  return billionths === undefined ? undefined : countOf(resource, billionths);
}

/** Formats an amount of {@link countOf} for people: `1500m`, `4`, `12Gi`. */
export function formatCount(resource: string, count: number): string {
  if (resource === 'cpu') return count % 1000 === 0 ? String(count / 1000) : `${count}m`;
  if (!isBytes(resource)) return String(count);
  let [amount, step] = [count, 0];
  while (amount !== 0 && amount % 1024 === 0 && step < BINARY.length)
    [amount, step] = [amount / 1024, step + 1];
  return step === 0 ? String(amount) : `${amount}${BINARY[step - 1] ?? ''}i`;
}

const BYTES = /^(?:memory|ephemeral-storage|hugepages-.*)$/;

/** Whether the resource is counted in bytes. */
export const isBytes = (resource: string): boolean => BYTES.test(resource);

/** Adds the amounts of `more` to `into`. */
export function add(into: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [name, count] of more) into.set(name, (into.get(name) ?? 0) + count);
}

/** Raises each amount of `into` to at least that in `more`. */
export function raise(into: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [name, count] of more) into.set(name, Math.max(into.get(name) ?? 0, count));
}

/**
 * What the containers of a Pod need at the same time: the sum of the containers and sidecars, or the need of an init
 * container with the sidecars started before it where that is more.
 * @param asks returns what one container needs
 */
export function containerSum(
  spec: Json | undefined,
  asks: (container: Json, field: string) => Map<string, number>,
): Map<string, number> {
  const total = new Map<string, number>();
  for (const [index, one] of (ownList(spec, 'containers') ?? []).entries())
    add(total, asks(one, `spec.containers[${index}]`));
  const sidecars = new Map<string, number>();
  const peak = new Map<string, number>();
  for (const [index, one] of (ownList(spec, 'initContainers') ?? []).entries()) {
    const needs = asks(one, `spec.initContainers[${index}]`);
    if (ownString(one, 'restartPolicy') === 'Always') {
      add(total, needs);
      add(sidecars, needs);
      raise(peak, sidecars);
    } else {
      add(needs, sidecars);
      raise(peak, needs);
    }
  }
  raise(total, peak);
  return total;
}

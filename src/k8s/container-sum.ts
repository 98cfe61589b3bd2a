import { ownList, ownString, type Json } from '../json/json.ts';

/** `into` with the counts of `more` added. */
export function add(into: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [name, count] of more) into.set(name, (into.get(name) ?? 0) + count);
}

/** `into` with each count at least as in `more`. */
export function raise(into: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [name, count] of more) into.set(name, Math.max(into.get(name) ?? 0, count));
}

/**
 * What the containers of a Pod need at the same time: the containers and sidecars together, or more where an init
 * container needs more while it runs beside the sidecars started before it.
 * @param asks what one container needs
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

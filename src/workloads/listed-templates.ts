import { isObject, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { path, type Path } from './path.ts';
import type { TemplateList, Template } from './workload-kind.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** One template for each item of a list. */
export function templatesIn(
  reading: WorkloadReading,
  { items, name = 'name', unnamed = 'template', template, replicas, minAvailable }: TemplateList,
): Template[] {
  return itemsAt(reading, path(items)).map(({ item, at }, index) => {
    const count = replicas === undefined ? undefined : [...at, ...path(replicas)];
    const minimum = minAvailable === undefined ? undefined : [...at, ...path(minAvailable)];
    return {
      name: textAt(reading, [...at, ...path(name)]) || `${unnamed}-${index}`,
      template: templateAt(item, path(template)),
      path: [...at, ...path(template)],
      replicas: count === undefined ? 1 : reading.count(count, 1),
      minAvailable: minimum && reading.count(minimum, undefined),
      count: count && { path: count, per: 1 },
      minimum: minimum && { path: minimum, per: 1 },
    };
  });
}

/** The items of a list with their paths. Items that are no objects are reported to `reading`. */
export function itemsAt(reading: WorkloadReading, at: Path): { item: JsonObject; at: Path }[] {
  const list = reading.at(at);
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) {
    reading.wrongAt(at, 'must be a list');
    return [];
  }
  return (list as readonly Json[]).flatMap((item, index) => {
    if (isObject(item)) return [{ item, at: [...at, index] }];
    reading.wrongAt([...at, index], 'must be an object');
    return [];
  });
}

export const textAt = (reading: WorkloadReading, at: Path): string => {
  const value = reading.at(at);
  return typeof value === 'string' ? value : '';
};

/** The Pod template at `steps` below `item`: `{spec: …}`, or a Pod spec without a template around it. */
export function templateAt(item: Json | undefined, steps: Path): JsonObject | undefined {
  let value = item;
  for (const step of steps) value = ownObject(value, String(step));
  if (!isObject(value)) return undefined;
  return Array.isArray(value['containers']) ? { spec: value } : value;
}

/** Templates by the names of their roles (`Master`, `Worker`), in the order of `roles`, other roles after them by name. */
export function rolesIn(
  reading: WorkloadReading,
  at: Path,
  roles: readonly string[],
  otherwise: (role: string) => number = () => 1,
): Template[] {
  const found = reading.at(at);
  if (!isObject(found)) return [];
  const rank = (role: string): number => (roles.includes(role) ? roles.indexOf(role) : roles.length);
  const names = Object.keys(found).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return names.map((role) => {
    const count: Path = [...at, role, 'replicas'];
    return {
      name: role.toLowerCase(),
      template: ownObject(ownObject(found, role), 'template'),
      path: [...at, role, 'template'],
      replicas: reading.count(count, otherwise(role)),
      minAvailable: undefined,
      count: { path: count, per: 1 },
    };
  });
}

/** The name in a Pod template's metadata, which is rarely set. */
export const ownName = (template: JsonObject | undefined): string =>
  ownString(ownObject(template, 'metadata'), 'name') ?? '';

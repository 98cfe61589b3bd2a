import { fault, type Fault } from '../../api/fault.ts';
import type { PackConstraint, PodGang } from '../../api/pod-gang.ts';
import type { PodGangVerdict } from '../backend.ts';
import type { NativeGang } from './native-gangs.ts';

/** A constraint with the groups that it applies to. */
interface Scoped {
  readonly path: string;
  readonly pack: PackConstraint;
  readonly groups: ReadonlySet<string>;
}

/** Constraints from the widest to the narrowest. */
function scopedConstraints({ spec }: PodGang): Scoped[] {
  const scoped = (path: string, pack: PackConstraint | undefined, groups: readonly string[]): Scoped[] =>
    pack === undefined
      ? []
      : [{ path: `${path}.topologyConstraint.packConstraint`, pack, groups: new Set(groups) }];
  return [
    ...scoped(
      'spec',
      spec.pack,
      spec.groups.map(({ name }) => name),
    ),
    ...spec.groupConfigs.flatMap(({ pack, podGroupNames }, index) =>
      podGroupNames.length === 0
        ? []
        : scoped(`spec.topologyConstraintGroupConfigs[${index}]`, pack, podGroupNames),
    ),
    ...spec.groups.flatMap(({ name, pack }, index) => scoped(`spec.podgroups[${index}]`, pack, [name])),
  ];
}

const holds = (scope: Scoped, unit: NativeGang): boolean =>
  scope.groups.size === unit.groups.length && unit.groups.every(({ name }) => scope.groups.has(name));

/** The required level of a native gang: the narrowest constraint that applies to exactly its groups. */
export const requiredLevel = (gang: PodGang, unit: NativeGang): string | undefined =>
  scopedConstraints(gang)
    .filter((scope) => Boolean(scope.pack.required) && holds(scope, unit))
    .at(-1)?.pack.required;

const NO_WISHES = 'ignored: a native gang has required levels only';

/**
 * Faults and warnings for topology constraints that native gangs cannot express: each has one required level and no
 * preferred one.
 * @param hasField whether the cluster keeps the field
 */
export function checkNativeTopology(
  gang: PodGang,
  units: readonly NativeGang[],
  hasField: boolean,
): PodGangVerdict {
  const faults: Fault[] = [];
  const warnings: string[] = [];
  for (const scope of scopedConstraints(gang)) {
    const { required, preferred } = scope.pack;
    if (preferred) {
      warnings.push(`${scope.path}.preferred is ${NO_WISHES}`);
    }
    if (!required) continue;
    const unit = units.find((candidate) => holds(scope, candidate));
    const refuse = (detail: string): void =>
      void faults.push(fault('BackendCannotExpress', `${scope.path}.required`, { value: required, detail }));
    if (!hasField) refuse('feature gate TopologyAwareWorkloadScheduling is off');
    else if (unit === undefined) {
      refuse(
        units.length === 1
          ? 'one native gang stands for all groups, so a level is for the whole gang'
          : 'each group is a native gang, so a level is for one group',
      );
    } else if (requiredLevel(gang, unit) !== required) {
      warnings.push(`${scope.path}.required is ignored: a native gang has one level, the narrowest given`);
    }
  }
  return { faults, warnings };
}

/**
 * Faults and warnings with CompositePodGroups, which express one constraint each. The only inexpressible case is a
 * constraint on a group without a minimum, which is in no CompositePodGroup.
 */
export function checkCompositeTopology(gang: PodGang): PodGangVerdict {
  const optional = new Set(
    gang.spec.groups.filter(({ minReplicas }) => minReplicas <= 0).map(({ name }) => name),
  );
  const faults: Fault[] = [];
  const warnings: string[] = [];
  for (const { path, pack, groups } of scopedConstraints(gang)) {
    if (pack.preferred) warnings.push(`${path}.preferred is ${NO_WISHES}`);
    const out = [...groups].filter((name) => optional.has(name));
    if (!pack.required || groups.size < 2 || out.length === 0) continue;
    const detail = `group ${out.join(', ')} has a minReplicas of 0, so it is in no CompositePodGroup with the others`;
    faults.push(fault('BackendCannotExpress', `${path}.required`, { value: pack.required, detail }));
  }
  return { faults, warnings };
}

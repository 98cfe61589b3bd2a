import { fault, type Fault } from '../../api/fault.ts';
import type { PackConstraint, PodGang } from '../../api/pod-gang.ts';
import { isLabelKey } from '../../k8s/name-syntax.ts';

/** The cluster's topology as configured: node label keys from broad to narrow. */
export interface TopologyLevels {
  readonly enabled: boolean;
  readonly keys: readonly string[];
}

/** No levels: constraints are not checked against any. */
export const NO_TOPOLOGY: TopologyLevels = { enabled: false, keys: [] };

/** Every constraint of a gang with its path: of the gang, of its group configurations, of its groups. */
export function constraintsOf(gang: PodGang): { path: string; pack: PackConstraint }[] {
  const at = (path: string, pack: PackConstraint | undefined) =>
    pack === undefined ? [] : [{ path: `${path}.topologyConstraint.packConstraint`, pack }];
  return [
    ...at('spec', gang.spec.pack),
    ...gang.spec.groupConfigs.flatMap((config, index) =>
      at(`spec.topologyConstraintGroupConfigs[${index}]`, config.pack),
    ),
    ...gang.spec.groups.flatMap((group, index) => at(`spec.podgroups[${index}]`, group.pack)),
  ];
}

/** Whether any constraint names a level at all. */
export const asksForTopology = (gang: PodGang): boolean =>
  constraintsOf(gang).some(({ pack }) => Boolean(pack.required) || Boolean(pack.preferred));

/**
 * Checks that constraints are label keys and, with topology-aware scheduling on, levels of the cluster in the right order.
 */
export function checkTopology(gang: PodGang, levels: TopologyLevels): Fault[] {
  const faults: Fault[] = [];
  for (const { path, pack } of constraintsOf(gang)) {
    for (const field of ['required', 'preferred'] as const) {
      const key = pack[field];
      if (key === undefined || key === '') continue;
      if (!isLabelKey(key)) faults.push(fault('TopologyKeyInvalid', `${path}.${field}`, { value: key }));
      else if (levels.enabled && !levels.keys.includes(key)) {
        const detail = `levels: ${levels.keys.join(', ') || 'none'}`;
        faults.push(fault('TopologyLevelUnknown', `${path}.${field}`, { value: key, detail }));
      }
    }
    const required = levels.keys.indexOf(pack.required ?? '');
    const preferred = levels.keys.indexOf(pack.preferred ?? '');
    if (levels.enabled && required >= 0 && preferred >= 0 && preferred < required) {
      const detail = `required is ${pack.required ?? ''}`;
      faults.push(fault('TopologyOrder', `${path}.preferred`, { value: pack.preferred, detail }));
    }
  }
  return faults;
}

/** Warnings about fields that are allowed and have no effect. */
export const idleInSpec = (gang: PodGang, levels: TopologyLevels): string[] => [
  ...(!levels.enabled && asksForTopology(gang)
    ? ['topology levels are not checked: topologyAwareScheduling is not enabled in the configuration']
    : []),
  ...gang.spec.groupConfigs.flatMap(({ podGroupNames }, index) =>
    podGroupNames.length > 0
      ? []
      : [`spec.topologyConstraintGroupConfigs[${index}].podGroupNames is empty: it constrains nothing`],
  ),
];

/** Checks group configurations: unique names, known groups, no group in two of them. */
export function checkGroupConfigs(gang: PodGang): Fault[] {
  const faults: Fault[] = [];
  const groups = new Set(gang.spec.groups.map((group) => group.name));
  // Built once and cut short, since each of many faults repeats it.
  const known = `groups: ${[...groups].slice(0, 8).join(', ') || 'none'}${groups.size > 8 ? ' …' : ''}`;
  const names = new Map<string, number>();
  const taken = new Map<string, string>();
  gang.spec.groupConfigs.forEach((config, index) => {
    const path = `spec.topologyConstraintGroupConfigs[${index}]`;
    const first = names.get(config.name);
    if (first === undefined) names.set(config.name, index);
    else if (config.name !== '') {
      const detail = `also spec.topologyConstraintGroupConfigs[${first}]`;
      faults.push(fault('GroupConfigDuplicate', `${path}.name`, { value: config.name, detail }));
    }
    config.podGroupNames.forEach((name, position) => {
      if (name === '') return;
      const at = `${path}.podGroupNames[${position}]`;
      if (!groups.has(name)) {
        faults.push(fault('GroupConfigUnknownGroup', at, { value: name, detail: known }));
      }
      const other = taken.get(name);
      if (other === undefined) taken.set(name, at);
      else faults.push(fault('GroupConfigOverlap', at, { value: name, detail: `also ${other}` }));
    });
  });
  return faults;
}

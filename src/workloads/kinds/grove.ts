import { own, ownList, ownObject, type JsonObject } from '../../json/json.ts';
import { POD_GANG_GROUP, POD_GANG_KIND, POD_GANG_VERSION } from '../../api/names.ts';
import type { Kind } from '../kind.ts';
import { itemsAt, templateAt, textAt } from '../listed-templates.ts';
import { path } from '../path.ts';
import type { Template } from '../workload-kind.ts';
import type { WorkloadReading } from '../workload-reading.ts';

/** A PodGang creates no Pods: its groups count the Pods that they reference, and at least their minimum. */
function groups(_: JsonObject, reading: WorkloadReading): Template[] {
  return itemsAt(reading, path('spec.podgroups')).map(({ item, at }, index) => {
    const minimum = [...at, 'minReplicas'];
    const least = reading.count(minimum, 0);
    return {
      name: textAt(reading, [...at, 'name']) || `group-${index}`,
      template: undefined,
      path: at,
      replicas: Math.max(least, ownList(item, 'podReferences')?.length ?? 0),
      minAvailable: least,
      minimum: { path: minimum, per: 1 },
    };
  });
}

/** Each clique is repeated for the replicas of its scaling group, and both for the replicas of the whole set. */
function cliques(object: JsonObject, reading: WorkloadReading): Template[] {
  const inside = path('spec.template');
  const whole = path('spec.replicas');
  const sets = reading.count(whole, 1);
  const scaling = itemsAt(reading, [...inside, 'podCliqueScalingGroups']);
  const priority = own(own(own(object, 'spec'), 'template'), 'priorityClassName');
  return itemsAt(reading, [...inside, 'cliques']).map(({ item, at }, index) => {
    const name = textAt(reading, [...at, 'name']) || `clique-${index}`;
    const group = scaling.find((one) => ownList(one.item, 'cliqueNames')?.includes(name) === true);
    const count = [...at, 'spec', 'replicas'];
    const minimum = [...at, 'spec', 'minAvailable'];
    const replicas = reading.count(count, 1);
    const minAvailable = reading.count(minimum, replicas);
    const many = group === undefined ? 1 : reading.count([...group.at, 'replicas'], 1);
    const few = group === undefined ? 1 : reading.count([...group.at, 'minAvailable'], 1);
    const spec = ownObject(templateAt(item, path('spec.podSpec')), 'spec');
    return {
      name,
      template: spec && {
        spec:
          typeof priority === 'string' && priority !== '' ? { priorityClassName: priority, ...spec } : spec,
      },
      path: [...at, 'spec', 'podSpec'],
      replicas: reading.times(count, sets, many, replicas),
      minAvailable: reading.times(minimum, sets, few, minAvailable),
      count: { path: count, per: sets * many },
      minimum: { path: minimum, per: sets * few },
    };
  });
}

const PHASES = ['Failed', 'Deleting', 'Pending', 'Starting', 'Running', 'Succeeded'];

export const podGang: Kind = {
  ...{ group: POD_GANG_GROUP, version: POD_GANG_VERSION, kind: POD_GANG_KIND, plural: 'podgangs' },
  templates: groups,
  fleet: {
    lua: `
local function computed(obj, _, found)
  local groups = { "spec", "podgroups" }
  for index, item in ipairs(items(obj, groups)) do
    local minimum = joined(groups, { index, "minReplicas" })
    local least = count(obj, minimum, 0)
    found[#found + 1] = {
      name = named(item.name, "group", index),
      replicas = math.max(least, #(object(item.podReferences) or {})),
      minAvailable = least,
      minimum = minimum,
    }
  end
end
`,
    health: { phases: [{ path: 'status.phase', values: ['Failed'] }], conditions: ['Unhealthy'] },
    status: { sums: [], phases: [{ path: 'phase', order: PHASES, waiting: 'Pending' }] },
    kept: {
      // The references name Pods of the member cluster.
      always: ['spec.podgroups.*.minReplicas', 'spec.podgroups.*.podReferences'],
      filled: [],
      templates: [],
    },
    says: {
      components: 'the name of each group, without requirements',
      minimum: '`minReplicas` of the group',
    },
  },
};

/** A PodCliqueSet's Pods belong to PodGangs that Grove's operator makes. */
export const podCliqueSet: Kind = {
  ...{ group: 'grove.io', version: 'v1alpha1', kind: 'PodCliqueSet', plural: 'podcliquesets' },
  templates: cliques,
  fleet: {
    lua: `
local function has(list, name)
  for _, one in ipairs(object(list) or {}) do
    if one == name then return true end
  end
  return false
end

local function computed(obj, _, found)
  local cliques = { "spec", "template", "cliques" }
  local groups = { "spec", "template", "podCliqueScalingGroups" }
  local sets, scaling = count(obj, { "spec", "replicas" }, 1), items(obj, groups)
  local priority = text(at(obj, { "spec", "template", "priorityClassName" }))
  for index, item in ipairs(items(obj, cliques)) do
    local here, name = joined(cliques, { index, "spec" }), named(item.name, "clique", index)
    local number, minimum = joined(here, { "replicas" }), joined(here, { "minAvailable" })
    local replicas = count(obj, number, 1)
    local least, many, few = count(obj, minimum, replicas), 1, 1
    for position, group in ipairs(scaling) do
      if has(group.cliqueNames, name) then
        many = count(obj, joined(groups, { position, "replicas" }), 1)
        few = count(obj, joined(groups, { position, "minAvailable" }), 1)
        break
      end
    end
    local template = templateAt(item, { "spec", "podSpec" })
    local spec = template and object(template.spec)
    if spec and priority ~= "" and spec.priorityClassName == nil then
      local pod = { priorityClassName = priority }
      for key, value in pairs(spec) do pod[key] = value end
      spec = pod
    end
    found[#found + 1] = {
      name = name,
      template = spec and { spec = spec },
      replicas = product(number, sets * many * replicas),
      minAvailable = product(minimum, sets * few * least),
      count = number,
      per = sets * many,
      minimum = minimum,
      minimumPer = sets * few,
    }
  end
end
`,
    health: {
      phases: [],
      conditions: [],
      ready: [{ has: 'status.availableReplicas', wants: 'spec.replicas', otherwise: 1 }],
    },
    status: { sums: ['replicas', 'updatedReplicas', 'availableReplicas'], phases: [] },
    kept: {
      always: [
        'spec.template.cliques.*.spec.minAvailable',
        'spec.template.podCliqueScalingGroups.*.minAvailable',
      ],
      filled: [
        'spec.template.cliqueStartupType',
        'spec.template.headlessServiceConfig',
        'spec.template.terminationDelay',
        'spec.template.cliques.*.spec.replicas',
        'spec.template.podCliqueScalingGroups.*.replicas',
      ],
      templates: [],
    },
    says: {
      components: 'the name of each clique: those of all replicas of its scaling group and of the set',
      minimum: '`minAvailable` of the clique, times that of its scaling group',
    },
  },
};

import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { groupName } from '../gang-names.ts';
import type { Kind } from '../kind.ts';
import { itemsAt, textAt } from '../listed-templates.ts';
import { path, type Path } from '../path.ts';
import { readyWhere } from '../single-template.ts';
import type { Template } from '../workload-kind.ts';
import type { WorkloadReading } from '../workload-reading.ts';

// pkg/apis/workload/v1alpha1/labels.go of volcano-sh/kthena. createBasePod of its pkg/model-serving-controller/utils writes
// them, and the ModelServing controls each Pod. A serving group's name is <name>-<index>.
const MODEL_SERVING = 'modelserving.volcano.sh/name';
const SERVING_GROUP = 'modelserving.volcano.sh/group-name';
const ROLE = 'modelserving.volcano.sh/role';
const ENTRY = 'modelserving.volcano.sh/entry';

const API_VERSION = 'workload.serving.volcano.sh/v1alpha1';
const GROUPS = path('spec.replicas');
const MINIMUM = path('spec.template.gangPolicy.minRoleReplicas');

/** The Pods of one template in one serving group. */
interface Part {
  readonly name: string;
  readonly template: JsonObject | undefined;
  readonly path: Path;
  readonly pods: number;
  /** The minimum in `gangPolicy`; undefined when `gangPolicy` has none for this role. */
  readonly minimum: { readonly pods: number; readonly path: Path; readonly each: number } | undefined;
}

/** The templates of each role: one entry Pod and `workerReplicas` workers, each repeated for the role's `replicas`. */
const partsOf = (reading: WorkloadReading): Part[] =>
  itemsAt(reading, path('spec.template.roles')).flatMap(({ item, at }, index) => {
    const role = textAt(reading, [...at, 'name']) || `role-${index}`;
    const replicas = reading.count([...at, 'replicas'], 1);
    const workers = reading.count([...at, 'workerReplicas'], 0);
    const minimum = [...MINIMUM, role];
    const least = reading.count(minimum, undefined);
    const part = (name: string, key: string, each: number): Part => ({
      name: `${role}-${name}`,
      template: ownObject(item, key),
      path: [...at, key],
      pods: reading.times([...at, 'replicas'], replicas, each),
      minimum:
        least === undefined ? undefined : { pods: Math.min(least, replicas) * each, path: minimum, each },
    });
    const entry = part('entry', 'entryTemplate', 1);
    return workers === 0 ? [entry] : [entry, part('worker', 'workerTemplate', workers)];
  });

function templates(_: JsonObject, reading: WorkloadReading): Template[] {
  const groups = reading.count(GROUPS, 1);
  return partsOf(reading).map(({ name, template, path: at, pods, minimum }) => ({
    ...{ name, template, path: at },
    replicas: reading.times(GROUPS, groups, pods),
    minAvailable: minimum && reading.times(GROUPS, groups, minimum.pods),
    count: { path: GROUPS, per: pods },
    minimum: minimum && { path: minimum.path, per: groups * minimum.each },
  }));
}

const partOf = (group: string, reading: WorkloadReading): Part | undefined =>
  partsOf(reading).find(({ name }) => groupName(name) === group);

/** Each serving group is a gang. */
export const modelServing: Kind = {
  ...{ group: 'workload.serving.volcano.sh', version: 'v1alpha1', kind: 'ModelServing' },
  plural: 'modelservings',
  templates,
  gang: {
    short: 'modelserving',
    controllers: ['workload.serving.volcano.sh/ModelServing'],
    read: (pod, { name, uid }) => {
      if (pod.label(MODEL_SERVING) !== name) return { differs: MODEL_SERVING };
      const group = pod.label(SERVING_GROUP) ?? '';
      const part = group.slice(name.length + 1);
      if (group !== `${name}-${part}` || !/^\d+$/.test(part)) return { differs: SERVING_GROUP };
      const role = pod.label(ROLE);
      if (role === undefined) return { differs: ROLE };
      return { name, uid, part, group: `${role}-${pod.label(ENTRY) === 'true' ? 'entry' : 'worker'}` };
    },
    mark: (name, group, part = '0') => ({
      labels: {
        [MODEL_SERVING]: name,
        [SERVING_GROUP]: `${name}-${part}`,
        [ROLE]: group.replace(/-(entry|worker)$/, ''),
        ...(group.endsWith('-entry') && { [ENTRY]: 'true' }),
      },
      controller: { apiVersion: API_VERSION, kind: 'ModelServing', name },
    }),
    gangs: (reading) => reading.count(GROUPS, 1),
    pods: (group, _, reading) => partOf(group, reading)?.pods ?? 0,
    minimum: (group, pods, reading) => partOf(group, reading)?.minimum?.pods ?? pods,
    // shouldCreatePodGroup of volcano-sh/kthena: such a ModelServing may get a PodGroup of its own.
    warnings: (workload) =>
      [undefined, 'volcano'].includes(ownString(own(workload, 'spec'), 'schedulerName'))
        ? [
            {
              field: 'spec.schedulerName',
              message:
                'Kthena writes it on every Pod, volcano where nothing is said, and makes PodGroups of its own for volcano: name the scheduler of the gang’s backend',
            },
          ]
        : [],
  },
  fleet: {
    lua: `
local function computed(obj, _, found)
  local number, roles = { "spec", "replicas" }, { "spec", "template", "roles" }
  local groups = count(obj, number, 1)
  for index, item in ipairs(items(obj, roles)) do
    local here, role = joined(roles, { index }), named(item.name, "role", index)
    local replicas = count(obj, joined(here, { "replicas" }), 1)
    local workers = count(obj, joined(here, { "workerReplicas" }), 0)
    local minimum = { "spec", "template", "gangPolicy", "minRoleReplicas", role }
    local least = count(obj, minimum, nil)
    local function part(name, key, each)
      local one = {
        name = role .. "-" .. name,
        template = object(at(item, { key })),
        replicas = product(number, groups * product(number, replicas * each)),
        count = number,
        per = replicas * each,
      }
      if least ~= nil then
        one.minAvailable = product(number, groups * math.min(least, replicas) * each)
        one.minimum, one.minimumPer = minimum, groups * each
      end
      found[#found + 1] = one
    end
    part("entry", "entryTemplate", 1)
    if workers > 0 then part("worker", "workerTemplate", workers) end
  end
end
`,
    health: { phases: [], conditions: [], ready: readyWhere('availableReplicas') },
    status: { sums: ['replicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'], phases: [] },
    // The field is immutable.
    kept: { always: ['spec.template.gangPolicy.minRoleReplicas'], filled: [], templates: [] },
    says: {
      components: '`<role>-entry`, `<role>-worker`: those of all serving groups',
      minimum: '`gangPolicy.minRoleReplicas` of the role, times its Pods and the serving groups; else all',
    },
  },
};

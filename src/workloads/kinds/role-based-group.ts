import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { hasLabel } from '../gang-label.ts';
import type { FieldWarning, Kind, OrderedStart } from '../kind.ts';
import { itemsAt, textAt } from '../listed-templates.ts';
import { orderedBy, orderedByList } from '../ordered-start.ts';
import { path } from '../path.ts';
import type { Template } from '../workload-kind.ts';
import { WorkloadReading } from '../workload-reading.ts';

// api/workloads/constants/label.go of sgl-project/rbg. The controller creates for each role a RoleInstanceSet
// <group>-<role>, cut to 63 characters; that creates RoleInstances <set>-…, and these create the Pods.
const GROUP_NAME = 'rbg.workloads.x-k8s.io/group-name';
const ROLE_NAME = 'rbg.workloads.x-k8s.io/role-name';
const COMPONENT_NAME = 'rbg.workloads.x-k8s.io/component-name';
// api/workloads/constants/annotation.go: the first on a group, the second on a role that is not a RoleInstanceSet.
const GANG_SCHEDULING = 'rbg.workloads.x-k8s.io/group-gang-scheduling';
const WORKLOAD_TYPE = 'rbg.workloads.x-k8s.io/role-workload-type';

const ROLES = path('spec.roles');

/** A RoleBasedGroup is one gang with all of its roles. */
export const roleBasedGroup: Kind = {
  ...{ group: 'workloads.x-k8s.io', version: 'v1alpha2', kind: 'RoleBasedGroup' },
  plural: 'rolebasedgroups',
  templates,
  gang: {
    short: 'rbg',
    controllers: ['workloads.x-k8s.io/RoleInstance'],
    read: (pod, { name: instance }) => {
      const [name = '', role = ''] = [GROUP_NAME, ROLE_NAME].map((key) => pod.label(key));
      const component = pod.label(COMPONENT_NAME) ?? role;
      if (name === '' || role === '' || !instance.startsWith(`${setOf(name, role)}-`))
        return { differs: GROUP_NAME };
      return { name, group: component === role ? role : `${role}-${component}` };
    },
    mark: (name, group) => {
      const [, role = group, component = group] = /^(.+)-(leader|worker)$/.exec(group) ?? [];
      return {
        labels: { [GROUP_NAME]: name, [ROLE_NAME]: role, [COMPONENT_NAME]: component },
        controller: {
          ...{ apiVersion: 'workloads.x-k8s.io/v1alpha2', kind: 'RoleInstance' },
          name: `${setOf(name, role)}-0`,
        },
      };
    },
    orderedStart,
    warnings,
  },
  fleet: {
    lua: `
local function computed(obj, _, found)
  local roles, shared = { "spec", "roles" }, items(obj, { "spec", "roleTemplates" })
  local function templateOf(source)
    local template = object(at(source, { "template" }))
    if template ~= nil then return template end
    local reference = text(at(source, { "templateRef", "name" }))
    for _, one in ipairs(shared) do
      if reference ~= "" and one.name == reference then return object(one.template) end
    end
    return nil
  end
  for index, item in ipairs(items(obj, roles)) do
    local here, role = joined(roles, { index }), named(item.name, "role", index)
    local number = joined(here, { "replicas" })
    local replicas = count(obj, number, 1)
    local function part(name, template, each)
      found[#found + 1] = {
        name = name == role and role or role .. "-" .. name,
        template = template,
        replicas = product(number, replicas * each),
        count = number,
        per = each,
      }
    end
    if object(item.customComponentsPattern) ~= nil then
      local components = joined(here, { "customComponentsPattern", "components" })
      for position, component in ipairs(items(obj, components)) do
        local each = count(obj, joined(components, { position, "size" }), 1)
        part(named(component.name, "component", position), object(component.template), each)
      end
    elseif object(item.leaderWorkerPattern) ~= nil then
      local template = templateOf(item.leaderWorkerPattern)
      local size = count(obj, joined(here, { "leaderWorkerPattern", "size" }), 1)
      part("leader", template, 1)
      if size > 1 then part("worker", template, size - 1) end
    else
      part(role, templateOf(item.standalonePattern), 1)
    end
  end
end
`,
    health: { phases: [], conditions: [] },
    status: { sums: [], phases: [] },
    kept: { always: [], filled: [], templates: [] },
    says: {
      components: 'the name of each role; `<role>-leader`, `<role>-worker`; `<role>-<component>`',
      minimum: 'all',
    },
  },
};

const setOf = (group: string, role: string): string => `${group}-${role}`.slice(0, 63).replace(/-+$/, '');

/** The Pods of one instance of a role. A patch of a template is not evaluated. */
function templates(_: JsonObject, reading: WorkloadReading): Template[] {
  const shared = itemsAt(reading, path('spec.roleTemplates'));
  return itemsAt(reading, ROLES).flatMap(({ item, at }, index) => {
    const role = textAt(reading, [...at, 'name']) || `role-${index}`;
    const count = [...at, 'replicas'];
    const replicas = reading.count(count, 1);
    const part = (name: string, from: Pick<Template, 'template' | 'path'>, each: number): Template => ({
      ...from,
      name: name === role ? role : `${role}-${name}`,
      replicas: reading.times(count, replicas, each),
      minAvailable: undefined,
      count: { path: count, per: each },
    });
    const source = (key: string): Pick<Template, 'template' | 'path'> => {
      const pattern = own(item, key);
      const template = ownObject(pattern, 'template');
      const name = ownString(own(pattern, 'templateRef'), 'name');
      const referred = name ? shared.find((one) => ownString(one.item, 'name') === name) : undefined;
      if (template !== undefined || referred === undefined)
        return { template, path: [...at, key, 'template'] };
      return { template: ownObject(referred.item, 'template'), path: [...referred.at, 'template'] };
    };
    if (ownObject(item, 'customComponentsPattern') !== undefined) {
      return itemsAt(reading, [...at, 'customComponentsPattern', 'components']).map((component, position) => {
        const name = textAt(reading, [...component.at, 'name']) || `component-${position}`;
        const template = ownObject(component.item, 'template');
        const each = reading.count([...component.at, 'size'], 1);
        return part(name, { template, path: [...component.at, 'template'] }, each);
      });
    }
    if (ownObject(item, 'leaderWorkerPattern') !== undefined) {
      const size = reading.count([...at, 'leaderWorkerPattern', 'size'], 1);
      const from = source('leaderWorkerPattern');
      return size > 1 ? [part('leader', from, 1), part('worker', from, size - 1)] : [part('leader', from, 1)];
    }
    return [part(role, source('standalonePattern'), 1)];
  });
}

/** Roles of the gang that start after other ones of it, and roles whose instances start one by one. */
function orderedStart(workload: JsonObject): OrderedStart[] {
  const reading = new WorkloadReading(workload);
  const asking = templates(workload, reading).filter(({ template }) => hasLabel(template));
  const isMember = (role: Json): boolean => {
    const name = ownString(role, 'name') ?? '';
    return asking.some((one) => one.name === name || one.name.startsWith(`${name}-`));
  };
  const inOrder = itemsAt(reading, ROLES).flatMap(({ item, at }, index) =>
    isMember(item) &&
    ownString(item, 'podManagementPolicy') === 'OrderedReady' &&
    reading.count([...at, 'replicas'], 1) > 1
      ? [orderedBy(workload, { field: `spec.roles[${index}].podManagementPolicy`, instead: 'Parallel' })]
      : [],
  );
  const namesIn = (on: Json | undefined): readonly Json[] =>
    Array.isArray(on) ? (on as readonly Json[]) : [];
  return [
    ...inOrder,
    ...orderedByList(workload, { field: 'spec.roles', key: 'dependencies', isMember, namesIn }),
  ];
}

function warnings(workload: JsonObject): FieldWarning[] {
  const annotations = own(own(workload, 'metadata'), 'annotations');
  const roles = ownList(own(workload, 'spec'), 'roles') ?? [];
  return [
    ...(ownString(annotations, GANG_SCHEDULING) === 'true'
      ? [
          {
            field: `metadata.annotations[${GANG_SCHEDULING}]`,
            message: 'its controller makes a PodGroup of its own besides: leave out one of the two',
          },
        ]
      : []),
    ...roles.flatMap((role, index) =>
      ownString(own(role, 'annotations'), WORKLOAD_TYPE) === undefined
        ? []
        : [
            {
              field: `spec.roles[${index}].annotations[${WORKLOAD_TYPE}]`,
              message: 'its Pods are a gang of that workload, and the gang of the others waits for them',
            },
          ],
    ),
  ];
}

import type { Json, JsonObject } from '../../json/json.ts';
import { groupVersionString } from '../../k8s/resource.ts';
import { MusterError } from '../../errors.ts';
import { isMultiTemplate } from '../../workloads/components.ts';
import {
  titleOf,
  type TemplateShape,
  type HealthSigns,
  type WorkloadKind,
} from '../../workloads/workload-kind.ts';
import { AT, multiReplicasScript, SHAPE_WAYS } from './multi-replicas-lua.ts';

/**
 * A kind as Karmada's ResourceInterpreterCustomization, for fleets that prefer Lua in Karmada to a webhook.
 * @throws MusterError WORKLOAD_UNKNOWN when the kind cannot be expressed in Lua
 */
export function customizationOf(kind: WorkloadKind): JsonObject {
  const { group, kind: name, health } = kind;
  const script = luaOf(kind);
  const replicas: JsonObject = isMultiTemplate(kind)
    ? { componentResource: { luaScript: `${script}${GET_COMPONENTS}` } }
    : {
        replicaResource: { luaScript: `${script}${GET_REPLICAS}` },
        replicaRevision: { luaScript: `${script}${REVISE_REPLICA}` },
      };
  return {
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterCustomization',
    metadata: { name: `muster-${name.toLowerCase()}${group === '' ? '' : `.${group}`}` },
    spec: {
      target: { apiVersion: groupVersionString(kind), kind: name },
      customizations: { ...replicas, healthInterpretation: { luaScript: healthScript(health) } },
    },
  };
}

/**
 * `MultiGetReplicas(obj)` and `MultiReviseReplica(obj, desiredReplicas)` of a kind in Lua.
 * @throws MusterError WORKLOAD_UNKNOWN when the kind is defined by code only and has no Lua version
 */
export function luaOf(kind: WorkloadKind): string {
  const { shapes = [], lua, totalMinimum } = kind;
  const total = totalMinimum === undefined ? 'nil' : luaPath(totalMinimum);
  if (lua !== undefined)
    return multiReplicasScript(lua, `local shapes = { { way = computed } }\nlocal totalMinimum = ${total}`);
  if (shapes.length === 0)
    throw new MusterError(
      'WORKLOAD_UNKNOWN',
      `${titleOf(kind)} cannot be written as Lua: its numbers of Pods are computed, and no path leads to them`,
      'use the interpreter webhook for it (docs/fleet.md)',
    );
  return multiReplicasScript(
    SHAPE_WAYS,
    `local shapes = {\n${shapes.map((one) => `  ${shapeText(one)},\n`).join('')}}\nlocal totalMinimum = ${total}`,
  );
}

const GET_COMPONENTS = `
function GetComponents(obj)
  local components = MultiGetReplicas(obj)
  for _, one in ipairs(components) do
    one.replicaRequirements, one.requirements, one.minAvailable = one.requirements, nil, nil
  end
  return components
end
`;

const GET_REPLICAS = `
function GetReplicas(obj)
  local one = MultiGetReplicas(obj)[1]
  return one.replicas, one.requirements
end
`;

const REVISE_REPLICA = `
function ReviseReplica(obj, desiredReplica)
  return MultiReviseReplica(obj, { { templateName = MultiGetReplicas(obj)[1].name, replicas = desiredReplica } })
end
`;

function shapeText(shape: TemplateShape): string {
  const paths = (fields: Readonly<Record<string, string | undefined>>): string[] =>
    Object.entries(fields).flatMap(([name, path]) =>
      path === undefined ? [] : [`${name} = ${luaPath(path)}`],
    );
  const parts: string[] = [`way = ${shape.as}`];
  if (shape.as === 'list') {
    const { items, name = 'name', template, replicas, minAvailable, unnamed = 'template' } = shape;
    parts.push(`unnamed = ${quoted(unnamed)}`, ...paths({ items, name, template, replicas, minAvailable }));
  } else if (shape.as === 'roles') {
    const ranks = shape.roles.map((role, index) => `[${quoted(role)}] = ${index}`).join(', ');
    const none = shape.none.map((role) => `[${quoted(role)}] = true`).join(', ');
    parts.push(
      `ranks = { ${ranks} }`,
      `none = { ${none} }`,
      ...paths({ at: shape.at, elastic: shape.elastic }),
    );
  } else {
    const { name, template, replicas, minAvailable } = shape;
    if (name !== undefined) parts.push(`name = ${quoted(name)}`);
    parts.push(...paths({ template, replicas, minAvailable }));
  }
  return `{ ${parts.join(', ')} }`;
}

/** Lua for the kind's health, by the same signs as {@link isHealthy}. */
function healthScript({ phases, conditions, ready = [] }: HealthSigns): string {
  const failed = phases.flatMap(({ path, values }) =>
    values.map(
      (value) => `  if at(observedObj, ${luaPath(path)}) == ${quoted(value)} then return false end\n`,
    ),
  );
  const behind = [
    '  local generation = at(observedObj, { "metadata", "generation" })\n',
    '  local observed = at(observedObj, { "status", "observedGeneration" })\n',
    '  if type(generation) == "number" and type(observed) == "number" and observed < generation then return false end\n',
  ];
  const short = ready.map(
    ({ has, wants, otherwise }) =>
      `  if number(observedObj, ${luaPath(has)}, 0) < number(observedObj, ${luaPath(wants)}, ${otherwise}) then return false end\n`,
  );
  const lasting = conditions.map(
    (type) =>
      `    if condition.type == ${quoted(type)} and condition.status == "True" then return false end\n`,
  );
  return `${AT}
local function number(root, path, otherwise)
  local value = at(root, path)
  if type(value) == "number" then return value end
  return otherwise
end

function InterpretHealth(observedObj)
${failed.join('')}  for _, condition in ipairs(at(observedObj, { "status", "conditions" }) or {}) do
${lasting.join('')}  end
${ready.length > 0 ? behind.join('') : ''}${short.join('')}  return true
end
`;
}

const luaPath = (path: string): string => `{ ${path.split('.').map(quoted).join(', ')} }`;

/**
 * A Lua string literal. JSON is enough: schemas allow no character in fields and names that Lua would escape differently.
 */
const quoted = (value: Json): string => JSON.stringify(value);

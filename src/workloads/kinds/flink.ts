import { MOST_PODS } from '../../api/most-pods.ts';
import { isObject, own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { quoted } from '../../text/printable.ts';
import type { Kind } from '../kind.ts';
import { path } from '../path.ts';
import type { Template } from '../workload-kind.ts';
import type { WorkloadReading } from '../workload-reading.ts';

/** Container of a Pod template into which the operator merges its own container. */
const MAIN_CONTAINER = 'flink-main-container';
const SLOTS = 'taskmanager.numberOfTaskSlots';

/** Flink has memory units of its own: `2048m` is mebibytes, where Kubernetes reads thousandths of a byte. */
const FLINK_BYTES =
  /^(\d+)\s*(?:(b|bytes)|(k|kb|kibibytes)|(m|mb|mebibytes)|(g|gb|gibibytes)|(t|tb|tebibytes))?$/i;
const UNITS = ['', '', 'Ki', 'Mi', 'Gi', 'Ti'];

function memoryOf(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string') return value;
  const found = FLINK_BYTES.exec(value.trim());
  // The operator accepts quantities of Kubernetes as well.
  if (found === null) return value;
  const unit = found.slice(2).findIndex((part) => part !== undefined);
  return `${found[1] ?? ''}${UNITS[unit + 1] ?? ''}`;
}

/**
 * The Pods of one manager: the common template, overridden by the manager's own template and by its resources for the main
 * container.
 */
function podOf(spec: Json | undefined, manager: Json | undefined): JsonObject {
  const common = ownObject(ownObject(spec, 'podTemplate'), 'spec');
  const particular = ownObject(ownObject(manager, 'podTemplate'), 'spec');
  const merged = { ...common, ...particular };
  const { cpu, memory, ephemeralStorage } = (ownObject(manager, 'resource') ?? {}) as Record<
    string,
    Json | undefined
  >;
  const requests = Object.entries({
    cpu,
    memory: memoryOf(memory),
    'ephemeral-storage': memoryOf(ephemeralStorage),
  }).filter((entry): entry is [string, Json] => entry[1] !== undefined && entry[1] !== null);
  const containers = (ownList(merged, 'containers') ?? []).filter(isObject);
  const main = containers.find((container) => ownString(container, 'name') === MAIN_CONTAINER);
  const sidecars = containers.filter((container) => container !== main);
  const resources = { requests: Object.fromEntries(requests) };
  return { spec: { ...merged, containers: [{ ...main, resources }, ...sidecars] } };
}

/** The configured number of task managers; else the number whose slots hold the parallelism. */
function taskManagers(spec: Json | undefined, reading: WorkloadReading): number {
  const written = reading.countOf('spec.taskManager.replicas', undefined);
  if (written !== undefined) return written;
  const parallelism = reading.countOf('spec.job.parallelism', 1);
  const text = own(own(spec, 'flinkConfiguration'), SLOTS) ?? 1;
  const slots = Number(text);
  if (Number.isInteger(slots) && slots > 0 && slots <= MOST_PODS) return Math.ceil(parallelism / slots);
  reading.wrongAt(
    ['spec', 'flinkConfiguration', SLOTS],
    `${quoted(text)} is no number of slots; give 1 or more`,
  );
  return 0;
}

export const flinkDeployment: Kind = {
  ...{ group: 'flink.apache.org', version: 'v1beta1', kind: 'FlinkDeployment', plural: 'flinkdeployments' },
  templates: (object, reading): Template[] => {
    const spec = own(object, 'spec');
    const part = (name: string, key: string, replicas: number): Template => ({
      name,
      template: podOf(spec, own(spec, key)),
      path: ['spec', key],
      replicas,
      minAvailable: undefined,
      count: { path: ['spec', key, 'replicas'], per: 1 },
    });
    return [
      part('jobmanager', 'jobManager', reading.count(path('spec.jobManager.replicas'), 1)),
      part('taskmanager', 'taskManager', taskManagers(spec, reading)),
    ];
  },
  fleet: {
    lua: `
local units = {
  [""] = "", b = "", bytes = "",
  k = "Ki", kb = "Ki", kibibytes = "Ki",
  m = "Mi", mb = "Mi", mebibytes = "Mi",
  g = "Gi", gb = "Gi", gibibytes = "Gi",
  t = "Ti", tb = "Ti", tebibytes = "Ti",
}

-- Flink counts bytes in words of its own: 2048m are mebibytes.
local function bytes(value)
  if type(value) ~= "string" then return value end
  local digits, word = string.match(value, "^%s*(%d+)%s*(%a*)%s*$")
  local unit = units[string.lower(word or "")]
  if digits == nil or unit == nil then return value end
  return digits .. unit
end

local function podOf(spec, manager)
  local pod, containers = {}, {}
  for _, part in ipairs({ object(spec) or {}, object(manager) or {} }) do
    for key, value in pairs(object(at(part, { "podTemplate", "spec" })) or {}) do pod[key] = value end
  end
  local resource, main, sidecars = object(at(manager, { "resource" })) or {}, nil, {}
  for _, container in ipairs(object(pod.containers) or {}) do
    if main == nil and at(container, { "name" }) == "flink-main-container" then
      main = container
    elseif type(container) == "table" then
      sidecars[#sidecars + 1] = container
    end
  end
  local merged, requests = { name = "flink-main-container" }, {}
  for key, value in pairs(main or {}) do merged[key] = value end
  requests.cpu, requests.memory = resource.cpu, bytes(resource.memory)
  requests["ephemeral-storage"] = bytes(resource.ephemeralStorage)
  merged.resources = { requests = requests }
  containers[1] = merged
  for _, container in ipairs(sidecars) do containers[#containers + 1] = container end
  pod.containers = containers
  return { spec = pod }
end

-- As many as are asked for; else so many that their slots hold the parallelism.
local function taskManagers(obj)
  local written = count(obj, { "spec", "taskManager", "replicas" }, nil)
  if written ~= nil then return written end
  local parallelism = count(obj, { "spec", "job", "parallelism" }, 1)
  local slots = at(obj, { "spec", "flinkConfiguration", "taskmanager.numberOfTaskSlots" })
  if slots == nil then slots = 1 end
  local number = tonumber(slots)
  if number == nil or number % 1 ~= 0 or number < 1 or number > ${MOST_PODS} then
    error("taskmanager.numberOfTaskSlots is no number of slots")
  end
  return math.ceil(parallelism / number)
end

local function computed(obj, _, found)
  local function part(name, key, replicas)
    found[#found + 1] = {
      name = name,
      template = podOf(at(obj, { "spec" }), at(obj, { "spec", key })),
      replicas = replicas,
      count = { "spec", key, "replicas" },
    }
  end
  part("jobmanager", "jobManager", count(obj, { "spec", "jobManager", "replicas" }, 1))
  part("taskmanager", "taskManager", taskManagers(obj))
end
`,
    health: {
      phases: [
        { path: 'status.lifecycleState', values: ['FAILED'] },
        { path: 'status.jobStatus.state', values: ['FAILED'] },
        { path: 'status.jobManagerDeploymentStatus', values: ['ERROR'] },
      ],
      conditions: [],
    },
    status: {
      sums: ['taskManager.replicas'],
      phases: [
        {
          path: 'jobStatus.state',
          order: [
            'FAILED',
            'FAILING',
            'CANCELED',
            'RESTARTING',
            'SUSPENDED',
            '',
            'CREATED',
            'RUNNING',
            'FINISHED',
          ],
          waiting: '',
        },
        {
          path: 'lifecycleState',
          order: [
            'FAILED',
            'ROLLED_BACK',
            'ROLLING_BACK',
            'SUSPENDED',
            '',
            'CREATED',
            'UPGRADING',
            'DEPLOYED',
            'STABLE',
          ],
          waiting: '',
        },
        {
          path: 'jobManagerDeploymentStatus',
          order: ['ERROR', 'MISSING', '', 'DEPLOYING', 'DEPLOYED_NOT_READY', 'READY'],
          waiting: '',
        },
      ],
    },
    kept: { always: [], filled: [], templates: [] },
    says: { components: '`jobmanager`, `taskmanager`', minimum: 'all' },
  },
};

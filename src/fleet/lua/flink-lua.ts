import { MOST_PODS } from '../../api/most-pods.ts';

/** Both managers: the common template, their own over that, and their resources for the main container. */
export const FLINK_DEPLOYMENT = `
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
`;

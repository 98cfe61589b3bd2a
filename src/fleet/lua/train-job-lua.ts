/** How many nodes there are and what each needs, with what managers such as Kueue add; the template is in a runtime elsewhere. */
export const TRAIN_JOB = `
local function patched(obj, spec)
  local patches, selector, tolerations = { "spec", "runtimePatches" }, {}, {}
  for index in ipairs(items(obj, patches)) do
    local jobs = joined(patches, { index, "trainingRuntimeSpec", "template", "spec", "replicatedJobs" })
    for _, job in ipairs(items(obj, jobs)) do
      if job.name == "node" then
        local pod = at(job, { "template", "spec", "template", "spec" })
        for key, value in pairs(object(at(pod, { "nodeSelector" })) or {}) do selector[key] = value end
        for _, one in ipairs(object(at(pod, { "tolerations" })) or {}) do tolerations[#tolerations + 1] = one end
      end
    end
  end
  spec.nodeSelector, spec.tolerations = selector, tolerations
  return spec
end

local function computed(obj, _, found)
  local trainer, number = object(at(obj, { "spec", "trainer" })), { "spec", "trainer", "numNodes" }
  local one = { name = "node", replicas = count(obj, number, 1), count = number }
  local container = { name = "node", resources = at(trainer, { "resourcesPerNode" }), env = at(trainer, { "env" }) }
  local spec = patched(obj, { containers = { container } })
  if trainer ~= nil then one.template = { spec = spec } end
  found[#found + 1] = one
end
`;

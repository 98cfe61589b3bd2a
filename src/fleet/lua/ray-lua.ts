/** The head and the groups of workers. @param cluster where the cluster's spec stands, as Lua has it */
export const rayLua = (cluster: string): string => `
local function computed(obj, _, found)
  local root = ${cluster}
  local spec = at(obj, root)
  if spec == nil then return end
  local autoscales = at(spec, { "enableInTreeAutoscaling" }) == true
  found[#found + 1] = { name = "ray-head", template = templateAt(spec, { "headGroupSpec", "template" }), replicas = 1 }
  local groups = joined(root, { "workerGroupSpecs" })
  for index, item in ipairs(items(obj, groups)) do
    local here = joined(groups, { index })
    local number, minimum = joined(here, { "replicas" }), joined(here, { "minReplicas" })
    local hosts, least, replicas = count(obj, joined(here, { "numOfHosts" }), 1), count(obj, minimum, 0), 0
    -- With its autoscaler a cluster begins with the least, and says no other number.
    local asked = count(obj, number, autoscales and least or 1)
    local most = count(obj, joined(here, { "maxReplicas" }), asked)
    if item.suspend ~= true then replicas = math.max(least, math.min(asked, most)) end
    local one = {
      name = named(item.groupName, "worker-group", index),
      template = object(item.template),
      replicas = product(number, replicas * hosts),
      count = number,
      per = hosts,
    }
    if autoscales then
      one.minAvailable = product(minimum, math.min(least, replicas) * hosts)
      one.minimum, one.minimumPer = minimum, hosts
    end
    found[#found + 1] = one
  end
end
`;

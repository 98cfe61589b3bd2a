/** A group has as many Pods as it refers to, or as it needs at least; who makes them gives no number. */
export const POD_GANG = `
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
`;

/** Each clique as often as its scaling group, and both as often as the whole set. */
export const POD_CLIQUE_SET = `
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
`;

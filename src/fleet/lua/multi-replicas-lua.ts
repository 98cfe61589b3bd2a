import { MOST_PODS } from '../../api/most-pods.ts';
import { COMPONENT_NAMES } from './component-names-lua.ts';

/** Lua function that reads a field. */
export const AT = `local function at(root, path)
  local value = root
  for _, key in ipairs(path) do
    if type(value) ~= "table" then return nil end
    value = value[key]
  end
  return value
end
`;

/** Beginning of every script. A field is a list of keys; numbers in it are list positions, from 1. */
const READING = `
local kube = require("kube")

${AT}
local function put(root, path, value)
  for index = 1, #path - 1 do
    if type(root[path[index]]) ~= "table" then root[path[index]] = {} end
    root = root[path[index]]
  end
  root[path[#path]] = value
end

local function joined(one, other)
  local path = {}
  for _, key in ipairs(one) do path[#path + 1] = key end
  for _, key in ipairs(other) do path[#path + 1] = key end
  return path
end

local function count(root, path, otherwise)
  local value = at(root, path)
  if value == nil or value == "" then return otherwise end
  if type(value) == "string" and string.match(value, "^%d+$") and #value <= 10 then value = tonumber(value) end
  if type(value) ~= "number" or value % 1 ~= 0 or value < 0 or value > ${MOST_PODS} then
    error(table.concat(path, ".") .. " is no number of Pods")
  end
  return value
end

-- A number that others were multiplied to.
local function product(path, value)
  if value > ${MOST_PODS} then error(table.concat(path, ".") .. " makes too many Pods") end
  return value
end

local function text(value)
  if type(value) == "string" then return value end
  return ""
end

local function named(value, unnamed, index)
  local name = text(value)
  if name == "" then return unnamed .. "-" .. string.format("%d", index - 1) end
  return name
end

local function object(value)
  if type(value) == "table" then return value end
  return nil
end

local function items(root, path)
  local list = at(root, path)
  if list == nil then return {} end
  if type(list) ~= "table" or (next(list) ~= nil and list[1] == nil) then
    error(table.concat(path, ".") .. " must be a list")
  end
  for _, item in ipairs(list) do
    if type(item) ~= "table" then error(table.concat(path, ".") .. " must have objects") end
  end
  return list
end

local function templateAt(root, path)
  local template = at(root, path)
  if type(template) ~= "table" then return nil end
  if template.containers ~= nil then return { spec = template } end
  return template
end
`;

/** Lua functions for the shapes in which kinds keep their templates, as far as paths express them. */
export const SHAPE_WAYS = `
local function alone(root, shape, found)
  local template = templateAt(root, shape.template)
  local name = shape.name
  if name == nil then
    name = text(at(template, { "metadata", "name" }))
    if name == "" then name = "main" end
  end
  found[#found + 1] = {
    name = name,
    template = template,
    replicas = shape.replicas and count(root, shape.replicas, 1) or 1,
    minAvailable = shape.minAvailable and count(root, shape.minAvailable, nil) or nil,
    count = shape.replicas,
    minimum = shape.minAvailable,
  }
end

local function list(root, shape, found)
  for index, item in ipairs(items(root, shape.items)) do
    local here = joined(shape.items, { index })
    local number = shape.replicas and joined(here, shape.replicas)
    local least = shape.minAvailable and joined(here, shape.minAvailable)
    found[#found + 1] = {
      name = named(at(item, shape.name), shape.unnamed, index),
      template = templateAt(item, shape.template),
      replicas = number and count(root, number, 1) or 1,
      minAvailable = least and count(root, least, nil) or nil,
      count = number,
      minimum = least,
    }
  end
end

local function roles(root, shape, found)
  local specs, names = at(root, shape.at) or {}, {}
  for role in pairs(specs) do names[#names + 1] = role end
  table.sort(names, function(a, b)
    local first, second = shape.ranks[a] or 1000, shape.ranks[b] or 1000
    if first ~= second then return first < second end
    return a < b
  end)
  local least = shape.elastic and count(root, shape.elastic, nil)
  for _, role in ipairs(names) do
    local number = joined(shape.at, { role, "replicas" })
    local otherwise = 1
    if shape.none[role] then otherwise = 0 end
    local one = {
      name = string.lower(role),
      template = at(specs, { role, "template" }),
      replicas = count(root, number, otherwise),
      count = number,
    }
    if least and one.name == "worker" then one.minAvailable, one.minimum = least, shape.elastic end
    found[#found + 1] = one
  end
end
`;

/** Lua versions of `multiGetReplicas` and `multiReviseReplica`. */
const MULTI = `
local function templatesOf(obj)
  local found = {}
  for _, shape in ipairs(shapes) do shape.way(obj, shape, found) end
  if #found == 0 and type(obj.spec) ~= "table" then error("spec is missing") end
  return found
end

local function giveMinimums(obj, templates)
  local sum = 0
  for _, one in ipairs(templates) do
    one.least = one.minAvailable or one.replicas
    if one.least > one.replicas then error("a minimum is more than there are Pods") end
    sum = sum + one.least
  end
  local total = totalMinimum and count(obj, totalMinimum, 0) or 0
  if total == 0 then return end
  local missing = total - sum
  for _, one in ipairs(templates) do
    if missing > 0 then
      local more = math.min(missing, one.replicas - one.least)
      one.least, missing = one.least + more, missing - more
    end
  end
  for index = #templates, 1, -1 do
    local one = templates[index]
    if missing < 0 and one.minAvailable == nil then
      local less = math.min(-missing, one.least)
      one.least, missing = one.least - less, missing + less
    end
  end
  if missing > 0 then error("a minimum is more than there are Pods") end
end

function MultiGetReplicas(obj)
  local templates, result = templatesOf(obj), {}
  giveNames(templates)
  giveMinimums(obj, templates)
  for index, one in ipairs(templates) do
    result[index] = { name = one.name, replicas = one.replicas, minAvailable = one.least }
    if one.template ~= nil then result[index].requirements = kube.accuratePodRequirements(one.template) end
  end
  return result
end

function MultiReviseReplica(obj, desiredReplicas)
  local templates, asked, edits = templatesOf(obj), {}, {}
  giveNames(templates)
  giveMinimums(obj, templates)
  for _, one in ipairs(desiredReplicas) do asked[one.templateName] = one.replicas end
  for _, one in ipairs(templates) do
    local replicas, per = asked[one.name], one.per or 1
    if replicas ~= nil and replicas ~= one.replicas then
      if one.count == nil then error(one.name .. ": no field says how many there are") end
      if replicas % 1 ~= 0 or replicas < 0 or replicas > ${MOST_PODS} then error(one.name .. ": no number of Pods") end
      if per == 0 or replicas % per ~= 0 then error(one.name .. ": they come " .. string.format("%d", per) .. " at a time") end
      local field, value = table.concat(one.count, "."), replicas / per
      if edits[field] ~= nil and edits[field].value ~= value then error(field .. " cannot have two values") end
      edits[field] = { path = one.count, value = value }
    end
  end
  if next(edits) == nil then return obj end
  for _, edit in pairs(edits) do put(obj, edit.path, edit.value) end
  local sum = 0
  for _, one in ipairs(templatesOf(obj)) do
    sum = sum + one.replicas
    if one.minimum ~= nil and one.minAvailable ~= nil and one.minAvailable > one.replicas then
      local per = one.minimumPer or 1
      put(obj, one.minimum, per == 0 and 0 or math.floor(one.replicas / per))
    end
  end
  if totalMinimum ~= nil and count(obj, totalMinimum, 0) > sum then put(obj, totalMinimum, sum) end
  return obj
end
`;

/**
 * @param ways Lua functions that find the templates of an object
 * @param shapes Lua code that sets `shapes`, each with its function, and `totalMinimum`
 */
export const multiReplicasScript = (ways: string, shapes: string): string =>
  [READING, COMPONENT_NAMES, ways, `\n${shapes}\n`, MULTI].join('').trimStart();

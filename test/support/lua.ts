import { createRequire } from 'node:module';
import type { Json } from '../../src/json/json.ts';

/** As much of fengari, a Lua 5.3 in JavaScript, as is used here; it says nothing of its types. */
interface Fengari {
  readonly lua: {
    lua_tojsstring(state: object, index: number): string;
    lua_pcall(state: object, given: number, found: number, handler: number): number;
    lua_settop(state: object, index: number): void;
    readonly LUA_OK: number;
  };
  readonly lauxlib: {
    luaL_newstate(): object;
    luaL_loadstring(state: object, text: Uint8Array): number;
  };
  readonly lualib: { luaL_openlibs(state: object): void };
  to_luastring(text: string): Uint8Array;
}

/**
 * What Karmada's Lua has beside the language, as far as the texts call it: of a Pod what its first container asks for, and
 * which nodes it may go to.
 */
const KUBE = `
package.preload["kube"] = function()
  local function copy(value)
    if type(value) ~= "table" then return value end
    local result = {}
    for key, item in pairs(value) do result[key] = copy(item) end
    return result
  end
  local function filled(value)
    if type(value) == "table" and next(value) ~= nil then return copy(value) end
    return nil
  end
  return {
    accuratePodRequirements = function(template)
      if type(template) ~= "table" then error("a template is a table") end
      local spec = template.spec or {}
      local container, request = (spec.containers or {})[1] or {}, {}
      for name, amount in pairs((container.resources or {}).requests or {}) do request[name] = tostring(amount) end
      return filled({
        resourceRequest = filled(request),
        nodeClaim = filled({ nodeSelector = filled(spec.nodeSelector), tolerations = filled(spec.tolerations) }),
        priorityClassName = spec.priorityClassName,
      })
    end,
  }
end
-- Of 5.1, which Karmada runs, as much as 5.3 has beyond it.
utf8, table.move, table.pack, table.unpack, math.type, math.tointeger, string.pack = nil, nil, nil, nil, nil, nil, nil
-- What Karmada takes away or refuses, so that no script can do harm.
io, debug, coroutine, string.gsub, string.rep, string.dump = nil, nil, nil, nil, nil, nil
load, loadfile, dofile, loadstring, setmetatable, getmetatable, rawget, rawset, rawequal, collectgarbage = nil
`;

/** As Karmada: an empty table is a list, and one that is there twice is refused. */
const ENCODE = `
function encode(value, seen)
  seen = seen or {}
  if type(value) == "number" then return string.format(value % 1 == 0 and "%.0f" or "%.17g", value) end
  if type(value) ~= "table" then
    if type(value) == "string" then return '"' .. value .. '"' end
    return value == nil and "null" or tostring(value)
  end
  if seen[value] then error("cannot encode recursively nested tables to JSON") end
  seen[value] = true
  if next(value) == nil then return "[]" end
  local parts = {}
  if value[1] ~= nil then
    for index, item in ipairs(value) do parts[index] = encode(item, seen) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, item in pairs(value) do parts[#parts + 1] = '"' .. key .. '":' .. encode(item, seen) end
  return "{" .. table.concat(parts, ",") .. "}"
end
`;

/** A value as Lua has it: null is nothing. */
export function luaText(value: Json): string {
  if (value === null) return 'nil';
  if (Array.isArray(value)) return `{ ${(value as readonly Json[]).map(luaText).join(', ')} }`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `[${JSON.stringify(key)}] = ${luaText(item)}`)
    .join(', ')} }`;
}

/**
 * What calls come to, one after the other, once the script has run. Text that has to be escaped in JSON is not passed on.
 * @throws Error with the message of Lua
 */
export function lua(script: string): (call: string) => Json {
  const fengari = createRequire(import.meta.url)('fengari') as Fengari;
  const { lua: api, lauxlib, lualib } = fengari;
  const state = lauxlib.luaL_newstate();
  lualib.luaL_openlibs(state);
  const run = (text: string): string => {
    const failed =
      lauxlib.luaL_loadstring(state, fengari.to_luastring(text)) !== api.LUA_OK ||
      api.lua_pcall(state, 0, 1, 0) !== api.LUA_OK;
    const said = api.lua_tojsstring(state, -1);
    api.lua_settop(state, 0);
    if (failed) throw new Error(said);
    return said;
  };
  run(`${KUBE}\n${script}\n${ENCODE}\nreturn ''`);
  return (call) => JSON.parse(run(`return encode(${call})`)) as Json;
}

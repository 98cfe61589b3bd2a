/**
 * {@link componentNames} in Lua. It uses no bit operations, which Karmada's Lua 5.1 lacks, and no `string.gsub`, which
 * Karmada disables.
 */
export const COMPONENT_NAMES = `
local function hash(text)
  local value = 2166136261
  for index = 1, #text do
    local byte, low, mixed, bit = string.byte(text, index), value % 256, 0, 1
    for _ = 1, 8 do
      if byte % 2 ~= low % 2 then mixed = mixed + bit end
      byte, low, bit = math.floor(byte / 2), math.floor(low / 2), bit * 2
    end
    value = value - value % 256 + mixed
    value = (value * 403 + (value % 256) * 16777216) % 4294967296
  end
  return string.format("%04x%04x", math.floor(value / 65536), value % 65536)
end

local function cut(name, tail)
  return string.match(string.sub(name, 1, 31 - #tail), "^(.-)[-_.]*$") .. "-" .. tail
end

local function giveNames(templates)
  local plain, taken = {}, {}
  for _, template in ipairs(templates) do
    if #template.name <= 32 then plain[template.name] = true end
  end
  for index, template in ipairs(templates) do
    local name, again = template.name, 0
    local unique = #name <= 32 and name or cut(name, hash(name))
    while taken[unique] or (unique ~= name and plain[unique]) do
      local tail = string.format("%d", index - 1)
      if again > 0 then tail = tail .. "-" .. string.format("%d", again) end
      unique, again = cut(name, tail), again + 1
    end
    taken[unique], template.name = true, unique
  end
end
`;

-- Follows what keeps tasks where they are up to the tasks that nothing keeps but themselves, nearest first, until one
-- is found that is lost. One call does a bounded part of the way; what is left comes back as places to go on from.
-- ARGV: 1 dependencies to look at, at most, 2 places: each a task's ID, the ID of what it stands behind below the first
--       task ('----------' for that one itself), 1 when something above it was found already, and the number of its
--       first dependency that was not looked at, in 6 digits
-- Returns 'ok', the ends that were found ({ID, what it stands behind, code} each), the IDs of all tasks that were seen,
-- and the places that are left.
local PLACE = 27
local none = '----------'
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end

local places, known, seen, ends = {}, {}, {}, {}
local left, isFound = tonumber(ARGV[1]), false
for at = 1, #ARGV[2], PLACE do
  local text = ARGV[2]:sub(at, at + PLACE - 1)
  places[#places + 1] = { id = text:sub(1, 10), via = text:sub(11, 20), has = text:sub(21, 21) == '1', from = tonumber(text:sub(22)) }
end

local function look(id, cost)
  if known[id] == nil then
    left = left - cost
    known[id] = load_task(id) or false
  else
    -- What was looked at before costs little.
    left = left - 0.1
  end
  return known[id]
end

-- May something stand above it? A cancelled task may have been lost with what it depended on.
local function has_above(T)
  if T[CODE] == CANCELLED then return T[ON_LOST] == 1 end
  return T[NUMBER] > 0 and T[HOLD] == '' and (T[CODE] == WAITING or T[CODE] == UNREACHABLE)
end

local function is_above(T, D, condition)
  local state = edge_state(D[CODE], condition)
  if T[CODE] == WAITING then return state == 'u' end
  return state == 'l' and (T[CODE] ~= CANCELLED or D[TASK_ENDED] <= T[TASK_ENDED])
end

local function add_end(id, via, T)
  ends[#ends + 1] = { id, via, T[CODE] }
  isFound = isFound or T[CODE] == FAILED or T[CODE] == CANCELLED
end

local function see(id, via, D)
  if seen[id] then return end
  seen[id] = true
  seen[#seen + 1] = id
  if has_above(D) then places[#places + 1] = { id = id, via = via, has = false, from = 0 } else add_end(id, via, D) end
end

local first = 1
while places[first] and left > 0 and not isFound do
  local place = places[first]
  -- It was paid for when it was seen, maybe by an earlier call.
  local T = look(place.id, 0)
  local deps = T and has_above(T) and redis.call('HGET', depsKey, place.id) or ''
  local count = #deps / 11
  while place.from < count and left > 0 and not isFound do
    local at = place.from * 11
    local id = deps:sub(at + 1, at + 10)
    local D = look(id, 1)
    if D and is_above(T, D, deps:sub(at + 11, at + 11)) then
      place.has = true
      see(id, place.via == none and id or place.via, D)
    end
    place.from = place.from + 1
  end
  if place.from >= count and not isFound then
    if T and not place.has and place.via ~= none then add_end(place.id, place.via, T) end
    first = first + 1
  end
end
local rest = {}
for n = first, #places do
  local place = places[n]
  rest[#rest + 1] = place.id .. place.via .. (place.has and '1' or '0') .. string.format('%06d', place.from)
end
return { 'ok', ends, table.concat(seen), table.concat(rest) }

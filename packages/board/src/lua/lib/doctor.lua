-- What `doctor` looks at. Every check sees one state, and mends, when ARGV[1] is '1', in the same script; what it mends
-- is derived from other state, never a status or a result.
local mending = ARGV[1] == '1'
local findings = {}

-- Notes that `found` stands where `expected` belongs; `mend`, if there is a way, puts that right.
local function report(check, id, found, expected, mend)
  if mend and mending then mend() end
  findings[#findings + 1] = { check, id, tostring(found), tostring(expected), mend and 1 or 0,
    mend and mending and 1 or 0 }
end

local ways = {
  [QUEUED] = 'queued', [WAITING] = 'waiting', [SCHEDULED] = 'scheduled', [UNREACHABLE] = 'unreachable', [HELD] = 'held',
  [PROPOSAL] = 'proposal', [REJECTED] = 'rejected',
}

-- A code in words: the status, and how far a pending task is from being claimed.
local function code_text(code)
  if code < QUEUED then return 'ready, priority ' .. code end
  if code >= READY_OUTSIDE and code < REJECTED then return 'ready for people, priority ' .. code - READY_OUTSIDE end
  return ways[code] or status_of(code)
end

local function unmet_text(unmet)
  local lost = math.floor(unmet / LOST_UNIT)
  return unmet - lost * LOST_UNIT .. ' unmet, ' .. lost .. ' lost'
end

-- How often `entry` stands in a text of entries `size` long, and what stands behind the first of them.
local function entries_of(text, entry, size)
  local times, behind, at = 0, '', 1
  while true do
    local found = text:find(entry, at, true)
    if not found then return times, behind end
    if (found - 1) % size == 0 then
      if times == 0 then behind = text:sub(found + #entry, found + size - 1) end
      times = times + 1
      at = found + size
    else
      at = found + 1
    end
  end
end

local function put(key, field, text)
  if text == '' then redis.call('HDEL', key, field) else redis.call('HSET', key, field, text) end
end

-- A task's record, or nil when there is none; a second value says that there is one which nobody can read.
local function readable(id)
  local packed = redis.call('HGET', hotKey, id)
  if not packed then return nil end
  local isPacked, T = pcall(cmsgpack.unpack, packed)
  local isTask = isPacked and type(T) == 'table' and #T >= TASK_CREATED and type(T[VERSION]) == 'number'
    and type(T[CODE]) == 'number' and T[CODE] >= 0 and T[CODE] <= LAST_CODE and T[CODE] % 1 == 0
    and type(T[NUMBER]) == 'number' and type(T[ATTEMPT]) == 'number' and type(T[OWNER]) == 'string'
  if not isTask then return nil, true end
  return T
end

-- The task of a number by the index, for when its place in the order tells nothing.
local function task_of_number(number)
  for code = 0, LAST_CODE do
    local score = int(code * BAND + number)
    local id = redis.call('ZRANGEBYSCORE', indexKey, score, score, 'LIMIT', 0, 1)[1]
    local T = id and readable(id)
    if T and T[NUMBER] == number then return id, T end
  end
  return nil
end

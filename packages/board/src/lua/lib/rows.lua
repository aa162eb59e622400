-- Rows for readers: everything of one task as a flat list that records.ts parses.

-- At most this many dependencies are looked at to name the ones a task waits for, and this many are named.
local BECAUSE_SCANNED, BECAUSE_NAMED = 500, 20
-- ... and over all the rows of one answer.
local scansLeft = 2000

-- The dependencies that keep a pending task from being ready: lost ones when unreachable, else unmet ones.
local function open_dependencies(code, deps)
  local found = {}
  if (code ~= WAITING and code ~= UNREACHABLE) or not deps then return found end
  local wanted = code == UNREACHABLE and 'l' or 'u'
  for i = 0, math.min(#deps / 11, BECAUSE_SCANNED, scansLeft) - 1 do
    scansLeft = scansLeft - 1
    local id, condition = deps:sub(i * 11 + 1, i * 11 + 10), deps:sub(i * 11 + 11, i * 11 + 11)
    local T = load_task(id)
    if T and edge_state(T[CODE], condition) == wanted then
      found[#found + 1] = id
      if #found == BECAUSE_NAMED then break end
    end
  end
  return found
end

-- One task's row: few elements, for a client takes long to read many. `full` adds the long texts. Absent fields are
-- empty strings, the state in figures is one JSON text: [record, open dependencies, usage or 0, lease end or 0, sums of
-- its spend or 0].
local function row(B, id, T, full)
  T[MAX_ATTEMPTS] = attempts_of(B, T)
  local deps = redis.call('HGET', depsKey, id)
  local usage = redis.call('HGET', usageKey, id)
  local spent = T[ATTEMPT] > 0 and redis.call('HGET', spendKey, id)
  local open = open_dependencies(T[CODE], deps)
  return {
    id,
    cjson.encode({ T, open[1] and open or 0, usage and cmsgpack.unpack(usage) or 0,
      tonumber(redis.call('ZSCORE', leaseKey, id) or 0), spent and cmsgpack.unpack(spent) or 0 }),
    redis.call('HGET', headKey, id) or '',
    redis.call('HGET', outcomeKey, id) or '',
    full and redis.call('HGET', bodyKey, id) or '',
    full and redis.call('HGET', outputKey, id) or '',
    deps or '',
    redis.call('HGET', progressKey, id) or '',
  }
end

local function last_event()
  local last = redis.call('XREVRANGE', eventsKey, '+', '-', 'COUNT', 1)
  return last[1] and last[1][1] or '0-0'
end

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

-- What the attempts on a task have left: usage, sums of its spend (0 for none), outcome, output, progress.
local function traces(id, full)
  local usage, spent = redis.call('HGET', usageKey, id), redis.call('HGET', spendKey, id)
  return usage and cmsgpack.unpack(usage) or 0, spent and cmsgpack.unpack(spent) or 0,
    redis.call('HGET', outcomeKey, id) or '', full and redis.call('HGET', outputKey, id) or '',
    redis.call('HGET', progressKey, id) or ''
end

-- One task's row, which rows.ts reads. `full` adds the long texts; absent texts are empty, absent lists 0. Figures go as
-- they are: to write them as JSON takes longer than everything else here. `leaseUntil`: of the attempt that has just
-- begun, '' for none; absent for readers. Nobody has read or written anything for that attempt, and for most there was none
-- before it.
local function row(B, id, T, full, leaseUntil)
  local usage, spent, outcome, output, progress = 0, 0, '', '', ''
  if T[ATTEMPT] > (leaseUntil and 1 or 0) then usage, spent, outcome, output, progress = traces(id, full) end
  leaseUntil = leaseUntil or redis.call('ZSCORE', leaseKey, id) or ''
  local deps = redis.call('HGET', depsKey, id)
  local open = open_dependencies(T[CODE], deps)
  return {
    id,
    { T[VERSION], T[CODE], T[NUMBER], T[PRIORITY], T[EXECUTOR], T[POLICY], T[ATTEMPT], T[OWNER], T[FAILURES],
      attempts_of(B, T), T[STRIKES], T[NOT_BEFORE], T[HOLD], T[UPDATED], T[TASK_STARTED], T[TASK_ENDED], T[FRESH],
      T[ON_LOST], T[TASK_CREATED] },
    open[1] and open or 0, usage, spent, leaseUntil,
    redis.call('HGET', headKey, id) or '', outcome, full and redis.call('HGET', bodyKey, id) or '', output, deps or '',
    progress,
  }
end

local function last_event()
  local last = redis.call('XREVRANGE', eventsKey, '+', '-', 'COUNT', 1)
  return last[1] and last[1][1] or '0-0'
end

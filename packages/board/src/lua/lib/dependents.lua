-- What a change means for the tasks behind it: edges, the counters of unmet dependencies, readiness.

-- Edges that one script settles at most, over all the tasks that it ends; the rest goes on in slices through the
-- outbox. Those of a task that was lost count double, for each of their dependents gets an event.
local SLICE = 500
local edgesLeft = SLICE

-- The state of an edge: m(et), l(ost) or u(nmet), by the dependency's code and the edge's condition.
local function edge_state(code, condition)
  if not is_terminal(code) then return 'u' end
  if condition == 's' or code == COMPLETED then return 'm' end
  return 'l'
end

local UNITS = { u = 1, l = LOST_UNIT, m = 0 }

local function kind_of(unmet)
  if unmet >= LOST_UNIT then return 'lost' end
  return unmet > 0 and 'unmet' or 'free'
end

-- What a pending task's new code brings with it: its place in due, or the news that it can't be reached.
local function settle_down(B, id, T, because)
  if T[CODE] == SCHEDULED then redis.call('ZADD', dueKey, int(T[NOT_BEFORE]), id) end
  if T[CODE] ~= UNREACHABLE or is_ended(B) or B[CANCELLING] == 1 or B[WINDING_UP] > 0 then return end
  if T[ON_LOST] == 1 then
    if redis.call('HSET', slicesKey, 'lost:' .. id, 1) == 1 then B[SLICES] = B[SLICES] + 1 end
    hand_on('lost', id, 0, 0)
    return
  end
  local event = emit('task.unreachable', id, T, 'harness:board', because and cjson.encode({ because = because }))
  news(B, event, false)
end

-- The code that a pending task gets by its new unmet count, or nil when it keeps its own.
local function turned_code(T, unmet)
  if not is_pending(T[CODE]) then return nil end
  local code = rest_code(T, unmet)
  if code == T[CODE] or (T[CODE] == QUEUED and code <= READY + 4) then return nil end
  return code
end

-- Adds `by[n]` to the unmet counter of `dependents[n]`, each of them once. Returns those that this may turn, and
-- their counters: one command for all, since a slice has many.
local function count_unmet(dependents, by)
  local unmets, written, turning, open = redis.call('HMGET', unmetKey, unpack(dependents)), {}, {}, {}
  for n, dependent in ipairs(dependents) do
    local before = tonumber(unmets[n] or 0)
    local unmet = before + by[n]
    written[n * 2 - 1], written[n * 2] = dependent, int(unmet)
    if kind_of(before) ~= kind_of(unmet) then
      turning[#turning + 1] = dependent
      open[#open + 1] = unmet
    end
  end
  redis.call('HSET', unmetKey, unpack(written))
  return turning, open
end

-- Moves edges to `dependents`; their readiness follows.
local function move_edges(B, dependents, by, because)
  if #dependents == 0 then return end
  local turning, open = count_unmet(dependents, by)
  if #turning == 0 then return end
  local packed = redis.call('HMGET', hotKey, unpack(turning))
  local hot, scores, turned = {}, {}, {}
  for n, dependent in ipairs(turning) do
    local T = cmsgpack.unpack(packed[n])
    local code = turned_code(T, open[n])
    if code then
      if T[CODE] == QUEUED then redis.call('ZREM', windowKey, dependent) end
      if T[CODE] == SCHEDULED then redis.call('ZREM', dueKey, dependent) end
      count(B, T[CODE], -1)
      count(B, code, 1)
      T[CODE] = code
      local at = #hot
      hot[at + 1], hot[at + 2] = dependent, cmsgpack.pack(T)
      scores[at + 1], scores[at + 2] = int(code * BAND + T[NUMBER]), dependent
      if code == SCHEDULED or code == UNREACHABLE then turned[#turned + 1] = { dependent, T } end
    end
  end
  if #hot == 0 then return end
  redis.call('HSET', hotKey, unpack(hot))
  redis.call('ZADD', indexKey, unpack(scores))
  for _, each in ipairs(turned) do settle_down(B, each[1], each[2], because) end
end

-- Sets the edges of `id`'s dependents from `start` (0-based) to its state now, as many as this script has left.
-- Setting to a level instead of adding a delta makes repeating it harmless. Returns where it stopped, or nil at the end.
local function settle_from(B, id, code, start)
  local edges = redis.call('HGET', edgesKey, id)
  if not edges then return nil end
  local total = #edges / 12
  local cost = edge_state(code, 'c') == 'l' and 2 or 1
  local stop = math.min(total, start + math.ceil(edgesLeft / cost))
  edgesLeft = math.max(0, edgesLeft - (stop - start) * cost)
  local parts, moved, by = {}, {}, {}
  for i = start, stop - 1 do
    local at = i * 12 + 1
    local dependent, condition, state = edges:sub(at, at + 9), edges:sub(at + 10, at + 10), edges:sub(at + 11, at + 11)
    local wanted = edge_state(code, condition)
    if wanted ~= state then
      moved[#moved + 1] = dependent
      by[#by + 1] = UNITS[wanted] - UNITS[state]
    end
    parts[#parts + 1] = dependent .. condition .. wanted
  end
  move_edges(B, moved, by, id)
  redis.call('HSET', edgesKey, id, edges:sub(1, start * 12) .. table.concat(parts) .. edges:sub(stop * 12 + 1))
  return stop < total and stop or nil
end

-- Tells the dependents of `id`, whose code has just become or ceased to be terminal.
local function settle(B, id, code)
  local rest = settle_from(B, id, code, 0)
  if not rest then return end
  -- One slice task a dependency: a new settle while one is under way starts it over at the new state.
  if redis.call('HSET', slicesKey, id, int(rest)) == 1 then B[SLICES] = B[SLICES] + 1 end
  hand_on('settle', id, 0, 0)
end

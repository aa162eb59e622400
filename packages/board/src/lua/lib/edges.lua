-- Edges of a dependency graph that changes: the dependents' list of a task and the counters that follow it.

local function link(dependent, on, condition, state)
  redis.call('HSET', edgesKey, on, (redis.call('HGET', edgesKey, on) or '') .. dependent .. condition .. state)
end

-- Slices go by the number of an edge: one that was taken out moves those behind it up, so they begin anew.
local function restart_slices(on)
  if redis.call('HEXISTS', slicesKey, on) == 1 then redis.call('HSET', slicesKey, on, '0') end
  local noted = redis.call('HGET', slicesKey, 'cascade:' .. on)
  if not noted then return end
  local note = cjson.decode(noted)
  note.start = 0
  redis.call('HSET', slicesKey, 'cascade:' .. on, cjson.encode(note))
end

-- Takes an edge out of the list of `on`; returns the state it had. A slice under way there starts over, for what it
-- has passed may have moved.
local function unlink(dependent, on)
  local edges = redis.call('HGET', edgesKey, on) or ''
  local at = 1
  while true do
    local found = edges:find(dependent, at, true)
    if not found then return 'm' end
    if (found - 1) % 12 == 0 then
      local state = edges:sub(found + 11, found + 11)
      local rest = edges:sub(1, found - 1) .. edges:sub(found + 12)
      if rest == '' then redis.call('HDEL', edgesKey, on) else redis.call('HSET', edgesKey, on, rest) end
      restart_slices(on)
      return state
    end
    at = found + 1
  end
end

-- Gives a task its readiness anew after holds, dependencies, priority or executor changed. The caller saves it.
local function replace(B, id, T)
  if not is_pending(T[CODE]) and T[CODE] ~= PROPOSAL then return end
  local before = T[CODE]
  local code = rest_code(T, redis.call('HGET', unmetKey, id))
  if before == QUEUED and code == READY + T[PRIORITY] then return end
  if before == code then return end
  if before == QUEUED then redis.call('ZREM', windowKey, id) end
  if before == SCHEDULED then redis.call('ZREM', dueKey, id) end
  recode(B, id, T, code)
  save_task(id, T)
  settle_down(B, id, T)
end

-- Replaces the dependencies of `id` by `wanted`, a list of { task ID, 'c' | 's' }. The caller has checked that no
-- cycle comes of it. Returns them in their stored form.
local function set_dependencies(B, id, wanted)
  local old, kept, change, text = redis.call('HGET', depsKey, id) or '', {}, 0, {}
  local conditionOf = {}
  for _, edge in ipairs(wanted) do conditionOf[edge[1]] = edge[2] end
  for at = 1, #old, 11 do
    local on, condition = old:sub(at, at + 9), old:sub(at + 10, at + 10)
    if conditionOf[on] == condition then
      kept[on] = true
    else
      change = change - UNITS[unlink(id, on)]
    end
  end
  for n, edge in ipairs(wanted) do
    local on, condition = edge[1], edge[2]
    text[n] = on .. condition
    if not kept[on] then
      local state = edge_state(load_task(on)[CODE], condition)
      link(id, on, condition, state)
      change = change + UNITS[state]
    end
  end
  local stored = table.concat(text)
  if stored == '' then redis.call('HDEL', depsKey, id) else redis.call('HSET', depsKey, id, stored) end
  if redis.call('HINCRBY', unmetKey, id, int(change)) == 0 then redis.call('HDEL', unmetKey, id) end
  B[GRAPH] = B[GRAPH] + 1
  return stored
end

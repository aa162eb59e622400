-- Checks a task's dependencies from its own side: each lists it once, the unmet counter is the sum of those edges, and a
-- pending task's readiness follows from that. In one script, for readiness by a wrong counter would set tasks free.
-- ARGV: 1 mend 0|1, 2 task ID
-- Returns 'ok', findings.
local id = ARGV[2]
local B, T = load_board(), readable(id)
local refused = refuse_board(B)
if refused then return refused end
if not T then return { 'ok', findings } end
local deps, sum, isWhole = redis.call('HGET', depsKey, id) or '', 0, true
for at = 1, #deps, 11 do
  local on, condition = deps:sub(at, at + 9), deps:sub(at + 10, at + 10)
  local D = readable(on)
  if not D then
    isWhole = false
    report('deps', id, 'depends on ' .. on, 'a task of this board')
  else
    local edges = redis.call('HGET', edgesKey, on) or ''
    local times, state = entries_of(edges, id .. condition, 12)
    -- Any other state of an edge is reported from the dependency's side.
    if redis.call('HEXISTS', slicesKey, on) == 0 then state = edge_state(D[CODE], condition) end
    if times ~= 1 then
      state = edge_state(D[CODE], condition)
      report('edges', id, on .. ' lists it ' .. times .. ' times', 'once', function()
        for _ = 1, times do unlink(id, on) end
        link(id, on, condition, state)
      end)
    end
    sum = sum + (UNITS[state] or 0)
  end
end
-- What a dependency that is gone was worth nobody knows: better that the task waits for people.
if not isWhole then return { 'ok', findings } end
local unmet = tonumber(redis.call('HGET', unmetKey, id)) or 0
if unmet ~= sum then
  report('unmet', id, unmet_text(unmet), unmet_text(sum), function()
    put(unmetKey, id, sum == 0 and '' or int(sum))
  end)
end
local expected = other_readiness(id, T, sum)
if expected then
  report('readiness', id, code_text(T[CODE]), code_text(expected), function()
    replace(B, id, T)
    save_board(B)
  end)
end
return { 'ok', findings }

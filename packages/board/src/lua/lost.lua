-- Cancels a pending task whose dependency is lost and that asked for it (onDependencyLost: "cancel").
-- ARGV: 1 task ID
local id = ARGV[1]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if redis.call('HDEL', slicesKey, 'lost:' .. id) == 0 then return { 'ok' } end
B[SLICES] = B[SLICES] - 1
if T and T[CODE] == UNREACHABLE and not is_ended(B) then
  -- Edited to hold meanwhile: it is unreachable, and that is still to be said.
  if T[ON_LOST] == 1 then
    local lost = open_dependencies(UNREACHABLE, redis.call('HGET', depsKey, id))[1]
    cancel_task(B, id, T, 'a dependency was lost', 'harness:board', { because = lost })
  else
    settle_down(B, id, T)
  end
end
check_end(B, last_event())
dispatch(B)
save_board(B)
return { 'ok' }

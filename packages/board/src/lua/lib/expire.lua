-- Ends an attempt whose lease is over. An end without growth is a strike; one with a tool started and not ended
-- always is (it may be the tool that kills the worker), and growth does not wipe that out. Holders outside get none.
local function expire_attempt(B, id, T, strikes)
  local by = 'harness:sweeper'
  local open = T[OPEN_TOOLS] > 0
  local reason = open and 'the worker was lost while a tool ran' or 'the worker was lost'
  if not is_built_in(T[OWNER]) then reason = 'the lease ran out' end
  if not is_built_in(T[OWNER]) then
    T[STRIKES] = 0
  elseif T[GROWTH] == 0 or open then
    T[STRIKES] = T[STRIKES] + 1
    if open then T[STICKY] = 1 end
  elseif T[STICKY] == 0 then
    T[STRIKES] = 0
  end
  if T[STRIKES] >= strikes then
    local times = T[STRIKES]
    fail_attempt(B, id, T, 'infra', reason .. ' ' .. times .. ' times in a row', false, 0, by)
    return
  end
  end_attempt(id, T, 'expired', '', reason)
  rest(B, id, T)
  local event = emit('task.expired', id, T, by, cjson.encode({ reason = reason, strikes = T[STRIKES] }))
  save_task(id, T)
  if T[NUMBER] > 0 then check_end(B, event) end
  save_board(B)
end

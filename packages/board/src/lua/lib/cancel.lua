-- Ends one open task as cancelled; a running attempt ends with it. Dependents are told.
local function cancel_task(B, id, T, reason, by)
  if T[CODE] == IN_PROGRESS then
    end_attempt(id, T, 'cancelled', 'cancelled', reason)
  else
    redis.call('ZREM', windowKey, id)
    if T[CODE] == SCHEDULED then redis.call('ZREM', dueKey, id) end
    T[VERSION] = T[VERSION] + 1
    T[UPDATED] = now()
  end
  T[TASK_ENDED] = now()
  recode(B, id, T, CANCELLED)
  save_task(id, T)
  local event = emit('task.cancelled', id, T, by, cjson.encode({ reason = reason }))
  if T[NUMBER] > 0 then settle(B, id, CANCELLED) end
  return event
end

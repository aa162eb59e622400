-- Ends one open task as cancelled; a running attempt ends with it. Dependents are told. Saves the task. `cause`, for one
-- that is cancelled because of another: { because = a lost dependency } or { with = the task whose cancel takes it along }.
local function cancel_task(B, id, T, reason, by, cause)
  if T[CODE] == IN_PROGRESS then
    end_attempt(id, T, 'cancelled', 'cancelled', reason)
  else
    redis.call('ZREM', windowKey, id)
    redis.call('ZREM', leaseKey, id)
    if T[CODE] == SCHEDULED or T[CODE] == IN_REVIEW then redis.call('ZREM', dueKey, id) end
    T[TOKEN] = ''
    T[VERSION] = T[VERSION] + 1
    T[UPDATED] = now()
  end
  T[TASK_ENDED] = now()
  T[HOLD] = ''
  recode(B, id, T, T[CODE] == PROPOSAL and REJECTED or CANCELLED)
  save_task(id, T)
  local extra = cause or {}
  extra.reason = reason
  local event = emit('task.cancelled', id, T, by, cjson.encode(extra))
  hand_on_journal(id, T)
  if T[NUMBER] > 0 then settle(B, id, T[CODE]) end
  pass_messages(B, id, T)
  return event
end

-- Tasks that one script cancels because of another one, at most.
local CASCADE_MOST = 100

-- Notes that the dependents of `id` are to be cancelled from the edge number `start` on, with the task `first`.
local function cascade_on(B, id, start, reason, by, first)
  if redis.call('HEXISTS', edgesKey, id) == 0 then return end
  local note = cjson.encode({ start = start, reason = reason, by = by, first = first })
  if redis.call('HSET', slicesKey, 'cascade:' .. id, note) == 1 then B[SLICES] = B[SLICES] + 1 end
  hand_on('cascade', id, 0, 0)
end

-- Cancels the open tasks that depend on `id` over `completed` edges; each of them with dependents of its own becomes
-- an outbox entry. Cancelling what is cancelled already changes nothing. Returns where it stopped, or nil at the end.
local function cascade_from(B, id, start, reason, by, first)
  local edges = redis.call('HGET', edgesKey, id) or ''
  local total, done, at = #edges / 12, 0, start
  while at < total and done < CASCADE_MOST do
    local dependent, condition = edges:sub(at * 12 + 1, at * 12 + 10), edges:sub(at * 12 + 11, at * 12 + 11)
    local T
    if condition == 'c' then T = load_task(dependent) end
    if T and not is_terminal(T[CODE]) then
      cancel_task(B, dependent, T, reason, by, { with = first })
      cascade_on(B, dependent, 0, reason, by, first)
      done = done + 1
    end
    at = at + 1
  end
  return at < total and at or nil
end

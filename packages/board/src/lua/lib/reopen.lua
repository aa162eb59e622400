-- The dependents of a task that have started already, of the first SLICE.
local function started_dependents(id)
  local started, edges = {}, redis.call('HGET', edgesKey, id) or ''
  for at = 1, math.min(#edges, SLICE * 12), 12 do
    local dependent = edges:sub(at, at + 9)
    local code = load_task(dependent)[CODE]
    if not is_pending(code) and not is_outside(code) and code ~= CANCELLED then started[#started + 1] = dependent end
  end
  return started
end

-- A terminal task becomes pending again: failures and strikes at zero, its dependents wait for it anew. A failed one
-- begins its conversation afresh, another goes on with it. `isTold`: the agent is told something new with it. Returns the
-- dependents that have started already.
local function reopen_task(B, id, T, reason, by, isTold)
  T[VERSION] = T[VERSION] + 1
  T[FAILURES], T[STRIKES], T[STICKY], T[NOT_BEFORE], T[TASK_ENDED] = 0, 0, 0, 0, 0
  T[UPDATED], T[HOLD], T[OWNER] = now(), '', ''
  redis.call('HDEL', outcomeKey, id)
  redis.call('HDEL', outputKey, id)
  if T[NUMBER] == 0 then
    redis.call('HDEL', jobKey, 'leadFailure')
    if B[PLAN] == 2 then
      -- People were asked because it had failed; now it plans again.
      B[PLAN], B[STATUS] = 1, 'planning'
      emit('job.planning', '', nil, by)
    end
    mark_lost(id, 0)
    queue_lead(T)
    save_task(id, T)
    emit('task.reopened', id, T, by, cjson.encode({ reason = reason }))
    return {}
  end
  forget_calls(id)
  local started = started_dependents(id)
  recode(B, id, T, rest_code(T, redis.call('HGET', unmetKey, id)))
  save_task(id, T)
  emit('task.reopened', id, T, by, cjson.encode({ reason = reason, isTold = isTold or nil }))
  settle(B, id, T[CODE])
  settle_down(B, id, T)
  return started
end

-- Opens an ended job again. Its lead, if it ended well and is not itself what is reopened, waits for news: the result of
-- its finish_job.
local function reopen_job(B, by, reopensLead)
  if not is_ended(B) then return end
  B[ENDED], B[CANCELLING], B[FAILED_SINCE], B[ACTIVE_MS], B[ACTIVE_FROM] = 0, 0, 0, 0, 0
  B[WINDING_UP] = 0
  B[REASON] = pause_reason(B)
  if not is_paused(B) then start_clock(B) end
  B[STATUS] = 'running'
  redis.call('HDEL', jobKey, 'result', 'endsEarly')
  local event = emit('job.reopened', '', nil, by)
  -- Its archive is no longer its own.
  hand_on('archive', '', 0, 0)
  if B[LEAD] == '' then return end
  local T = load_task(B[LEAD])
  if T[CODE] ~= COMPLETED and T[CODE] ~= CANCELLED then return end
  B[CURSOR] = event
  if reopensLead then return end
  T[VERSION] = T[VERSION] + 1
  T[HOLD], T[OWNER], T[TASK_ENDED], T[UPDATED] = 'news', '', 0, now()
  mark_lost(B[LEAD], 0)
  T[CODE] = WAITING
  save_task(B[LEAD], T)
  emit('task.reopened', B[LEAD], T, by)
end

-- The calls of a holder: who it is, repeats, and how an attempt ends.

local REPEATS_KEPT = 64

-- Is `token` one that this task ever gave? A token is "<attempt>-<secret>", so one field of attempts tells.
local function is_known_token(id, token)
  local attempt = token:match('^(%d+)%-')
  if not attempt then return false end
  local packed = redis.call('HGET', attemptsKey, id .. ':' .. attempt)
  return packed and cmsgpack.unpack(packed)[1] == token or false
end

-- What a refusal says of the attempt whose known token is outdated: its number, outcome and holder, and how the job
-- ended when nothing of it can be claimed any more.
local function lost_attempt(B, id, token)
  local attempt = token:match('^(%d+)%-')
  local record = cmsgpack.unpack(redis.call('HGET', attemptsKey, id .. ':' .. attempt))
  local job = (is_ended(B) or B[CANCELLING] == 1) and B[STATUS] or nil
  return { lost = tonumber(attempt), lostBy = record[2], outcome = record[5], job = job }
end

-- The calls of a task that were carried out, read once a script.
local callsOf = {}
local function calls_of(id)
  if not callsOf[id] then
    local packed = redis.call('HGET', repeatsKey, id)
    callsOf[id] = packed and cmsgpack.unpack(packed) or {}
  end
  return callsOf[id]
end

-- Was this call carried out before? A call's name is "<request ID>\0<action>", with a hash of its content where other
-- content is another call (call-name.ts). 'same': yes; 'other': its request ID was used for another call; or nil.
local function find_call(id, name)
  if name == '' then return nil end
  local ends = name:find('\0', 1, true)
  local prefix, requestId = name:sub(1, ends), name:sub(1, ends - 1)
  for _, seen in ipairs(calls_of(id)) do
    -- An older writer kept the request ID alone.
    if seen == name or seen == requestId then return 'same' end
    if seen:sub(1, ends) == prefix then return 'other' end
  end
  return nil
end

-- Remembers the call as done; only the last REPEATS_KEPT of a task are kept.
local function remember(id, name)
  if name == '' then return end
  local seen = calls_of(id)
  seen[#seen + 1] = name
  if #seen > REPEATS_KEPT then table.remove(seen, 1) end
  redis.call('HSET', repeatsKey, id, cmsgpack.pack(seen))
end

-- Forgets the calls of a task whose submission holds no more: a new attempt may well use the names of the old one again, as
-- one that derives them from the task does, and what it then submits is no repeat.
local function forget_calls(id)
  callsOf[id] = nil
  redis.call('HDEL', repeatsKey, id)
end

-- The refusals of a holder's call in the order that the design fixes: job, task, token, requestId (a repeat answers
-- 'already'), token outdated, terminal, version where the call names one. Returns nil when the call may go on.
local function refuse_holder(B, id, T, token, name, version)
  local refused = refuse_board(B)
  if refused then return refused end
  if not T then return refuse('not_found', id, nil, { what = 'task' }) end
  -- A runner of checks has a token as well, but no attempt.
  local current = T[CODE] == IN_PROGRESS and T[TOKEN] ~= '' and T[TOKEN] == token
  if not current and not is_known_token(id, token) then return refuse('not_owner', id, T) end
  local earlier = find_call(id, name)
  if earlier == 'same' then return { 'already' } end
  if earlier then return refuse('request_mismatch', id, T, { isOutside = not current }) end
  if not current then return refuse('lease_lost', id, T, lost_attempt(B, id, token)) end
  if is_ended(B) or B[CANCELLING] == 1 then return refuse('terminal', id, T, { job = B[STATUS] }) end
  if version and version ~= T[VERSION] then return refuse('stale_version', id, T) end
  return nil
end

-- Held by our own harness, whose lost leases are strikes; people and programs outside come and go.
local function is_built_in(owner)
  return owner:sub(1, 5) == 'lead:' or owner:sub(1, 10) == 'sub-agent:'
end

-- Ends the current attempt with its outcome; the caller gives the task its new code afterwards. `cause`: what parked it
-- that was not its doing; its record then has an empty answer before it.
local function end_attempt(id, T, outcome, class, reason, cause)
  local record = { T[TOKEN], T[OWNER], T[ATTEMPT_AT], now(), outcome, class, reason }
  if cause and cause ~= '' then record[8], record[9] = '', cause end
  redis.call('HSET', attemptsKey, id .. ':' .. T[ATTEMPT], cmsgpack.pack(record))
  redis.call('ZREM', leaseKey, id)
  if T[NUMBER] > 0 then redis.call('ZREM', windowKey, id) end
  if is_built_in(T[OWNER]) then end_spend(id, T[ATTEMPT], outcome) end
  if T[CLAIM_REQUEST] ~= '' and not is_built_in(T[OWNER]) then
    redis.call('HDEL', repeatsKey, 'claim:' .. T[OWNER] .. '/' .. T[CLAIM_REQUEST])
  end
  -- Whoever holds a task is its owner; who did so before, the records of its attempts tell.
  T[TOKEN], T[OWNER], T[CLAIM_REQUEST] = '', '', ''
  T[UPDATED] = now()
  T[VERSION] = T[VERSION] + 1
end

-- The journal of a task that is over leaves for the store. One that never grew, of a first attempt, is hardly worth
-- a way of its own: it goes with the job's archive.
local function hand_on_journal(id, T)
  if T[GROWTH] == 1 or T[ATTEMPT] > 1 then hand_on('journal', id, T[ATTEMPT], 0) end
end

-- Ends the attempt with what it brings.
local function take_result(id, T, name, outcome, output)
  remember(id, name)
  end_attempt(id, T, 'completed', '', '')
  redis.call('HSET', outcomeKey, id, outcome)
  if output ~= '' then redis.call('HSET', outputKey, id, output) else redis.call('HDEL', outputKey, id) end
end

-- Back to pending: ready, scheduled or waiting by the one readiness rule. The lead goes straight to its queue.
local function rest(B, id, T)
  -- An older writer left the last holder in a task under review.
  T[OWNER] = ''
  if T[NUMBER] == 0 then
    if T[HOLD] == 'news' then
      T[CODE] = WAITING
    elseif T[HOLD] == 'approval' then
      T[CODE] = HELD
    elseif T[NOT_BEFORE] > now() then
      T[CODE] = SCHEDULED
      redis.call('ZADD', dueKey, int(T[NOT_BEFORE]), id)
    else
      queue_lead(T)
    end
    return
  end
  recode(B, id, T, rest_code(T, redis.call('HGET', unmetKey, id)))
  settle_down(B, id, T)
end

-- A task's end: terminal code, event, dependents, and for a failure news for the lead. Saves both records.
local function finish(B, id, T, code, type, by, extra)
  T[TASK_ENDED], T[OWNER] = now(), ''
  recode(B, id, T, code)
  if code == COMPLETED then accept_staged(id) end
  local event = emit(type, id, T, by, extra)
  hand_on_journal(id, T)
  save_task(id, T)
  if T[NUMBER] > 0 then
    settle(B, id, code)
    pass_messages(B, id, T)
    if code == FAILED then news(B, event, false) end
  end
  check_end(B, event)
  dispatch(B)
  save_board(B)
  return event
end

-- Counts a failed task; as many as `maxFailures` since the job began or was resumed pause it.
local function count_failed(B, by)
  B[FAILED_SINCE] = B[FAILED_SINCE] + 1
  if B[MAX_FAILURES] > 0 and B[FAILED_SINCE] >= B[MAX_FAILURES] and not is_ended(B) and B[CANCELLING] == 0 then
    add_pause(B, 'failures', B[FAILED_SINCE] .. ' tasks failed (maxFailures ' .. B[MAX_FAILURES] .. ')', by)
  end
  save_board(B)
end

-- What a failure means for the task: again after `delayMs` while it may be retried, else it has failed. One of class
-- `infra` is the harness' own: no failure of the task but a strike, and the caller says when there were too many.
local function fail_task(B, id, T, class, reason, retryable, delayMs, by)
  local isOurs = class == 'infra' or class == 'cancelled'
  if not isOurs then
    T[STRIKES], T[STICKY] = 0, 0
    T[FAILURES] = T[FAILURES] + 1
    T[FRESH] = 1
    drop_staged(id)
  end
  local extra = cjson.encode({ class = class, reason = reason })
  if retryable and T[NUMBER] > 0 and T[FAILURES] < attempts_of(B, T) then
    T[NOT_BEFORE] = delayMs > 0 and now() + delayMs or 0
    rest(B, id, T)
    local event = emit('task.failed', id, T, by, extra)
    save_task(id, T)
    check_end(B, event)
    dispatch(B)
    save_board(B)
    return
  end
  redis.call('HSET', outcomeKey, id, cjson.encode({ failure = { class = class, reason = reason } }))
  if T[NUMBER] == 0 then
    redis.call('HSET', jobKey, 'leadFailure', 'lead: ' .. class)
    leave_plan(B)
  end
  finish(B, id, T, FAILED, 'task.failed', by, extra)
  if T[NUMBER] > 0 then count_failed(B, by) end
end

-- A failed attempt.
local function fail_attempt(B, id, T, class, reason, retryable, delayMs, by)
  end_attempt(id, T, 'failed', class, reason)
  fail_task(B, id, T, class, reason, retryable, delayMs, by)
end

-- A strike: at `most` of them in a row the task fails as infra. Returns true when it did.
local function strike(B, id, T, most, reason, by)
  T[STRIKES] = T[STRIKES] + 1
  if T[STRIKES] < most then return false end
  fail_attempt(B, id, T, 'infra', reason, false, 0, by)
  return true
end

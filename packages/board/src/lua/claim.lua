-- Claims one task: a new attempt, its token and lease.
-- ARGV: 1 task ID or '' (the next one for external and human holders), 2 owner "kind:id", 3 secret, 4 requestId,
--       5 leaseMs (0: none), 6 attempts so far that the caller was told, or ''
-- Returns 'ok' | 'already', token, lease end or '', the row, the job's version; 'none' when nothing is ready; 'dropped' when the
-- delivery was for another attempt (its place in the window is freed).
local id, owner, secret, requestId = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local leaseMs, expected = tonumber(ARGV[5]), ARGV[6]
local kind, held = owner:match('^([^:]+):'), nil

-- A refused delivery has spent its queue job: back to ready, so that the next dispatch takes the task up. The lead
-- stays queued, and a resume queues it again.
local function unqueue(B, id, T, builtIn)
  if not builtIn or T[CODE] ~= QUEUED or T[NUMBER] == 0 then return end
  redis.call('ZREM', windowKey, id)
  recode(B, id, T, rest_code(T, nil))
  save(B, id, T)
end
if requestId ~= '' and kind ~= 'sub-agent' and kind ~= 'lead' then
  -- Repeated: the task that this very request got, if it still holds it.
  held = redis.call('HGET', repeatsKey, 'claim:' .. owner .. '/' .. requestId)
  if id == '' then id = held or '' end
end
local isNext = id == ''
if isNext then
  id = redis.call('ZRANGEBYSCORE', indexKey, int(READY_OUTSIDE * BAND), '(' .. int(REJECTED * BAND), 'LIMIT', 0, 1)[1]
end
local B, T = load(id or '')
local refused = refuse_board(B)
if refused then return refused end
if not id or (isNext and B[PLAN] > 0) then return { 'none' } end
if not T then return refuse('not_found', id, nil, { what = 'task' }) end
-- A task that was named is never answered by another one.
if held and held ~= id then return refuse('request_mismatch', id, T) end

if T[TOKEN] ~= '' and requestId ~= '' and T[CLAIM_REQUEST] == requestId and T[OWNER] == owner then
  return { 'already', T[TOKEN], redis.call('ZSCORE', leaseKey, id) or '', row(B, id, T, true), B[JOB_VERSION] }
end
if (T[NUMBER] == 0) ~= (kind == 'lead') then return refuse('forbidden', id, T) end
local builtIn = kind == 'lead' or kind == 'sub-agent'
if expected ~= '' and tonumber(expected) ~= T[ATTEMPT] then
  if T[NUMBER] > 0 and T[CODE] ~= QUEUED and T[CODE] ~= IN_PROGRESS and redis.call('ZREM', windowKey, id) == 1 then
    dispatch(B)
    save_board(B)
  end
  return { 'dropped' }
end
if T[CODE] == IN_PROGRESS then return refuse('already_claimed', id, T) end
if is_terminal(T[CODE]) then return refuse('terminal', id, T) end
if B[STATUS] == 'accepting' then return refuse('unstarted', id, T) end
if is_ended(B) or B[CANCELLING] == 1 then return refuse('terminal', id, T, { job = B[STATUS] }) end
if is_paused(B) then
  unqueue(B, id, T, builtIn)
  return refuse('board_paused', id, T, { pauses = B[PAUSES] })
end
if awaits_approval(B, T) then return refuse('not_ready', id, T, { awaits = 'approval' }) end
local due = T[CODE] == SCHEDULED and T[NOT_BEFORE] <= now()
-- A built-in claim is for what was dispatched; what is ready or due and was not has a queue job of its own to come, once
-- there is room in the window.
if builtIn and (due or is_ready(T[CODE])) and T[CODE] ~= QUEUED then return { 'dropped' } end
-- These wait for somebody's word, not for their time.
if T[CODE] == BLOCKED or T[CODE] == IN_REVIEW then return refuse('invalid_transition', id, T) end
if not is_ready(T[CODE]) and not due then return refuse('not_ready', id, T) end
if T[NUMBER] > 0 and B[ALLOW_PARALLEL] == 0 and B[COUNTS + IN_PROGRESS] > 0 then
  unqueue(B, id, T, builtIn)
  local running = redis.call('ZRANGEBYSCORE', indexKey, int(IN_PROGRESS * BAND), '(' .. int(IN_REVIEW * BAND), 'LIMIT', 0, 1)
  return refuse('parallel_in_progress', id, T, { running = running[1] })
end

if due then redis.call('ZREM', dueKey, id) end
if T[CODE] == QUEUED and not builtIn then redis.call('ZREM', windowKey, id) end
if builtIn and T[NUMBER] > 0 then redis.call('ZADD', windowKey, int(now()), id) end
T[VERSION] = T[VERSION] + 1
T[ATTEMPT] = T[ATTEMPT] + 1
T[TOKEN] = T[ATTEMPT] .. '-' .. secret
T[OWNER] = owner
T[CLAIM_REQUEST] = requestId
T[LEASE_MS] = leaseMs
if not builtIn and requestId ~= '' then redis.call('HSET', repeatsKey, 'claim:' .. owner .. '/' .. requestId, id) end
T[HOLD], T[NOT_BEFORE], T[GROWTH], T[OPEN_TOOLS] = '', 0, 0, 0
T[ATTEMPT_AT], T[UPDATED] = now(), now()
if T[TASK_STARTED] == 0 then T[TASK_STARTED] = now() end
if B[STARTED] == 0 then B[STARTED] = now() end
recode(B, id, T, IN_PROGRESS)
redis.call('HSET', attemptsKey, id .. ':' .. T[ATTEMPT], cmsgpack.pack({ T[TOKEN], owner, now(), 0, '', '', '' }))
local leaseUntil = ''
if leaseMs > 0 then
  leaseUntil = int(now() + leaseMs)
  redis.call('ZADD', leaseKey, leaseUntil, id)
end
emit('task.claimed', id, T, owner)
if not builtIn then dispatch(B) end
save(B, id, T)
return { 'ok', T[TOKEN], leaseUntil, row(B, id, T, true, leaseUntil), B[JOB_VERSION] }

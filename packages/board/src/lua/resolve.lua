-- A person's or the lead's word on a task that waits for one: unblock, approve, reject.
-- ARGV: 1 by, 2 lead token or '', 3 requestId or '', 4 task ID, 5 version, 6 decision, 7 text for the next attempt,
--       8 hash of the call
-- Returns 'ok' and the version; 'already' and the version then.
local by, token, requestId, id, version = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local decision, text = ARGV[6], ARGV[7]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if token ~= '' then refused = refuse_holder(B, B[LEAD], load_task(B[LEAD]), token, '') end
if not refused or refused[2] == 'lease_lost' or refused[2] == 'terminal' then
  local earlier, mismatch = earlier_answer(requestId, ARGV[8])
  if mismatch then return mismatch end
  if earlier then return { 'already', earlier[2] } end
end
if refused then return refused end
if is_ended(B) or B[CANCELLING] == 1 then return refuse('terminal', id, T, { job = B[STATUS] }) end
refused = refuse_change(B, id, T, version, false)
if refused then return refused end
local isReview = T[CODE] == IN_REVIEW and T[HOLD] == 'review'
local fits = decision == 'unblock' and T[CODE] == BLOCKED
  or decision ~= 'unblock' and (isReview or T[CODE] == PROPOSAL)
if not fits then return refuse('invalid_transition', id, T) end

-- What the last attempt is answered reaches the next one with its record.
local function answer_attempt(outcome)
  local field = id .. ':' .. T[ATTEMPT]
  local record = cmsgpack.unpack(redis.call('HGET', attemptsKey, field))
  record[5] = outcome or record[5]
  record[8] = text
  redis.call('HSET', attemptsKey, field, cmsgpack.pack(record))
end

T[VERSION] = T[VERSION] + 1
T[UPDATED] = now()
keep_answer(requestId, ARGV[8], { 'ok', T[VERSION] })
local extra = cjson.encode({ text = text, decision = decision })
if decision == 'approve' and isReview then
  T[HOLD] = ''
  finish(B, id, T, COMPLETED, 'task.completed', by)
  return { 'ok', T[VERSION] }
end
if T[CODE] == PROPOSAL and decision == 'reject' then
  T[HOLD], T[TASK_ENDED] = '', now()
  recode(B, id, T, REJECTED)
  emit('task.cancelled', id, T, by, extra)
  save_task(id, T)
  pass_messages(B, id, T)
elseif T[CODE] == PROPOSAL then
  T[HOLD] = ''
  recode(B, id, T, rest_code(T, redis.call('HGET', unmetKey, id)))
  emit('task.added', id, T, by, redis.call('HGET', depsKey, id) or '')
  save_task(id, T)
  settle_down(B, id, T)
else
  answer_attempt(decision == 'reject' and 'rejected' or nil)
  redis.call('HDEL', outcomeKey, id)
  if decision == 'reject' then
    redis.call('HDEL', outputKey, id)
    forget_calls(id)
  end
  T[HOLD] = ''
  rest(B, id, T)
  emit(decision == 'unblock' and 'task.unblocked' or 'task.checked', id, T, by, extra)
  save_task(id, T)
end
if T[CODE] ~= REJECTED then lift_pauses(B, 'stall', by, '') end
check_end(B, last_event())
dispatch(B)
save_board(B)
return { 'ok', T[VERSION] }

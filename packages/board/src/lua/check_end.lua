-- The verdict of a runner: completed, on to the review, or back with what the check said.
-- ARGV: 1 task ID, 2 token of the runner, 3 version that was checked, 4 passed 0|1, 5 reason, 6 output JSON with the
--       evidence or '', 7 delayMs of the next attempt
-- Returns 'ok' and the version.
local id, token, version, passed, reason = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1', ARGV[5]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if not T then return refuse('not_found', id, nil, { what = 'task' }) end
if T[CODE] ~= IN_REVIEW or T[TOKEN] ~= token then return refuse('lease_lost', id, T) end
if T[VERSION] ~= version then return refuse('stale_version', id, T) end
local by = 'harness:check'
redis.call('ZREM', leaseKey, id)
T[TOKEN] = ''
T[VERSION] = T[VERSION] + 1
T[UPDATED] = now()
T[HOLD] = ''
if ARGV[6] ~= '' then redis.call('HSET', outputKey, id, ARGV[6]) end
if passed and T[POLICY] ~= 3 then
  finish(B, id, T, COMPLETED, 'task.completed', by)
elseif passed then
  T[HOLD] = 'review'
  emit('task.checked', id, T, by, cjson.encode({ passed = true }))
  save_task(id, T)
  save_board(B)
else
  redis.call('HDEL', outputKey, id)
  redis.call('HDEL', outcomeKey, id)
  local field = id .. ':' .. T[ATTEMPT]
  local record = cmsgpack.unpack(redis.call('HGET', attemptsKey, field))
  record[5], record[6], record[7] = 'failed', 'check', reason
  redis.call('HSET', attemptsKey, field, cmsgpack.pack(record))
  fail_spend(id, T[ATTEMPT])
  fail_task(B, id, T, 'check', reason, true, tonumber(ARGV[7]), by)
end
return { 'ok', T[VERSION] }

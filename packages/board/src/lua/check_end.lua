-- The verdict of a runner: completed, on to the review, or back with what the check said.
-- ARGV: 1 task ID, 2 token of the runner, 3 version that was checked, 4 passed 0|1, 5 reason, 6 output JSON with the
--       evidence or '', 7 delayMs of the next attempt, 8 what the event tells of the verdict, as JSON
-- Returns 'ok' and the version.
local id, token, version, passed, reason = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1', ARGV[5]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if not T then return refuse('not_found', id, nil, { what = 'task' }) end
if T[CODE] ~= IN_REVIEW or T[TOKEN] ~= token then return refuse('lease_lost', id, T) end
if B[CANCELLING] == 1 then return refuse('terminal', id, T, { job = B[STATUS] }) end
if T[VERSION] ~= version then return refuse('stale_version', id, T) end
local by = 'harness:check'
redis.call('ZREM', leaseKey, id)
redis.call('HDEL', runnersKey, id)
T[TOKEN], T[STRIKES] = '', 0
T[VERSION] = T[VERSION] + 1
T[UPDATED] = now()
T[HOLD] = passed and T[POLICY] == 3 and 'review' or ''
if ARGV[6] ~= '' then redis.call('HSET', outputKey, id, ARGV[6]) end
emit('task.checked', id, T, by, ARGV[8])
if not passed then
  fail_review(B, id, T, 'check', reason, true, tonumber(ARGV[7]), by)
elseif T[HOLD] == '' then
  finish(B, id, T, COMPLETED, 'task.completed', by)
else
  save_task(id, T)
end
return { 'ok', T[VERSION] }

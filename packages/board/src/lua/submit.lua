-- A holder's result: the task is completed, its dependents are told, the window refilled; or it goes to its checks or
-- its review first, in which no attempt is live.
-- ARGV: 1 task ID, 2 token, 3 name of the call (lib/holder.lua), 4 version last shown, 5 outcome JSON, 6 output JSON or '',
--       7 'complete' | 'checks' | 'review'
-- Returns 'ok' | 'already' and the version.
local id, token, name, version = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, name, version)
if refused and refused[1] == 'already' then return { 'already', T[VERSION] } end
if refused then return refused end
local by = T[OWNER]
remember(id, name)
end_attempt(id, T, 'completed', '', '')
redis.call('HSET', outcomeKey, id, ARGV[5])
if ARGV[6] ~= '' then redis.call('HSET', outputKey, id, ARGV[6]) else redis.call('HDEL', outputKey, id) end
if ARGV[7] == 'complete' then
  finish(B, id, T, COMPLETED, 'task.completed', by)
else
  T[HOLD] = ARGV[7]
  recode(B, id, T, IN_REVIEW)
  emit('task.submitted', id, T, by)
  save_task(id, T)
  dispatch(B)
  save_board(B)
end
return { 'ok', T[VERSION] }

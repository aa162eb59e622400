-- A holder's result: the task is completed, its dependents are told, the window refilled; or it goes to its checks or
-- its review first, in which no attempt is live.
-- ARGV: 1 task ID, 2 token, 3 requestId, 4 version last shown, 5 outcome JSON without its artifacts,
--       6 output JSON or '', 7 'complete' | 'checks' | 'review', 8 JSON list of the artifacts it names (refs or paths) or
--       '' for all files of the attempt, 9 JSON list of artifacts that it points at elsewhere or ''
-- Returns 'ok' | 'already' and the version.
local id, token, requestId, version = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, requestId, version)
if refused and refused[1] == 'already' then return { 'already', T[VERSION] } end
if refused then return refused end
local unknown
if ARGV[9] ~= '' then unknown = first_unknown(id, cjson.decode(ARGV[9])) end
local refs
if not unknown then refs, unknown = take_up(id, ARGV[8] ~= '' and cjson.decode(ARGV[8]) or nil) end
if unknown then return refuse('unknown_artifact', id, T, { reference = unknown }) end
local outcome = ARGV[5]
if refs[1] then outcome = outcome:sub(1, -2) .. ',"artifacts":["' .. table.concat(refs, '","') .. '"]}' end
local by = T[OWNER]
remember(id, requestId)
end_attempt(id, T, 'completed', '', '')
redis.call('HSET', outcomeKey, id, outcome)
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

-- A holder's result: the task is completed, its dependents are told, the window refilled; or it goes to its review
-- first, in which no attempt is live.
-- ARGV: 1 task ID, 2 token, 3 name of the call (lib/holder.lua), 4 version last shown, 5 outcome JSON without its
--       artifacts, 6 output JSON or '', 7 JSON list of the artifacts it names (refs or paths) or '' for all files of the
--       attempt, 8 JSON list of artifacts that it points at elsewhere or '', 9 'complete' | 'review'
-- Returns 'ok' | 'already' and the version.
local id, token, name, version = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, name, version)
if refused and refused[1] == 'already' then return { 'already', T[VERSION] } end
if refused then return refused end
local outcome, unknown = with_artifacts(id, ARGV[5], ARGV[7], ARGV[8])
if unknown then return refuse('unknown_artifact', id, T, { reference = unknown }) end
local by = T[OWNER]
take_result(id, T, name, outcome, ARGV[6])
if ARGV[9] == 'complete' then
  finish(B, id, T, COMPLETED, 'task.completed', by)
else
  T[HOLD] = ARGV[9]
  recode(B, id, T, IN_REVIEW)
  emit('task.submitted', id, T, by)
  save_task(id, T)
  dispatch(B)
  save_board(B)
end
return { 'ok', T[VERSION] }

-- A holder's result that has to pass checks first: no attempt is live, and the next free runner takes them.
-- ARGV: 1 task ID, 2 token, 3 name of the call (lib/holder.lua), 4 version last shown, 5 outcome JSON without its artifacts,
--       6 output JSON or '', 7 and 8 the artifacts it names and points at, as in submit.lua
-- Returns 'ok' | 'already' and the version.
local id, name = ARGV[1], ARGV[3]
local B, T = load(id)
local refused = refuse_holder(B, id, T, ARGV[2], name, tonumber(ARGV[4]))
if refused and refused[1] == 'already' then return { 'already', T[VERSION] } end
if refused then return refused end
local outcome, unknown = with_artifacts(id, ARGV[5], ARGV[7], ARGV[8])
if unknown then return refuse('unknown_artifact', id, T, { reference = unknown }) end
local by = T[OWNER]
take_result(id, T, name, outcome, ARGV[6])
T[HOLD], T[STRIKES] = 'checks', 0
recode(B, id, T, IN_REVIEW)
emit('task.submitted', id, T, by)
queue_checks(id, T, '')
save_task(id, T)
dispatch(B)
save_board(B)
return { 'ok', T[VERSION] }

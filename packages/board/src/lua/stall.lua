-- The lead has nothing to wait for and does nothing, though it was told: the job pauses until somebody moves it. The
-- lead is left queued, so that the end of the pause brings it back.
-- ARGV: 1 token, 2 requestId, 3 reason
-- Returns 'ok' | 'already'; 'moving' when there is something to wait for by now; 'empty' when the job has no task.
local token, requestId, reason = ARGV[1], ARGV[2], ARGV[3]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local id = B[LEAD]
local T = load_task(id)
refused = refuse_holder(B, id, T, token, requestId)
if refused and refused[1] == 'already' then return { 'already' } end
if refused then return refused end
if is_unread(B) or can_make_news(B) then return { 'moving' } end
if total_of(B) == 0 then return { 'empty' } end
local by = T[OWNER]
remember(id, requestId)
T[STRIKES], T[STICKY] = 0, 0
end_attempt(id, T, 'parked', '', reason)
T[OWNER], T[HOLD], T[NOT_BEFORE] = '', '', 0
T[CODE] = QUEUED
emit('task.parked', id, T, by, cjson.encode({ reason = reason }))
save_task(id, T)
add_pause(B, 'stall', reason, by)
save_board(B)
return { 'ok' }

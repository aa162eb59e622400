-- The lead puts its plan before people and waits for their decision.
-- ARGV: 1 token, 2 requestId, 3 plan JSON {tasks, text?}, 4 number of its tasks
-- Returns 'ok' and the plan's version; 'already' and 1 when the attempt goes on all the same.
local token, requestId = ARGV[1], ARGV[2]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local id = B[LEAD]
local T = load_task(id)
refused = refuse_holder(B, id, T, token, requestId)
if refused and refused[1] == 'already' then return { 'already', T[TOKEN] == token and 1 or 0 } end
if refused then return refused end
if B[PLAN] ~= 1 then return refuse('not_planning') end
local by = T[OWNER]
local reason = 'the plan waits for approval'
remember(id, requestId)
redis.call('HSET', jobKey, 'plan', ARGV[3])
T[STRIKES], T[STICKY] = 0, 0
end_attempt(id, T, 'parked', '', reason)
T[OWNER], T[HOLD], T[NOT_BEFORE] = '', 'approval', 0
T[CODE] = HELD
emit('task.parked', id, T, by, cjson.encode({ reason = reason }))
save_task(id, T)
propose_plan(B, by, tonumber(ARGV[4]))
save_board(B)
return { 'ok', B[PLAN_NUMBER] }

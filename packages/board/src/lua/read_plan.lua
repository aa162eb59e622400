-- What concerns people of a job's plan and of the lead's questions.
-- Returns 'ok', 1 when a plan waits, its version (or how many there were), plan JSON or '', decision JSON or '',
-- questions as JSON or ''.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
return { 'ok', B[PLAN] == 2 and 1 or 0, B[PLAN_NUMBER], redis.call('HGET', jobKey, 'plan') or '',
  redis.call('HGET', jobKey, 'planDecision') or '', redis.call('HGET', jobKey, 'questions') or '' }

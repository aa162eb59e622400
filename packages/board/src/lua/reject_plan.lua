-- A person says no to the plan that waits: the lead plans again with the text in its conversation. Where there is no
-- lead to plan again, the job is cancelled.
-- ARGV: 1 by, 2 version of the plan, 3 text, 4 requestId or '', 5 hash of the call
-- Returns 'ok' and 'planning' | 'cancelled'.
local by, text = ARGV[1], ARGV[3]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local earlier, mismatch = earlier_answer(ARGV[4], ARGV[5])
if mismatch then return mismatch end
if earlier then return earlier end
refused = refuse_decision(B, tonumber(ARGV[2]))
if refused then return refused end
local canPlan = B[LEAD] ~= '' and not is_terminal(load_task(B[LEAD])[CODE])
local now_is = canPlan and 'planning' or 'cancelled'
emit('plan.rejected', '', nil, by, cjson.encode({ version = B[PLAN_NUMBER], text = text, job = now_is }))
if canPlan then
  B[PLAN] = 1
  B[STATUS] = 'planning'
  free_lead(B, { version = B[PLAN_NUMBER], decision = 'rejected', text = text })
else
  B[CANCELLING] = 1
  B[REASON] = text == '' and 'the plan was rejected' or 'the plan was rejected: ' .. text
  redis.call('HSET', jobKey, 'cancelledBy', by)
  hand_on('cancel', '', 0, 0)
end
save_board(B)
local answer = { 'ok', now_is }
keep_answer(ARGV[4], ARGV[5], answer)
return answer

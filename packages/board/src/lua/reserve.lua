-- Reserves a model call at its worst case and marks it sent, or says that no cap has room for it. A job's budget that is
-- used up trips here: the call that does not fit is the first to know.
-- ARGV: 1 task ID, 2 token, 3 call ID, 4 nano-USD of its input at most ('': nobody has priced the model), 5 nano-USD of
--       a token of output, 6 tokens of its input at most, 7 tokens of output wanted, 8 tokens of output at least,
--       9 1: rather wait for calls under way than write less
-- Returns 'ok' | 'already', the tokens of output granted, how much of the budget is used in thousandths;
-- 'busy' and a reason while calls under way are all that is in the way; 'exhausted', 'park' | 'fail', the reason;
-- 'unpriced' when there is a cap in USD and no price.
local id, token, callId = ARGV[1], ARGV[2], ARGV[3]
local call = { money = tonumber(ARGV[4]) or 0, perToken = tonumber(ARGV[5]) or 0, tokens = tonumber(ARGV[6]) }
local wanted, least, isPatient = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9] == '1'
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, '')
if refused then return refused end
local known = redis.call('HGET', spendKey, 'call:' .. callId)
if known then return { 'already', cmsgpack.unpack(known)[CALL_GRANTED], used_share(caps_of(B, id, T, call)) } end
if ARGV[4] == '' and (B[BUDGET_MONEY] > 0 or task_cap(id) > 0) then return { 'unpriced' } end

local caps = caps_of(B, id, T, call)
local granted, cap, isBusy = fit(caps, wanted, least, isPatient)
local reason
if not granted then reason = cap_reason(cap, least) end
if not granted and not isBusy and cap.scope == 'job' then
  trip(B, cap, reason)
  save_board(B)
  -- What was kept is there for a lead that now has to finish.
  caps = caps_of(B, id, T, call)
  granted, cap, isBusy = fit(caps, wanted, least, isPatient)
end
if not granted then
  if isBusy then return { 'busy', reason } end
  local isOver = cap.scope == 'task' or (T[NUMBER] == 0 and B[WINDING_UP] == WINDS_UP)
  return { 'exhausted', isOver and 'fail' or 'park', reason }
end
move_call(callId, { id, T[ATTEMPT], 0, 0, 0, granted }, RESERVED, call.money + granted * call.perToken, call.tokens + granted)
return { 'ok', granted, used_share(caps) }

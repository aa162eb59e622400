-- Sets the caps of a job. One that was raised lifts the pause `budget` and ends the winding up; what is cancelled stays so.
-- ARGV: 1 by, 2 nano-USD, 3 tokens (0: no cap, '': as it is), 4 onLimit 0 pause | 1 finish | 2 fail, '': as it is
-- Returns 'ok'.
local by = ARGV[1]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if B[CANCELLING] == 1 and not is_ended(B) then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
local isRaised = false
for i, field in ipairs({ BUDGET_MONEY, BUDGET_TOKENS }) do
  local cap = tonumber(ARGV[i + 1])
  if cap then
    isRaised = isRaised or (B[field] > 0 and (cap == 0 or cap > B[field]))
    B[field] = cap
  end
end
B[ON_LIMIT] = tonumber(ARGV[4]) or B[ON_LIMIT]
emit('budget.changed', '', nil, by, cjson.encode({ budgetUsd = B[BUDGET_MONEY] / 1000000000, budgetTokens = B[BUDGET_TOKENS],
  onLimit = B[ON_LIMIT] }))
if isRaised and not is_ended(B) then
  if B[WINDING_UP] == WINDS_UP then
    B[WINDING_UP], B[REASON] = 0, ''
    dispatch(B)
  end
  lift_pauses(B, 'budget', by)
end
save_board(B)
return { 'ok' }

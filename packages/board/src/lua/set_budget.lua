-- Sets the caps of a job.
-- ARGV: 1 by, 2 nano-USD, 3 tokens (0: no cap, '': as it is), 4 onLimit 0 pause | 1 finish | 2 fail, '': as it is
-- Returns 'ok'.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if B[CANCELLING] == 1 and not is_ended(B) then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
change_caps(B, tonumber(ARGV[2]) or B[BUDGET_MONEY], tonumber(ARGV[3]) or B[BUDGET_TOKENS],
  tonumber(ARGV[4]) or B[ON_LIMIT], ARGV[1])
save_board(B)
return { 'ok' }

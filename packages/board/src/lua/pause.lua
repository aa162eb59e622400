-- Adds a cause to the set of pauses.
-- ARGV: 1 by, 2 cause, 3 reason
-- Returns 'ok', or 'already'.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if B[STATUS] == 'accepting' then return refuse('not_started') end
if is_ended(B) or B[CANCELLING] == 1 then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
if not add_pause(B, ARGV[2], ARGV[3], ARGV[1]) then return { 'already' } end
save_board(B)
return { 'ok' }

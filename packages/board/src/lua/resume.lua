-- Takes one cause, or all, out of the set of pauses; when it is empty the job runs again and its window is refilled.
-- ARGV: 1 by, 2 cause or '' for all, 3 reason or ''
-- Returns 'ok', or 'already' when that was no cause.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if B[STATUS] == 'accepting' then return refuse('not_started') end
if is_ended(B) then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
if not lift_pauses(B, ARGV[2], ARGV[1], ARGV[3]) then return { 'already' } end
save_board(B)
return { 'ok' }

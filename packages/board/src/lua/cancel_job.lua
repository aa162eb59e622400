-- Marks a job as being cancelled: from here on nothing starts. The tasks follow in slices.
-- ARGV: 1 by, 2 reason, 3 requestId or '', 4 hash of the call
-- Returns 'ok', or 'already' with the status when it was cancelled or has ended.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local earlier, mismatch = earlier_answer(ARGV[3], ARGV[4])
if mismatch then return mismatch end
if earlier then return { 'already', B[STATUS] } end
keep_answer(ARGV[3], ARGV[4], {})
if is_ended(B) or B[CANCELLING] == 1 then return { 'already', B[STATUS] } end
B[CANCELLING] = 1
B[REASON] = ARGV[2]
redis.call('HSET', jobKey, 'cancelledBy', ARGV[1])
hand_on('cancel', '', 0, 0)
save_board(B)
return { 'ok', B[STATUS] }

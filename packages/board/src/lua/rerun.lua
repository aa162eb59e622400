-- Notes a selection of ended tasks that are to be opened again, and opens the job for them; the tasks follow in slices.
-- ARGV: 1 by, 2 requestId or '', 3 hash of the call, 4 reason, 5 text for their instructions or '', 6 how many tasks,
--       7 how many the caller expects or '', then the slices: ID and version of each task, 10 characters each
-- Returns 'ok' and how many; 'expected' and how many when that is another number.
local by = ARGV[1]
local FIRST = 8
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local earlier, mismatch = earlier_answer(ARGV[2], ARGV[3])
if mismatch then return mismatch end
if earlier then return earlier end
if B[CANCELLING] == 1 and not is_ended(B) then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
local count = tonumber(ARGV[6])
if ARGV[7] ~= '' and tonumber(ARGV[7]) ~= count then return { 'expected', count } end
keep_answer(ARGV[2], ARGV[3], { 'ok', count })
if count == 0 then return { 'ok', 0 } end
local number = int(redis.call('HINCRBY', jobKey, 'reruns', 1))
for at = FIRST, #ARGV do redis.call('HSET', rerunsKey, number .. ':' .. at - FIRST, ARGV[at]) end
local note = { next = 0, slices = #ARGV - FIRST + 1, by = by, reason = ARGV[4], text = ARGV[5] }
redis.call('HSET', slicesKey, 'rerun:' .. number, cjson.encode(note))
-- A slice under way keeps the job from its end.
B[SLICES] = B[SLICES] + 1
hand_on('rerun', number, 0, 0)
reopen_job(B, by, false)
lift_pauses(B, 'stall', by, '')
save_board(B)
return { 'ok', count }

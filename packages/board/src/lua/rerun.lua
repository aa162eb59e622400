-- Chooses ended tasks for another run, all at once: the choice, the outbox entry that carries it out, and an ended job
-- open again. The tasks follow in slices (rerun_slice.lua).
-- ARGV: 1 by, 2 requestId or '', 3 hash of the call, 4 reason, 5 what their agents are told, as a line of a body, or '',
--       6 how many match, 7 how many must match or '', then the chunks of what matches
-- Returns 'ok', number of the rerun, how many it chose, reopened and skipped, IDs of started dependents; a repeat the same.
local by, requestId, hash, matched = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[6])
local FIRST_CHUNK = 8
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local earlier, mismatch = earlier_answer(requestId, hash)
if mismatch then return mismatch end
if earlier then return rerun_reply(earlier[1], load_rerun(earlier[1])) end
if B[STATUS] == 'accepting' and B[FILL] ~= '' then return refuse('overtaken') end
if B[CANCELLING] == 1 and not is_ended(B) then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
if ARGV[7] ~= '' and tonumber(ARGV[7]) ~= matched then
  return refuse('other_count', nil, nil, { found = matched, expected = tonumber(ARGV[7]) })
end
if matched == 0 then return refuse('nothing_matches') end

local n = int(redis.call('HINCRBY', rerunsKey, 'last', 1))
for at = FIRST_CHUNK, #ARGV do redis.call('HSET', rerunsKey, n .. ':' .. at - FIRST_CHUNK + 1, ARGV[at]) end
local R = { by, ARGV[4], ARGV[5], matched, #ARGV - FIRST_CHUNK + 1, 1, 1, 0, 0, '' }
redis.call('HSET', rerunsKey, n, cmsgpack.pack(R))
redis.call('HDEL', rerunsKey, int(tonumber(n) - RERUNS_KEPT))
redis.call('HSET', slicesKey, 'rerun:' .. n, 1)
B[SLICES] = B[SLICES] + 1
hand_on('rerun', n, 0, 0)
reopen_job(B, by, false)
lift_pauses(B, 'stall', by, '')
keep_answer(requestId, hash, { n })
save_board(B)
return rerun_reply(n, R)

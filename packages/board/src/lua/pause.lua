-- Adds a cause to the set of pauses.
-- ARGV: 1 by, 2 cause, 3 reason
-- Returns 'ok', or 'already'.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if is_ended(B) or B[CANCELLING] == 1 or B[STATUS] == 'accepting' then
  return refuse('terminal', nil, nil, { job = B[STATUS] })
end
for cause in B[PAUSES]:gmatch('[^,]+') do
  if cause == ARGV[2] then return { 'already' } end
end
B[PAUSES] = B[PAUSES] == '' and ARGV[2] or B[PAUSES] .. ',' .. ARGV[2]
B[REASON] = ARGV[2] .. ': ' .. ARGV[3]
emit('job.paused', '', nil, ARGV[1], cjson.encode({ cause = ARGV[2], reason = ARGV[3] }))
save_board(B)
return { 'ok' }

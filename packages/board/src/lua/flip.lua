-- The one step that makes a filled board a submitted job.
-- ARGV: 1 by, 2 queue the lead 0|1
-- Returns 'ok', or 'already' when it was flipped before.
local by = ARGV[1]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if B[STATUS] ~= 'accepting' then return { 'already' } end
B[STATUS] = B[LEAD] ~= '' and 'planning' or 'running'
local event = emit('job.submitted', '', nil, by)
emit('job.' .. B[STATUS], '', nil, by)
if B[LEAD] ~= '' then
  local T = load_task(B[LEAD])
  B[CURSOR] = event
  B[WOKEN] = now()
  queue_lead(T)
  save_task(B[LEAD], T)
end
dispatch(B)
save_board(B)
return { 'ok' }

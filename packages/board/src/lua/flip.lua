-- The one step that makes a filled board a submitted job. One that is held is only filled by its first flip, which
-- whoever filled it makes; the second, with an empty token, starts it.
-- ARGV: 1 by, 2 fill token, '' once the board is filled
-- Returns 'ok', 'held', or 'already' when it was flipped before.
local by = ARGV[1]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if B[STATUS] ~= 'accepting' then return { 'already' } end
if B[CANCELLING] == 1 then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
if B[FILL] ~= ARGV[2] then return refuse('overtaken') end
B[FILL] = ''
if B[HOLD_OPEN] == 1 and ARGV[2] ~= '' then
  save_board(B)
  return { 'held' }
end
start_clock(B)
B[STATUS] = B[LEAD] ~= '' and (B[LAST_NUMBER] == 0 or B[PLAN] == 1) and 'planning' or 'running'
local event = emit('job.submitted', '', nil, by)
if B[PLAN] == 2 then
  propose_plan(B, by, B[LAST_NUMBER])
else
  emit('job.' .. B[STATUS], '', nil, by)
end
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

-- Takes one cause, or all, out of the set of pauses; when it is empty the job runs again and its window is refilled.
-- ARGV: 1 by, 2 cause or '' for all
-- Returns 'ok', or 'already' when that was no cause.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if is_ended(B) then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
local rest, found = {}, false
for cause in B[PAUSES]:gmatch('[^,]+') do
  if ARGV[2] == '' or cause == ARGV[2] then found = true else rest[#rest + 1] = cause end
end
if not found then return { 'already' } end
B[PAUSES] = table.concat(rest, ',')
if #rest == 0 then
  B[REASON] = ''
  emit('job.resumed', '', nil, ARGV[1])
  -- Deliveries of the meantime were dropped: what is still queued is queued again under a new number.
  if B[LEAD] ~= '' then
    local T = load_task(B[LEAD])
    if T[CODE] == QUEUED then
      queue_lead(T)
      save_task(B[LEAD], T)
    elseif T[HOLD] == 'news' and is_unread(B) then
      wake_lead(B, is_still(B))
    end
  end
  check_end(B, nil)
  dispatch(B)
end
save_board(B)
return { 'ok' }

-- Somebody moved the job: `stall` is no cause of its pause any more. Without other causes it runs again, and its lead,
-- which was left queued, is queued anew. The caller dispatches and saves the board.
local function lift_stall(B, by)
  if B[PAUSES] == '' then return end
  local rest, found = {}, false
  for cause in B[PAUSES]:gmatch('[^,]+') do
    if cause == 'stall' then found = true else rest[#rest + 1] = cause end
  end
  if not found then return end
  B[PAUSES] = table.concat(rest, ',')
  if #rest > 0 then
    if B[REASON]:sub(1, 6) == 'stall:' then B[REASON] = '' end
    return
  end
  B[REASON] = ''
  emit('job.resumed', '', nil, by)
  if B[LEAD] == '' then return end
  local T = load_task(B[LEAD])
  if T[CODE] == QUEUED then
    queue_lead(T)
    save_task(B[LEAD], T)
  elseif T[HOLD] == 'news' and is_unread(B) then
    wake_lead(B, false)
  end
end

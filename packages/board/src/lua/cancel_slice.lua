-- Cancels a bounded number of a cancelled job's open tasks; the last slice ends the job.
-- ARGV: 1 most
-- Returns 'ok' and how many are left (0: the job has ended).
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if is_ended(B) or B[CANCELLING] == 0 then return { 'ok', 0 } end
local most = tonumber(ARGV[1])
local by = redis.call('HGET', jobKey, 'cancelledBy') or 'harness:board'
local reason = B[REASON]
local ids = redis.call('ZRANGEBYSCORE', indexKey, '-inf', '(' .. int(COMPLETED * BAND), 'LIMIT', 0, most)
if #ids < most then
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', indexKey, int(PROPOSAL * BAND), '(' .. int(REJECTED * BAND), 'LIMIT', 0, most - #ids)) do
    ids[#ids + 1] = id
  end
end
for _, id in ipairs(ids) do
  local T = load_task(id)
  cancel_task(B, id, T, reason, by)
end
local left = redis.call('ZCOUNT', indexKey, '-inf', '(' .. int(COMPLETED * BAND))
  + redis.call('ZCOUNT', indexKey, int(PROPOSAL * BAND), '(' .. int(REJECTED * BAND))
if left > 0 then
  hand_on('cancel', '', 0, 0)
else
  if B[LEAD] ~= '' then
    local T = load_task(B[LEAD])
    if not is_terminal(T[CODE]) then cancel_task(B, B[LEAD], T, reason, by) end
  end
  end_job(B, B[WINDING_UP] == FAILS and 'failed' or cancelled_status(B), reason, by)
end
save_board(B)
return { 'ok', left }

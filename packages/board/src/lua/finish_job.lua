-- The lead ends the job: refused while tasks are open or news is unread, unless the open ones are waived.
-- ARGV: 1 token, 2 name of the call (lib/holder.lua), 3 result JSON, 4 waived: JSON [[task ID, reason], ...]
-- Returns 'ok' | 'already' and the status; 'reopened' when it had ended the job and people opened that again; 'news' with the last news; 'open' with some open task IDs and their number.
local token, name, waived = ARGV[1], ARGV[2], cjson.decode(ARGV[4])
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if B[LEAD] == '' then return refuse('not_found', nil, nil, { what = 'task' }) end
local id = B[LEAD]
local T = load_task(id)
refused = refuse_holder(B, id, T, token, name)
if refused and refused[1] == 'already' then return { is_ended(B) and 'already' or 'reopened', B[STATUS] } end
if refused then return refused end
if is_unread(B) then return { 'news', B[NEWS] } end

local isWaived, openCount = {}, total_of(B) - B[COUNTS + COMPLETED] - B[COUNTS + FAILED] - B[COUNTS + CANCELLED]
for _, entry in ipairs(waived) do
  local task = load_task(entry[1])
  if not task then return refuse('not_found', entry[1], nil, { what = 'task' }) end
  if not isWaived[entry[1]] and not is_terminal(task[CODE]) and not is_outside(task[CODE]) then
    openCount = openCount - 1
  end
  isWaived[entry[1]] = true
end
local open = {}
local function look(from, to)
  for _, task in ipairs(redis.call('ZRANGEBYSCORE', indexKey, from, to, 'LIMIT', 0, 1001)) do
    if not isWaived[task] and #open < 20 then open[#open + 1] = task end
  end
end
look('-inf', '(' .. int(COMPLETED * BAND))
look(int(READY_OUTSIDE * BAND), '(' .. int(REJECTED * BAND))
if openCount > 0 or B[SLICES] > 0 then return { 'open', open, openCount } end

local by = T[OWNER]
local didWaive = false
for _, entry in ipairs(waived) do
  local task = load_task(entry[1])
  if not is_terminal(task[CODE]) then
    cancel_task(B, entry[1], task, entry[2], by)
    didWaive = true
  end
end
remember(id, name)
redis.call('HSET', jobKey, 'result', ARGV[3])
end_attempt(id, T, 'completed', '', '')
T[TASK_ENDED] = now()
T[CODE] = COMPLETED
emit('task.completed', id, T, by)
hand_on_journal(id, T)
save_task(id, T)
local isShort = B[WINDING_UP] > 0 and B[COUNTS + CANCELLED] > 0
local whole = not didWaive and not isShort and failures_that_count(B) == 0
local why = isShort and 'budget: the budget is used up' or didWaive and 'waived: some tasks were waived' or ''
end_job(B, whole and 'succeeded' or 'partial', why, by)
save_board(B)
return { 'ok', B[STATUS] }

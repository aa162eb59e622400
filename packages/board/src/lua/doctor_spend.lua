-- Checks some fields of the spend, and tells the sums that they must add up to.
-- ARGV: 1 mend 0|1, 2 scan cursor, 3 about how many fields
-- Returns 'ok', findings, the next cursor ('0' at the end), how often the spend has changed, the job's sums,
-- rows of tasks [ID, sums ..., wasted], of attempts [field, task ID, sums ...], of open calls [field, task ID, sum,
-- money, tokens].
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local tasks, attempts, calls = {}, {}, {}

local function check_task_spend(id, S)
  local T = readable(id)
  if not T then return report('spend', id, 'a task', 'none: there is no such task') end
  local isLost = T[CODE] == FAILED or T[CODE] == CANCELLED
  if (S[LOST] == 1) ~= isLost then
    report('spend', id, S[LOST] == 1 and 'wasted' or 'not wasted', status_of(T[CODE]),
      function() mark_lost(id, isLost and 1 or 0) end)
  end
  tasks[#tasks + 1] = { id, S[1], S[2], S[3], S[4], S[5], S[6], S[WASTED] }
end

local function check_attempt_spend(id, attempt, A)
  local T = readable(id)
  if not T or attempt > T[ATTEMPT] then return report('spend', id, 'attempt ' .. attempt, 'none') end
  local isOver = attempt < T[ATTEMPT] or T[CODE] ~= IN_PROGRESS
  if isOver and #A[OPEN_CALLS] > 0 then
    report('spend', id, 'calls reserved by attempt ' .. attempt, 'none: it is over',
      function() end_spend(id, attempt, '') end)
  end
  attempts[#attempts + 1] = { id .. ':' .. attempt, id, A[1], A[2], A[3], A[4], A[5], A[6] }
end

local scanned = redis.call('HSCAN', spendKey, ARGV[2], 'COUNT', ARGV[3])
for i = 1, #scanned[2], 2 do
  local field, value = scanned[2][i], cmsgpack.unpack(scanned[2][i + 1])
  local id, attempt = field:match('^(t_%w+):(%d+)$')
  if id then
    check_attempt_spend(id, tonumber(attempt), value)
  elseif field:sub(1, 5) == 'call:' then
    calls[#calls + 1] = { field, value[CALL_TASK], value[CALL_SUM], value[CALL_MONEY], value[CALL_TOKENS] }
  elseif field ~= '@' then
    check_task_spend(field, value)
  end
end
local J = spend_of('@')
return { 'ok', findings, scanned[1], J[CHANGES], { J[1], J[2], J[3], J[4], J[5], J[6], J[WASTED] }, tasks, attempts, calls }

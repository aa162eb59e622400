-- Checks the tasks of some numbers, and the dependents of those that have few.
-- ARGV: 1 mend 0|1, 2 after (number), 3 most tasks, 4 most edges
-- Returns 'ok', findings, tasks as [ID, version, code, attempt, owner, outcome, dependencies, unmet, dependents, where
-- their rest begins or -1, 1 when its readiness looks wrong], the last number looked at or 0 at the end, last event ID.
local after, most, edgesMost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local last = math.min(after + most, B[LAST_NUMBER])
local order = redis.call('GETRANGE', orderKey, after * 10, last * 10 - 1)
local tasks = {}
for number = after + 1, last do
  local place = (number - after - 1) * 10
  local id = order:sub(place + 1, place + 10)
  local T, isDamaged = readable(id)
  if isDamaged then
    report('record', id, 'unreadable', 'a task record')
  elseif not T or T[NUMBER] ~= number then
    local shown = id:match('^t_%w+$') or 'no task ID'
    local rightId, rightTask = task_of_number(number)
    report('order', rightId or '', '#' .. number .. ' is ' .. shown, rightId or 'a task',
      rightId and function() redis.call('SETRANGE', orderKey, (number - 1) * 10, rightId) end)
    id, T = rightId, rightTask
  end
  if T then
    local outcome = check_task(id, T)
    local edges, rest = check_edges(id, T, 0, edgesMost)
    edgesMost = math.max(0, edgesMost - #edges / 12)
    local unmet = tonumber(redis.call('HGET', unmetKey, id)) or 0
    tasks[#tasks + 1] = { id, T[VERSION], T[CODE], T[ATTEMPT], T[OWNER], outcome,
      redis.call('HGET', depsKey, id) or '', unmet, edges, rest, other_readiness(id, T, unmet) and 1 or 0 }
  end
end
return { 'ok', findings, tasks, last < B[LAST_NUMBER] and last or 0, last_event() }

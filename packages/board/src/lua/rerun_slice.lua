-- Goes on with a rerun: opens some of the tasks that it chose. One that has changed since is left as it is. Where it
-- stands moves on in the same script, so nothing is opened twice.
-- ARGV: 1 number of the rerun, 2 tasks at most
-- Returns as rerun.lua does.
local n, most = ARGV[1], tonumber(ARGV[2])
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local R = load_rerun(n)
if not R then return refuse('not_found', nil, nil, { what = 'rerun' }) end
if redis.call('HEXISTS', slicesKey, 'rerun:' .. n) == 0 then return rerun_reply(n, R) end

-- Puts what the agents are told in place of what an earlier rerun told them: the line behind the task's own body.
local function tell(id)
  if R[RERUN_TOLD] == '' then return end
  local body = redis.call('HGET', bodyKey, id) or ''
  local ends = body:find('\n', 1, true)
  redis.call('HSET', bodyKey, id, (ends and body:sub(1, ends - 1) or body) .. '\n' .. R[RERUN_TOLD])
end

local function take(id, version)
  local T = load_task(id)
  if not T or not is_terminal(T[CODE]) or T[CODE] == REJECTED or T[VERSION] ~= version then
    R[RERUN_SKIPPED] = R[RERUN_SKIPPED] + 1
    return
  end
  tell(id)
  note_started(R, id, reopen_task(B, id, T, R[RERUN_REASON], R[RERUN_BY], R[RERUN_TOLD] ~= ''))
  R[RERUN_REOPENED] = R[RERUN_REOPENED] + 1
end

-- Edges that this script looks at count as well as tasks.
local edgesSeen = 0
-- Takes tasks of the chunk at hand; returns how many.
local function take_some(left)
  local field, taken = n .. ':' .. R[RERUN_CHUNK], 0
  local chunk = redis.call('HGET', rerunsKey, field) or ''
  while taken < left and edgesSeen < SLICE and R[RERUN_AT] <= #chunk do
    local id, version, after = chunk:match('^(t_%w+):(%d+);()', R[RERUN_AT])
    take(id, tonumber(version))
    edgesSeen = edgesSeen + math.min(SLICE, redis.call('HSTRLEN', edgesKey, id) / 12)
    R[RERUN_AT] = after
    taken = taken + 1
  end
  if R[RERUN_AT] > #chunk then
    redis.call('HDEL', rerunsKey, field)
    R[RERUN_CHUNK], R[RERUN_AT] = R[RERUN_CHUNK] + 1, 1
  end
  return taken
end

-- A job that has ended since, or is being cancelled, runs nothing again.
local isOver = is_ended(B) or B[CANCELLING] == 1
if isOver then
  for chunk = R[RERUN_CHUNK], R[RERUN_CHUNKS] do redis.call('HDEL', rerunsKey, n .. ':' .. chunk) end
  R[RERUN_SKIPPED] = R[RERUN_MATCHED] - R[RERUN_REOPENED]
else
  local left = most
  while left > 0 and edgesSeen < SLICE and R[RERUN_CHUNK] <= R[RERUN_CHUNKS] do left = left - take_some(left) end
end
if isOver or R[RERUN_CHUNK] > R[RERUN_CHUNKS] then
  redis.call('HDEL', slicesKey, 'rerun:' .. n)
  B[SLICES] = B[SLICES] - 1
  check_end(B, last_event())
else
  hand_on('rerun', n, 0, 0)
end
redis.call('HSET', rerunsKey, n, cmsgpack.pack(R))
dispatch(B)
save_board(B)
return rerun_reply(n, R)

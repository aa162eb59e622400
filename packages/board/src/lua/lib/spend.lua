-- What model calls cost: whole nano-USD, and tokens. spend["@"] are the job's sums, spend[<task ID>] a task's,
-- spend["<task ID>:<attempt>"] an attempt's. spend["call:<call ID>"] is a call that was sent and whose usage nobody has
-- told yet: reserved at its worst case while its attempt lasts, estimated at that afterwards.

-- The sums of job, task and attempt alike; the tokens of each stand TOKENS behind its money.
local SETTLED, ESTIMATED, RESERVED, TOKENS = 1, 2, 3, 3
-- Of job and task: what was wasted. Of the job: how often anything changed. Of a task: 1 when it has failed or was
-- cancelled, and what is settled of its failed attempts.
local WASTED, CHANGES, LOST, OF_FAILED = 7, 8, 8, 9
-- Of an attempt: 1 when it failed, and the IDs of its reserved calls.
local DID_FAIL, OPEN_CALLS = 7, 8
-- Of a call; CALL_SUM is the sum that it stands in, 0 for none yet.
local CALL_TASK, CALL_ATTEMPT, CALL_SUM, CALL_MONEY, CALL_TOKENS, CALL_GRANTED = 1, 2, 3, 4, 5, 6

-- Sums are exact up to 2^53, and readers take nothing beyond: what would exceed this is held here, nothing is below 0.
local SUM_MOST = 9000000000000000
local function held(value)
  if value ~= value then return 0 end
  return math.max(0, math.min(value, SUM_MOST))
end

-- The sums of the job ('@') or a task.
local function spend_of(field)
  local packed = redis.call('HGET', spendKey, field)
  return packed and cmsgpack.unpack(packed) or { 0, 0, 0, 0, 0, 0, 0, 0, 0 }
end

local function attempt_spend(id, attempt)
  local packed = redis.call('HGET', spendKey, id .. ':' .. attempt)
  return packed and cmsgpack.unpack(packed) or { 0, 0, 0, 0, 0, 0, 0, {} }
end

-- Stores the sums of job and task. Wasted is what was settled for a task that did not complete, or else for those of
-- its attempts that failed.
local function save_spend(id, J, S)
  local wasted = S[LOST] == 1 and S[SETTLED] or S[OF_FAILED]
  J[WASTED] = held(J[WASTED] + wasted - S[WASTED])
  S[WASTED] = wasted
  J[CHANGES] = J[CHANGES] + 1
  redis.call('HSET', spendKey, '@', cmsgpack.pack(J), id, cmsgpack.pack(S))
end

local function without(list, item)
  local rest = {}
  for _, each in ipairs(list) do
    if each ~= item then rest[#rest + 1] = each end
  end
  return rest
end

-- Takes a call into another sum of its attempt, its task and the job: the only function that moves money.
local function move_call(callId, C, sum, money, tokens)
  local id, attempt, from = C[CALL_TASK], C[CALL_ATTEMPT], C[CALL_SUM]
  money, tokens = held(money), held(tokens)
  local J, S, A = spend_of('@'), spend_of(id), attempt_spend(id, attempt)
  for _, sums in ipairs({ J, S, A }) do
    if from > 0 then
      sums[from] = held(sums[from] - C[CALL_MONEY])
      sums[from + TOKENS] = held(sums[from + TOKENS] - C[CALL_TOKENS])
    end
    sums[sum] = held(sums[sum] + money)
    sums[sum + TOKENS] = held(sums[sum + TOKENS] + tokens)
  end
  if sum == SETTLED and A[DID_FAIL] == 1 then S[OF_FAILED] = held(S[OF_FAILED] + money) end
  A[OPEN_CALLS] = without(A[OPEN_CALLS], callId)
  if sum == RESERVED then table.insert(A[OPEN_CALLS], callId) end
  C[CALL_SUM], C[CALL_MONEY], C[CALL_TOKENS] = sum, money, tokens
  if sum == SETTLED then
    redis.call('HDEL', spendKey, 'call:' .. callId)
  else
    redis.call('HSET', spendKey, 'call:' .. callId, cmsgpack.pack(C))
  end
  redis.call('HSET', spendKey, id .. ':' .. attempt, cmsgpack.pack(A))
  save_spend(id, J, S)
end

-- Adds a reply's usage [modelCalls, input, output, cacheRead, cacheWrite] to its attempt, its task and the job.
local function add_usage(id, attempt, usage)
  for _, field in ipairs({ id, '@', id .. ':' .. attempt }) do
    local packed = redis.call('HGET', usageKey, field)
    local sum = packed and cmsgpack.unpack(packed) or { 0, 0, 0, 0, 0 }
    for i = 1, 5 do sum[i] = held(sum[i] + usage[i]) end
    redis.call('HSET', usageKey, field, cmsgpack.pack(sum))
  end
end

-- Books an open call of task `id` by what is known of it: SETTLED with its usage, or ESTIMATED when it is known only in
-- part. False when it is not open: settled before, so that settling twice books once.
local function settle_call(id, callId, sum, money, tokens, usage)
  local packed = redis.call('HGET', spendKey, 'call:' .. callId)
  local C = packed and cmsgpack.unpack(packed)
  if not C or C[CALL_TASK] ~= id then return false end
  if sum == ESTIMATED then
    money, tokens = math.min(money, C[CALL_MONEY]), math.min(tokens, C[CALL_TOKENS])
  end
  if usage then add_usage(id, C[CALL_ATTEMPT], usage) end
  move_call(callId, C, sum, money, tokens)
  return true
end

-- An attempt that failed: what it cost is wasted, for the next one begins afresh.
local function fail_spend(id, attempt)
  local A = attempt_spend(id, attempt)
  if A[DID_FAIL] == 1 or redis.call('HEXISTS', spendKey, id) == 0 then return end
  local J, S = spend_of('@'), spend_of(id)
  A[DID_FAIL] = 1
  S[OF_FAILED] = held(S[OF_FAILED] + A[SETTLED])
  redis.call('HSET', spendKey, id .. ':' .. attempt, cmsgpack.pack(A))
  save_spend(id, J, S)
end

-- The end of an attempt: calls that nobody settled are booked at their worst case.
local function end_spend(id, attempt, outcome)
  if redis.call('HEXISTS', spendKey, id .. ':' .. attempt) == 0 then return end
  local A = attempt_spend(id, attempt)
  for _, callId in ipairs(A[OPEN_CALLS]) do
    local C = cmsgpack.unpack(redis.call('HGET', spendKey, 'call:' .. callId))
    move_call(callId, C, ESTIMATED, C[CALL_MONEY], C[CALL_TOKENS])
  end
  if #A[OPEN_CALLS] > 0 then
    emit('budget.estimated', '', nil, 'harness:budget', cjson.encode({ taskId = id, attempt = attempt,
      calls = #A[OPEN_CALLS], usd = A[RESERVED] / 1000000000, tokens = A[RESERVED + TOKENS] }))
  end
  if outcome == 'failed' then fail_spend(id, attempt) end
end

-- A task's end without completing (1), or its new beginning (0): then what it cost may not be wasted after all.
local function mark_lost(id, lost)
  if redis.call('HEXISTS', spendKey, id) == 0 then return end
  local J, S = spend_of('@'), spend_of(id)
  S[LOST] = lost
  save_spend(id, J, S)
end

-- Tells how a call went. Its slot is free then, but for 'asked': an answer that began and says that a limit is used up.
-- ARGV: 1 call ID, 2 'ok' | 'overloaded' | 'rate_limited' | 'transient' | 'asked' | 'none', 3 task, 4 ms that everybody
--       is asked to wait, 0: not said, 5 why, 6 brakeMs when it is not said, 7 spreadMs when it is, 8 windowMs,
--       9 probeMs, 10 name of the model
-- Returns the time, 1 when calls now seem to fail for everybody.
local call, outcome, task, askedMs, why = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local brakeMs, spreadMs, windowMs, probeMs = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
-- So many tasks, or so many calls, without one answer between them.
local TASKS, CALLS = 3, 10
local LIMIT_MOST, GROWTH = 1024, 4
local KEEP_MS = 172800000

-- Additive increase: so many more calls at once for each round of all of them.
local function grow()
  local limit = numbers('limit')
  if limit == 0 then return end
  limit = limit + GROWTH / limit
  if limit >= LIMIT_MOST then
    redis.call('HDEL', stateKey, 'limit')
  else
    redis.call('HSET', stateKey, 'limit', string.format('%.4f', limit))
  end
end

-- Multiplicative decrease, once a brake: half of what was under way.
local function shrink()
  local brake, limit = numbers('brake', 'limit')
  if t < brake then return end
  redis.call('ZREMRANGEBYSCORE', slotsKey, '-inf', int(t))
  local under = redis.call('ZCARD', slotsKey)
  if limit > 0 then under = math.min(under, limit) end
  redis.call('HSET', stateKey, 'limit', math.max(1, math.floor(under / 2)))
end

local function count_failure()
  redis.call('ZREMRANGEBYSCORE', failingKey, '-inf', int(t - windowMs))
  -- Nothing fails any more within the window: the count begins anew.
  if redis.call('ZCARD', failingKey) == 0 then redis.call('HSET', stateKey, 'fails', 0) end
  redis.call('ZADD', failingKey, int(t), task)
  redis.call('PEXPIRE', failingKey, windowMs * 2)
  local fails = redis.call('HINCRBY', stateKey, 'fails', 1)
  local open = redis.call('HGET', stateKey, 'open')
  if open then
    redis.call('HSET', stateKey, 'why', why)
    return 0
  end
  if t < numbers('vouched') then return 0 end
  if fails < CALLS and redis.call('ZCARD', failingKey) < TASKS then return 0 end
  suspect(ARGV[10], probeMs, why)
  return 1
end

local suspected = 0
if outcome == 'ok' then
  answered(spreadMs)
  grow()
elseif outcome == 'overloaded' or outcome == 'transient' then
  suspected = count_failure()
end
local isLoad = outcome == 'overloaded' or outcome == 'rate_limited'
if isLoad then shrink() end
if askedMs > 0 then
  set_brake(askedMs, spreadMs, why)
elseif isLoad then
  set_brake(brakeMs, math.min(spreadMs, brakeMs * 1.5), why)
end
redis.call('PEXPIRE', stateKey, KEEP_MS)
if outcome ~= 'asked' then
  redis.call('ZREM', slotsKey, call)
  redis.call('ZREM', ticketsKey, call)
end
return { t, suspected }

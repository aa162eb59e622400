-- Asks whether a call may start now. It is asked again, by the same ID, after each wait.
-- ARGV: 1 call ID, 2 leaseMs of its slot
-- Returns 'go'; 'wait', ms, cause 'brake' | 'turn' | 'slots' | 'asking', start and end of the brake, why;
-- 'down', why: the model answers nobody.
local call, leaseMs = ARGV[1], tonumber(ARGV[2])
local POLL_MS, SLOT_POLL_MS = 100, 250
local open = redis.call('HGET', stateKey, 'open')
if open == 'down' then return { 'down', redis.call('HGET', stateKey, 'why') } end
local brake, spread, last, limit = numbers('brake', 'spread', 'last', 'limit')

local function wait(ms, cause)
  redis.call('ZREM', slotsKey, call)
  local told = redis.call('HMGET', stateKey, 'brakeFrom', 'brakeWhy')
  return { 'wait', math.ceil(ms), cause, tonumber(told[1] or 0), brake, told[2] or '' }
end

if t < brake then
  -- Counted, so that the starts after the brake can be spread; forgotten if it does not come back.
  redis.call('ZADD', waitingKey, int(brake + 30000), call)
  redis.call('PEXPIRE', waitingKey, int(brake - t + 60000))
  return wait(brake - t, 'brake')
end
if open then return wait(POLL_MS, 'asking') end

-- After a brake every call gets its turn, spread over the time by how many are known to come.
if t < brake + spread or t < last then
  local turn = tonumber(redis.call('ZSCORE', ticketsKey, call) or '')
  if not turn then
    redis.call('ZREM', waitingKey, call)
    redis.call('ZREMRANGEBYSCORE', waitingKey, '-inf', int(t))
    local given = numbers('given')
    local others = given + redis.call('ZCARD', waitingKey)
    turn = t
    if given > 0 then turn = math.max(t, math.ceil(last + spread / others)) end
    redis.call('HSET', stateKey, 'given', given + 1, 'last', int(turn))
    redis.call('ZADD', ticketsKey, int(turn), call)
    redis.call('PEXPIRE', ticketsKey, int(turn - t + 60000))
  end
  if t < turn then return wait(turn - t, 'turn') end
end

if limit > 0 and not redis.call('ZSCORE', slotsKey, call) then
  redis.call('ZREMRANGEBYSCORE', slotsKey, '-inf', int(t))
  if redis.call('ZCARD', slotsKey) >= math.floor(limit) then return wait(SLOT_POLL_MS, 'slots') end
end
redis.call('ZADD', slotsKey, int(t + leaseMs), call)
redis.call('PEXPIRE', slotsKey, leaseMs * 2)
return { 'go' }

-- Asks whether a call may start now. It is asked again, by the same ID, after each wait.
-- ARGV: 1 call ID, 2 leaseMs of its slot
-- Returns 'go'; 'wait', ms, cause 'brake' | 'turn' | 'slots' | 'asking', start and end of the brake, why;
-- 'down', why: the model answers nobody.
local call, leaseMs = ARGV[1], tonumber(ARGV[2])
local POLL_MS, SLOT_POLL_MS = 100, 250
local open = redis.call('HGET', stateKey, 'open')
if open == 'down' then return { 'down', redis.call('HGET', stateKey, 'why') } end
local brake, spread, limit = numbers('brake', 'spread', 'limit')

local function wait(ms, cause)
  redis.call('ZREM', slotsKey, call)
  local told = redis.call('HMGET', stateKey, 'brakeFrom', 'brakeWhy')
  return { 'wait', math.ceil(ms), cause, tonumber(told[1] or 0), brake, told[2] or '' }
end

if t < brake then return wait(brake - t, 'brake') end
if open then return wait(POLL_MS, 'asking') end

-- The place of the n-th turn in the time after a brake: 0, 1, 1/2, 1/4, 3/4, 1/8 ... Each lies in the widest gap that is
-- left, so that however many calls come, and nobody knows how many, they are spread over the whole of it.
local function place(n)
  if n < 2 then return n end
  local share, part, rest = 0, 0.5, n - 1
  while rest > 0 do
    share = share + part * (rest % 2)
    part, rest = part / 2, math.floor(rest / 2)
  end
  return share
end

if t < brake + spread then
  local turn = tonumber(redis.call('ZSCORE', ticketsKey, call) or '')
  if not turn then
    turn = math.ceil(brake + spread * place(redis.call('HINCRBY', stateKey, 'given', 1) - 1))
    redis.call('ZADD', ticketsKey, int(turn), call)
    redis.call('PEXPIRE', ticketsKey, int(spread + 60000))
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

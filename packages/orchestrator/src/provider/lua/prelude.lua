-- What all processes share about one model of one provider; every script is passed the first so many of these keys.
-- state: the brake (brake: its end, brakeFrom, brakeWhy, spread: ms over which starts are spread after it, given:
-- turns given since), limit: calls at once (absent: any number), ok: the last answer, fails: failing calls since,
-- the circuit (open: 'asking' until a probe has decided, then 'down'; probeAt, probePause, why, vouched: not opened
-- again before), the probe under way (probe, probeUntil), refused calls (refusedAt, refusedPause, refusedProbeAt).
-- slots: calls under way, by the end of their lease. tickets: calls by their turn after the brake.
-- failing: tasks whose calls fail since the last answer. parked: tasks to wake when the circuit closes, by attempt.
-- paused: jobs to resume when a probe is answered. watched: the models that have something to look after.
local stateKey, slotsKey, ticketsKey, failingKey, watchedKey, parkedKey, pausedKey = unpack(KEYS)

local function redis_time()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local t = redis_time()

-- Numbers above 2^31 as text that no Lua build prints in exponent form.
local function int(value)
  return string.format('%.0f', value)
end

-- Fields of the state as numbers, 0 when absent.
local function numbers(...)
  local values = redis.call('HMGET', stateKey, ...)
  for i = 1, #values do values[i] = tonumber(values[i] or 0) end
  return unpack(values)
end

-- Turns that were given are void, and the next ones are spread from `at` on.
local function spread_from(at, spreadMs)
  redis.call('HSET', stateKey, 'brake', int(at), 'spread', int(spreadMs), 'given', 0)
  redis.call('DEL', ticketsKey)
end

-- No call of the model starts before `ms` from now; a brake that ends later stays.
local function set_brake(ms, spreadMs, why)
  local brake = numbers('brake')
  if t + ms <= brake then return end
  if t >= brake then redis.call('HSET', stateKey, 'brakeFrom', int(t)) end
  spread_from(t + ms, spreadMs)
  redis.call('HSET', stateKey, 'brakeWhy', why)
end

-- The model answers: whatever failed before is forgotten, and what waited for the probe goes on, spread.
local function answered(spreadMs)
  local open = redis.call('HGET', stateKey, 'open')
  local brake, spread = numbers('brake', 'spread')
  if open and brake <= t then spread_from(t, open == 'down' and spreadMs or spread) end
  redis.call('HSET', stateKey, 'ok', int(t), 'fails', 0)
  redis.call('HDEL', stateKey, 'open')
  redis.call('DEL', failingKey)
end

-- Calls fail for everybody: a probe has to tell whether the model is down.
local function suspect(name, probeMs, why)
  redis.call('HSET', stateKey, 'open', 'asking', 'probeAt', int(t), 'probePause', int(probeMs), 'why', why)
  redis.call('SADD', watchedKey, name)
end

-- Remembers a job that pauses because the provider refuses its calls, so that a good probe resumes it. A refusal soon
-- after a good probe doubles the time to the next one: what the probe sees is not what is refused.
-- ARGV: 1 job, 2 first ms between two probes, 3 most ms, 4 name of the model
-- Returns 'ok'.
local first, most = tonumber(ARGV[2]), tonumber(ARGV[3])
local refusedAt, refusedPause = numbers('refusedAt', 'refusedPause')
if redis.call('EXISTS', pausedKey) == 0 then
  local again = refusedPause > 0 and t - refusedAt < math.max(most, refusedPause * 2)
  refusedPause = again and math.min(refusedPause * 2, most) or first
  redis.call('HSET', stateKey, 'refusedPause', int(refusedPause), 'refusedProbeAt', int(t + refusedPause))
end
redis.call('HSET', stateKey, 'refusedAt', int(t))
redis.call('SADD', pausedKey, ARGV[1])
redis.call('SADD', watchedKey, ARGV[4])
return { 'ok' }

-- Tells how the probe ended.
-- ARGV: 1 token, 2 'answered' | 'refused' (key, model or request: the provider is there) | 'limited' | 'down' |
--       'dropped' (not made to its end), 3 why, 4 ms that everybody is asked to wait, 5 spreadMs, 6 vouchMs: after a
--       good probe the circuit is not opened by counting, 7 most ms between two probes of a model that is down,
--       8 first and 9 most ms between two probes for refused
--       calls
-- Returns 'ok', or 'stale' when the lease was over and somebody else probes.
local outcome, why = ARGV[2], ARGV[3]
local askedMs, spreadMs, vouchMs = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
if redis.call('HGET', stateKey, 'probe') ~= ARGV[1] then return { 'stale' } end
redis.call('HDEL', stateKey, 'probe', 'probeUntil')
local probePause, refusedPause = numbers('probePause', 'refusedPause')
if outcome == 'answered' or outcome == 'refused' then
  answered(spreadMs)
  redis.call('HSET', stateKey, 'vouched', int(t + vouchMs))
elseif outcome == 'down' and redis.call('HGET', stateKey, 'open') then
  redis.call('HSET', stateKey, 'open', 'down', 'why', why, 'probeAt', int(t + probePause),
    'probePause', int(math.min(probePause * 2, tonumber(ARGV[7]))))
end
if askedMs > 0 then set_brake(askedMs, spreadMs, why) end
if redis.call('EXISTS', pausedKey) == 1 then
  refusedPause = math.max(refusedPause, tonumber(ARGV[8]))
  if outcome == 'refused' or outcome == 'down' then refusedPause = math.min(refusedPause * 2, tonumber(ARGV[9])) end
  redis.call('HSET', stateKey, 'refusedPause', int(refusedPause), 'refusedProbeAt', int(t + refusedPause))
end
return { 'ok' }

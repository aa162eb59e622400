-- Takes the one probe call of the model, when it is due. It is lost with its lease when its process dies.
-- ARGV: 1 token, 2 leaseMs
-- Returns 'mine'; 'later', ms; 'none': nothing to probe for.
local due
if redis.call('HGET', stateKey, 'open') then due = numbers('probeAt') end
if redis.call('EXISTS', pausedKey) == 1 then
  local refused = numbers('refusedProbeAt')
  due = due and math.min(due, refused) or refused
end
if not due then return { 'none' } end
local brake, probeUntil = numbers('brake', 'probeUntil')
due = math.max(due, brake, probeUntil)
if due > t then return { 'later', due - t } end
redis.call('HSET', stateKey, 'probe', ARGV[1], 'probeUntil', int(t + tonumber(ARGV[2])))
return { 'mine' }

-- Renews the slots of calls that are under way.
-- ARGV: 1 leaseMs, 2.. call IDs
-- Returns 'ok'.
local leaseMs = tonumber(ARGV[1])
for i = 2, #ARGV do redis.call('ZADD', slotsKey, int(t + leaseMs), ARGV[i]) end
redis.call('PEXPIRE', slotsKey, leaseMs * 2)
return { 'ok' }

-- Extends a holder's lease; nothing else changes.
-- ARGV: 1 task ID, 2 token, 3 leaseMs, 4 version or ''
-- Returns 'ok', lease end, version, and 1 when the job is being cancelled.
local id, token, leaseMs = ARGV[1], ARGV[2], tonumber(ARGV[3])
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, '', tonumber(ARGV[4]))
if refused then return refused end
local leaseUntil = int(now() + leaseMs)
redis.call('ZADD', leaseKey, leaseUntil, id)
return { 'ok', leaseUntil, T[VERSION], B[CANCELLING] }

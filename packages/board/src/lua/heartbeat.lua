-- Extends a holder's lease; nothing else changes.
-- ARGV: 1 task ID, 2 token, 3 leaseMs or '' for the one it has, 4 version or ''
-- Returns 'ok', lease end, version, 1 when the job is being cancelled, 1 when it is paused.
local id, token = ARGV[1], ARGV[2]
local B, T = load(id)
local isRunner = T and T[CODE] == IN_REVIEW and T[TOKEN] == token and token ~= ''
local refused = not isRunner and refuse_holder(B, id, T, token, '', tonumber(ARGV[4]))
if refused then return refused end
local leaseMs = tonumber(ARGV[3]) or T[LEASE_MS] or 0
if leaseMs ~= T[LEASE_MS] then
  T[LEASE_MS] = leaseMs
  save_task(id, T)
end
local leaseUntil = ''
if leaseMs > 0 then
  leaseUntil = int(now() + leaseMs)
  redis.call('ZADD', leaseKey, leaseUntil, id)
end
return { 'ok', leaseUntil, T[VERSION], B[CANCELLING], B[PAUSES] ~= '' and 1 or 0 }

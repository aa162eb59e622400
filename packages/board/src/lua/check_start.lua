-- Takes the checks of a submitted task under a lease of its runner's own.
-- ARGV: 1 task ID, 2 runner "kind:id", 3 secret, 4 leaseMs
-- Returns 'ok' and the token; 'none' when there is nothing to check, or another runner does.
local id = ARGV[1]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if not T then return refuse('not_found', id, nil, { what = 'task' }) end
if is_ended(B) or T[CODE] ~= IN_REVIEW or T[HOLD] ~= 'checks' or T[TOKEN] ~= '' then return { 'none' } end
T[TOKEN] = 'check-' .. ARGV[3]
T[LEASE_MS] = tonumber(ARGV[4])
redis.call('ZADD', leaseKey, int(now() + T[LEASE_MS]), id)
save_task(id, T)
return { 'ok', T[TOKEN], T[VERSION] }

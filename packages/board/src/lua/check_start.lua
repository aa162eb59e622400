-- Takes the checks of a submitted task under a lease of its runner's own.
-- ARGV: 1 task ID, 2 runner, 3 secret, 4 leaseMs
-- Returns 'ok', the token and the version; 'none' when there is nothing to check, or another runner does.
local id = ARGV[1]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if not T then return refuse('not_found', id, nil, { what = 'task' }) end
if is_ended(B) or B[CANCELLING] == 1 then return { 'none' } end
if T[CODE] ~= IN_REVIEW or T[HOLD] ~= 'checks' or T[TOKEN] ~= '' then return { 'none' } end
T[TOKEN] = 'check-' .. ARGV[3]
T[LEASE_MS] = tonumber(ARGV[4])
redis.call('ZADD', leaseKey, int(now() + T[LEASE_MS]), id)
redis.call('ZREM', dueKey, id)
redis.call('HSET', runnersKey, id, cjson.encode({ runner = ARGV[2], at = now() }))
save_task(id, T)
return { 'ok', T[TOKEN], T[VERSION] }

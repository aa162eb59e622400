-- A task's lease and Redis' time. ARGV: 1 task ID
-- Returns 'ok', lease length in ms (0: none), its end or 0, the time.
local B, T = load(ARGV[1])
local refused = refuse_board(B)
if refused then return refused end
if not T then return refuse('not_found', ARGV[1], nil, { what = 'task' }) end
return { 'ok', T[LEASE_MS] or 0, tonumber(redis.call('ZSCORE', leaseKey, ARGV[1]) or 0), now() }

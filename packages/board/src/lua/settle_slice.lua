-- Goes on with the dependents of a task that has more of them than one script settles.
-- ARGV: 1 task ID
-- Returns 'ok' and 1 when there is more to do.
local id = ARGV[1]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
local start = redis.call('HGET', slicesKey, id)
if not start then return { 'ok', 0 } end
-- Of a task that is gone, nobody waits for anything: `doctor` says so.
local rest = T and settle_from(B, id, T[CODE], tonumber(start) or 0)
if rest then
  redis.call('HSET', slicesKey, id, int(rest))
  hand_on('settle', id, 0, 0)
else
  redis.call('HDEL', slicesKey, id)
  B[SLICES] = B[SLICES] - 1
  check_end(B, last_event())
end
dispatch(B)
save_board(B)
return { 'ok', rest and 1 or 0 }

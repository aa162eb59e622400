-- Takes a journal out of Redis whose whole is in the store: the task's record says where. An attempt can't be writing
-- to it, for the task, or its job, is over; and what was stored is what is here, for a journal only grows.
-- ARGV: 1 task ID, 2 entries in Redis, 3 record of the part that had left before or '', 4 its SHA-256 or '',
--       5 record of the whole (JSON), 6 its SHA-256
-- Returns 'ok', or 'stays' when the task goes on, or the journal is another one by now.
local id = ARGV[1]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if not T or not (is_terminal(T[CODE]) or is_ended(B)) then return { 'stays' } end
local before = redis.call('HGET', journalsKey, id) or ''
if before ~= ARGV[3] or redis.call('LLEN', journalKey) ~= tonumber(ARGV[2]) then return { 'stays' } end
redis.call('UNLINK', journalKey)
redis.call('HSET', journalsKey, id, ARGV[5])
redis.call('HINCRBY', journalsKey, 's:' .. ARGV[6], 1)
if before ~= '' and redis.call('HINCRBY', journalsKey, 's:' .. ARGV[4], -1) <= 0 then
  redis.call('HDEL', journalsKey, 's:' .. ARGV[4])
end
return { 'ok' }

/** KEYS: 1 records by ID, 2 IDs by number, 3 IDs by name, 4 what the Idempotency-Key is bound to. */
/** ARGV: 1 ID, 2 record, 3 folded name, 4 most keys, 5 binding (empty: none), 6 its life in ms. */
/** Returns {'made'}, {'bound', binding}, {'named', ID} or {'full', count}. Number 1 is the environment's key. */
export const CREATE = `
local bound = ARGV[5] ~= '' and redis.call('GET', KEYS[4])
if bound then return { 'bound', bound } end
local named = redis.call('HGET', KEYS[3], ARGV[3])
if named then return { 'named', named } end
local count = redis.call('HLEN', KEYS[1])
if count >= tonumber(ARGV[4]) then return { 'full', tostring(count) } end
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
redis.call('ZADD', KEYS[2], (tonumber(last[2]) or 1) + 1, ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[3], ARGV[3], ARGV[1])
if ARGV[5] ~= '' then redis.call('SET', KEYS[4], ARGV[5], 'PX', ARGV[6]) end
return { 'made' }`;

/** KEYS: 1 records by ID, 2 IDs by number, 3 IDs by name, 4 times of use by ID. ARGV: 1 ID, 2 folded name. */
/** Returns 1 when there was such a key. */
export const REVOKE = `
local gone = redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1])
if redis.call('HGET', KEYS[3], ARGV[2]) == ARGV[1] then redis.call('HDEL', KEYS[3], ARGV[2]) end
return gone`;

/** KEYS: 1 records by ID, 2 times of use by ID. ARGV: 1 ID, 2 shortest time between two notes in ms, 3 1: of no record. */
export const MARK_USED = `
if ARGV[3] ~= '1' and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local last = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0')
if now - last < tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f', now))
return 1`;

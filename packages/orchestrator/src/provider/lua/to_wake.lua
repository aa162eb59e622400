-- ARGV: 1 how many
-- Returns tasks that parked while the model was down, each "job/task" and its attempt; none while it is down.
if redis.call('HGET', stateKey, 'open') then return {} end
return redis.call('ZRANGE', parkedKey, 0, tonumber(ARGV[1]) - 1, 'WITHSCORES')

-- Forgets tasks that are woken, unless they parked again meanwhile; a model without anything left is watched no more.
-- ARGV: 1 name of the model, 2.. "job/task", attempt
-- Returns 1 while it is watched, else 0.
for i = 2, #ARGV, 2 do
  if tonumber(redis.call('ZSCORE', parkedKey, ARGV[i]) or -1) == tonumber(ARGV[i + 1]) then
    redis.call('ZREM', parkedKey, ARGV[i])
  end
end
local open = redis.call('HGET', stateKey, 'open')
if open or redis.call('EXISTS', parkedKey, pausedKey) > 0 then return 1 end
redis.call('SREM', watchedKey, ARGV[1])
return 0

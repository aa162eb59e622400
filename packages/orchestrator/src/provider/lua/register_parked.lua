-- Remembers a task that parks because the model is down, so that it is woken when it answers.
-- ARGV: 1 "job/task", 2 attempt, 3 name of the model
-- Returns 'ok'.
redis.call('ZADD', parkedKey, ARGV[2], ARGV[1])
redis.call('SADD', watchedKey, ARGV[3])
return { 'ok' }

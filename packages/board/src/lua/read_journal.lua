-- A task's journal as it lies, in one look: the part that has left for the store, and the entries in Redis after it.
-- ARGV: 1 task ID
-- Returns 'ok', the record of the part in the store (JSON) or '', the entries in Redis.
return { 'ok', redis.call('HGET', journalsKey, ARGV[1]) or '', redis.call('LRANGE', journalKey, 0, -1) }

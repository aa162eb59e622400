-- The task that a claim of this request ID holds. ARGV: 1 requestId. Returns its ID or ''.
return redis.call('HGET', repeatsKey, 'claim:' .. ARGV[1]) or ''

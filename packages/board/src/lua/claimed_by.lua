-- The task that a claim of this request holds. ARGV: 1 owner "kind:id", 2 requestId. Returns its ID or ''.
return redis.call('HGET', repeatsKey, 'claim:' .. ARGV[1] .. '/' .. ARGV[2]) or ''

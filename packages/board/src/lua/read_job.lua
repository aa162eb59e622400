-- The job as readers need it. Returns 'ok', board record, job spec JSON, result JSON or '', usage, last event ID, time,
-- and 1 when it can go on by itself.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local usage = redis.call('HGET', usageKey, '@')
return { 'ok', B, redis.call('HGET', jobKey, 'spec'), redis.call('HGET', jobKey, 'result') or '',
  usage and cmsgpack.unpack(usage) or {}, last_event(), now(),
  moves_by_itself(B) and 1 or 0 }

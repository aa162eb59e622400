-- The job as readers need it. Returns 'ok', board record, job spec JSON, result JSON or '', usage, last event ID, time,
-- 1 when its lead is queued.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local usage = redis.call('HGET', usageKey, '@')
local lead = B[LEAD] ~= '' and load_task(B[LEAD])
return { 'ok', B, redis.call('HGET', jobKey, 'spec'), redis.call('HGET', jobKey, 'result') or '',
  usage and cmsgpack.unpack(usage) or {}, last_event(), now(),
  lead and lead[CODE] == QUEUED and 1 or 0 }

-- The job as readers need it. Returns 'ok', board record, job spec JSON, result JSON or '', usage, last event ID, time,
-- why a model answers nobody or '', 1 when its lead is queued, sums of its spend, 1 when it can go on by itself.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local usage = redis.call('HGET', usageKey, '@')
local down, marks = '', redis.call('HGETALL', rateKey)
for i = 1, #marks, 2 do
  if marks[i]:sub(1, 7) == 'opened:' then down = marks[i + 1] end
end
local lead = B[LEAD] ~= '' and load_task(B[LEAD])
return { 'ok', B, redis.call('HGET', jobKey, 'spec'), redis.call('HGET', jobKey, 'result') or '',
  usage and cmsgpack.unpack(usage) or {}, last_event(), now(), down, lead and lead[CODE] == QUEUED and 1 or 0,
  spend_of('@'), moves_by_itself(B) and 1 or 0 }

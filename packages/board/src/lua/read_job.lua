-- The job as readers need it. Returns 'ok', board record, job spec JSON, result JSON or '', usage, last event ID, time,
-- why a model answers nobody or '', sums of its spend.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local usage = redis.call('HGET', usageKey, '@')
local down, marks = '', redis.call('HGETALL', rateKey)
for i = 1, #marks, 2 do
  if marks[i]:sub(1, 7) == 'opened:' then down = marks[i + 1] end
end
return { 'ok', B, redis.call('HGET', jobKey, 'spec'), redis.call('HGET', jobKey, 'result') or '',
  usage and cmsgpack.unpack(usage) or {}, last_event(), now(), down, spend_of('@') }

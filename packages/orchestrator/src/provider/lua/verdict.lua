-- Is it the model that fails, or only this one? A task is blamed only when somebody was answered since it began to fail.
-- ARGV: 1 since when its calls fail, 2 why, 3 probeMs, 4 name of the model
-- Returns 'up'; 'down', why; 'asking': a probe has to tell, it is due now or under way.
local open = redis.call('HGET', stateKey, 'open')
if open == 'down' then return { 'down', redis.call('HGET', stateKey, 'why') } end
if not open then
  if numbers('ok') > tonumber(ARGV[1]) then return { 'up' } end
  suspect(ARGV[4], tonumber(ARGV[3]), ARGV[2])
end
return { 'asking' }

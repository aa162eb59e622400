-- The model answers again: tasks that parked for it are ready at once.
-- ARGV: 1 by, 2 model, 3.. task ID, attempt that parked
-- Returns 'ok', IDs of tasks whose attempt has not parked yet: they are to be woken later.
local by, model = ARGV[1], ARGV[2]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local early = {}
if is_ended(B) or B[CANCELLING] == 1 then return { 'ok', early } end

local function wake(id, T)
  T[NOT_BEFORE] = 0
  redis.call('ZREM', dueKey, id)
  if T[NUMBER] > 0 then
    recode(B, id, T, rest_code(T, redis.call('HGET', unmetKey, id)))
  elseif is_open(B) then
    queue_lead(T)
  else
    -- The sweep queues the lead when the job runs again.
    redis.call('ZADD', dueKey, int(now()), id)
  end
  save_task(id, T)
end

for i = 3, #ARGV, 2 do
  local id = ARGV[i]
  local T = load_task(id)
  if T and T[ATTEMPT] == tonumber(ARGV[i + 1]) then
    if T[CODE] == IN_PROGRESS then
      early[#early + 1] = id
    elseif T[CODE] == SCHEDULED and T[HOLD] == '' then
      wake(id, T)
    end
  end
end
if redis.call('HDEL', rateKey, 'opened:' .. model) == 1 then
  emit('rate.closed', '', nil, by, cjson.encode({ model = model }))
end
dispatch(B)
save_board(B)
return { 'ok', early }

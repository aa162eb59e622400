-- Appends one entry to a task's journal, fenced by token and expected length; usage of a reply is added in the same step.
-- ARGV: 1 task ID, 2 token, 3 expected length, 4 entry ID, 5 entry JSON, 6 growth 0|1, 7 open tools +1|0|-1,
--       8 fresh start 0|1, 9 usage: JSON [modelCalls, input, output, cacheRead, cacheWrite] or '',
--       10 what the entry tells its model: '' or JSON {cursor: the lead's new cursor (an event ID),
--          messages: [message ID, ...], turn: of the model call that will see it},
--       11 ID of the call that the reply settles or '', 12 its nano-USD, 13 its tokens
-- Returns 'ok' | 'already' and the length; 'conflict' with the length when the journal is not as expected.
local id, token, expected = ARGV[1], ARGV[2], tonumber(ARGV[3])
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, '')
if refused then return refused end
local length = redis.call('LLEN', journalKey)
if length == expected + 1 then
  local last = cjson.decode(redis.call('LINDEX', journalKey, -1))
  if last.id == ARGV[4] then return { 'already', length } end
end
if length ~= expected then return { 'conflict', length } end
redis.call('RPUSH', journalKey, ARGV[5])
local growth, open = tonumber(ARGV[6]), T[OPEN_TOOLS] + tonumber(ARGV[7])
if open < 0 then open = 0 end
if (growth == 1 and T[GROWTH] == 0) or open ~= T[OPEN_TOOLS] or (ARGV[8] == '1' and T[FRESH] == 1) then
  if growth == 1 then T[GROWTH] = 1 end
  if ARGV[8] == '1' then T[FRESH] = 0 end
  T[OPEN_TOOLS] = open
  save_task(id, T)
end
local usage = ARGV[9] ~= '' and cjson.decode(ARGV[9]) or nil
if ARGV[11] ~= '' then
  -- Its usage is added with its money, so that a call settled before counts once.
  settle_call(id, ARGV[11], SETTLED, tonumber(ARGV[12]), tonumber(ARGV[13]), usage)
elseif usage then
  add_usage(id, T[ATTEMPT], usage)
end
if ARGV[10] ~= '' then
  local told = cjson.decode(ARGV[10])
  if told.cursor and T[NUMBER] == 0 and is_after(told.cursor, B[CURSOR]) then
    B[CURSOR] = told.cursor
    emit('message.delivered', id, T, T[OWNER], cjson.encode({ cursor = told.cursor }))
  end
  for _, message in ipairs(told.messages or {}) do deliver_message(B, id, T, message, told.turn) end
  save_board(B)
end
return { 'ok', length + 1 }

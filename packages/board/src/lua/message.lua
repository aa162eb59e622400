-- A person's message for the agent of a task or for the lead. One for a task that has ended goes to the lead at once.
-- ARGV: 1 by, 2 task ID or '' (the lead), 3 message ID, 4 the message as JSON, 5 start of its text for the log,
--       6 requestId or '', 7 hash of the call
-- Returns 'ok' and the message ID.
local MESSAGES_MOST = 500
local by, id, message = ARGV[1], ARGV[2], ARGV[3]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local earlier, mismatch = earlier_answer(ARGV[6], ARGV[7])
if mismatch then return mismatch end
if earlier then return earlier end
if is_ended(B) or B[CANCELLING] == 1 then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
if id == '' then id = B[LEAD] end
if id == '' then return refuse('no_lead') end
local T = load_task(id)
if not T then return refuse('not_found', id, nil, { what = 'task' }) end
if B[MESSAGES] >= MESSAGES_MOST then return refuse('too_many_messages', nil, nil, { most = MESSAGES_MOST }) end

redis.call('HSET', messagesKey, message, ARGV[4], 'to:' .. id, messages_for(id) .. message)
B[MESSAGES] = B[MESSAGES] + 1
emit('message.accepted', id, T, by, cjson.encode({ messageId = message, text = ARGV[5] }))
lift_pauses(B, 'stall', by, '')
if id == B[LEAD] then
  B[LEAD_MESSAGES] = B[LEAD_MESSAGES] + 1
  -- A word to the lead is the answer to what it asked.
  B[QUESTIONS] = 0
  redis.call('HDEL', jobKey, 'questions')
  wake_lead(B, false)
elseif is_terminal(T[CODE]) then
  pass_messages(B, id, T)
end
dispatch(B)
save_board(B)
local answer = { 'ok', message }
keep_answer(ARGV[6], ARGV[7], answer)
return answer

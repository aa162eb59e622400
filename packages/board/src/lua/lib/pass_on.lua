-- What waits for the agent of a task that has just ended goes to the lead; without a lead nobody will ever read it.
local function pass_messages(B, id, T)
  if B[MESSAGES] == 0 or T[NUMBER] == 0 or B[CANCELLING] == 1 then return end
  local ids = messages_for(id)
  if ids == '' then return end
  if B[LEAD] == '' then
    expire_messages(B, id, T, 'the task has ended, and this job has no lead')
    return
  end
  redis.call('HSET', messagesKey, 'to:' .. B[LEAD], messages_for(B[LEAD]) .. ids)
  redis.call('HDEL', messagesKey, 'to:' .. id, 'shown:' .. id)
  B[LEAD_MESSAGES] = B[LEAD_MESSAGES] + #ids / MESSAGE_ID
  local lead = load_task(B[LEAD])
  for at = 1, #ids, MESSAGE_ID do
    emit('message.accepted', B[LEAD], lead, 'harness:board',
      cjson.encode({ messageId = ids:sub(at, at + MESSAGE_ID - 1), passedFrom = id }))
  end
  wake_lead(B, false)
end

-- Messages of people that nobody was told of yet. messages["msg_..."] is one as JSON {text, by, to};
-- messages["to:<task ID>"] are the IDs of those that wait for that task's agent, oldest first, each MESSAGE_ID long.
-- messages["shown:<task ID>"] are those of them that an answer to its holder outside has carried, not known to have come.
-- B[MESSAGES] counts them all and B[LEAD_MESSAGES] the lead's: while it is 0 nobody looks.
local MESSAGE_ID = 16

local function messages_for(id)
  return redis.call('HGET', messagesKey, 'to:' .. id) or ''
end

-- What the holder with this token was shown last: the request ID of that call, and the IDs.
local function shown_messages(id, token)
  local packed = redis.call('HGET', messagesKey, 'shown:' .. id)
  local shown = packed and cmsgpack.unpack(packed)
  if not shown or shown[1] ~= token then return { request = '', ids = {} } end
  return { request = shown[2], ids = shown[3] }
end

local function keep_shown(id, token, request, ids)
  redis.call('HSET', messagesKey, 'shown:' .. id, cmsgpack.pack({ token, request, ids }))
end

local function forget_shown(id)
  redis.call('HDEL', messagesKey, 'shown:' .. id)
end

-- Gives up what waits for a task, because nobody will read it any more.
local function expire_messages(B, id, T, reason)
  local ids = messages_for(id)
  for at = 1, #ids, MESSAGE_ID do
    local message = ids:sub(at, at + MESSAGE_ID - 1)
    redis.call('HDEL', messagesKey, message)
    emit('message.expired', id, T, 'harness:board', cjson.encode({ messageId = message, reason = reason }))
  end
  redis.call('HDEL', messagesKey, 'to:' .. id, 'shown:' .. id)
  B[MESSAGES] = B[MESSAGES] - #ids / MESSAGE_ID
  if id == B[LEAD] then B[LEAD_MESSAGES] = 0 end
end

-- Gives up all messages of a job that ends: before its last event, for nothing may follow that.
local function expire_all_messages(B)
  if B[MESSAGES] == 0 then return end
  for _, field in ipairs(redis.call('HKEYS', messagesKey)) do
    local id = field:match('^to:(.+)$')
    if id then expire_messages(B, id, load_task(id), 'the job has ended') end
  end
end

-- Takes a message that its reader has just been told of off the list. Returns false when it does not wait any more.
local function deliver_message(B, id, T, message, turn)
  local ids = messages_for(id)
  local found = ids:find(message, 1, true)
  if not found then return false end
  local rest = ids:sub(1, found - 1) .. ids:sub(found + MESSAGE_ID)
  if rest == '' then redis.call('HDEL', messagesKey, 'to:' .. id, 'shown:' .. id) else redis.call('HSET', messagesKey, 'to:' .. id, rest) end
  redis.call('HDEL', messagesKey, message)
  B[MESSAGES] = B[MESSAGES] - 1
  if id == B[LEAD] then B[LEAD_MESSAGES] = B[LEAD_MESSAGES] - 1 end
  emit('message.delivered', id, T, T[OWNER], cjson.encode({ messageId = message, turn = turn }))
  return true
end

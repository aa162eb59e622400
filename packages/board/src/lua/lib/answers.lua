-- Answers of earlier calls by their request (the lead's, or a person's Idempotency-Key), so that a repeat gets the
-- true one. Every call that takes such a name keeps its answer here, with a hash of what was asked: the same name for
-- anything else is refused. Only the last ANSWERS_KEPT are kept.
local ANSWERS_KEPT = 256

-- The whole answer of the request, a refusal when it was another request of that name, or nil.
local function earlier_answer(requestId, hash)
  if requestId == '' then return nil end
  local packed = redis.call('HGET', jobKey, 'answer:' .. requestId)
  if not packed then return nil end
  local answer = cmsgpack.unpack(packed)
  if answer[1] ~= hash then return nil, refuse('idempotency_mismatch') end
  return answer[2]
end

local function keep_answer(requestId, hash, answer)
  if requestId == '' then return end
  local packed = redis.call('HGET', jobKey, 'answers')
  local kept = packed and cmsgpack.unpack(packed) or {}
  kept[#kept + 1] = requestId
  if #kept > ANSWERS_KEPT then redis.call('HDEL', jobKey, 'answer:' .. table.remove(kept, 1)) end
  redis.call('HSET', jobKey, 'answers', cmsgpack.pack(kept), 'answer:' .. requestId, cmsgpack.pack({ hash, answer }))
end

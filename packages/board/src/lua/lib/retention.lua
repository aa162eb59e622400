-- What tells one state of an ended board from every other. Only a call that is settled late changes one without an
-- event, and that shows in the sums.

local function numbers_of(packed)
  local texts = {}
  for i, value in ipairs(packed and cmsgpack.unpack(packed) or {}) do texts[i] = int(value) end
  return table.concat(texts, ',')
end

local function stamp_of(B)
  local last = redis.call('XREVRANGE', eventsKey, '+', '-', 'COUNT', 1)
  return table.concat({
    B[STATUS], B[JOB_VERSION], int(B[ENDED]), last[1] and last[1][1] or '',
    numbers_of(redis.call('HGET', usageKey, '@')), numbers_of(redis.call('HGET', spendKey, '@')),
  }, '/')
end

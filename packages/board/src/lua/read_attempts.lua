-- Attempt records by their fields "<task ID>:<attempt>". ARGV: the fields.
-- Returns 'ok', a list in the order asked: token, owner, start, end or 0, outcome, class, reason, then perhaps answer and
-- cause; empty when absent;
-- and lists of their usages and of their spends (settled, estimated, reserved), likewise.
local refused = refuse_board(load_board())
if refused then return refused end
local rows = {}
for i, packed in ipairs(redis.call('HMGET', attemptsKey, unpack(ARGV))) do
  rows[i] = packed and cmsgpack.unpack(packed) or {}
end
local usages = {}
for i, packed in ipairs(redis.call('HMGET', usageKey, unpack(ARGV))) do
  usages[i] = packed and cmsgpack.unpack(packed) or {}
end
local spends = {}
for i, packed in ipairs(redis.call('HMGET', spendKey, unpack(ARGV))) do
  spends[i] = packed and { unpack(cmsgpack.unpack(packed), 1, 3) } or {}
end
return { 'ok', rows, usages, spends }

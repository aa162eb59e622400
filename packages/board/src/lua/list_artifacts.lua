-- A page of what shows under a path, in the order in which it came to.
-- ARGV: 1 number after which it begins, 2 limit
-- Returns 'ok', the records, and the number after which the next page begins (0: this was the last).
local LOOKED_AT_MOST, STEP = 5000, 100
local after, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local refused = refuse_board(load_board())
if refused then return refused end
local last = tonumber(redis.call('HGET', artifactsKey, 'n') or 0)
local rows, at = {}, after
local stop = math.min(last, after + LOOKED_AT_MOST)
while at < stop and #rows < limit do
  local fields = {}
  for number = at + 1, math.min(at + STEP, stop) do fields[#fields + 1] = '#' .. int(number) end
  for _, ref in ipairs(redis.call('HMGET', artifactsKey, unpack(fields))) do
    if #rows == limit then break end
    at = at + 1
    -- What was replaced has left a gap.
    if ref then rows[#rows + 1] = artifact_row(ref, load_artifact(ref)) end
  end
end
return { 'ok', rows, at < last and at or 0 }

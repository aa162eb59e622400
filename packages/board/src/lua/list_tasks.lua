-- A page of tasks in the order of their numbers, after a number.
-- ARGV: 1 after (number), 2 limit, 3 full 0|1, then codes to list (none: all tasks).
-- Returns 'ok', board record, rows, the last number looked at (0: there is no more), last event ID.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local after, limit, full = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1'
local found = {}
if #ARGV == 3 then
  local ids = redis.call('GETRANGE', orderKey, after * 10, (after + limit + 1) * 10 - 1)
  for at = 1, #ids, 10 do found[#found + 1] = { after + (at - 1) / 10 + 1, ids:sub(at, at + 9) } end
else
  for i = 4, #ARGV do
    local base = tonumber(ARGV[i]) * BAND
    local pairs = redis.call('ZRANGEBYSCORE', indexKey, '(' .. int(base + after), '(' .. int(base + BAND),
      'WITHSCORES', 'LIMIT', 0, limit + 1)
    for at = 1, #pairs, 2 do found[#found + 1] = { tonumber(pairs[at + 1]) - base, pairs[at] } end
  end
  table.sort(found, function(a, b) return a[1] < b[1] end)
end
local rows, last = {}, 0
for i = 1, math.min(limit, #found) do
  local T = load_task(found[i][2])
  if T then rows[#rows + 1] = row(B, found[i][2], T, full) end
  last = found[i][1]
end
if #found <= limit then last = 0 end
return { 'ok', B, rows, last, last_event() }

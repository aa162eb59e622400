-- Checks that the fields of a hash belong to tasks.
-- ARGV: 1 mend 0|1, 2 name of the hash, 3 scan cursor, 4 about how many fields
-- Returns 'ok', findings, the next cursor ('0' at the end).
local name = ARGV[2]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local hashes = {
  hot = hotKey, head = headKey, body = bodyKey, outcome = outcomeKey, output = outputKey, deps = depsKey,
  edges = edgesKey, unmet = unmetKey, replaces = replacesKey, keys = keysKey, attempts = attemptsKey,
  repeats = repeatsKey, usage = usageKey, progress = progressKey, runners = runnersKey,
  journals = journalsKey,
}
local key = hashes[name]

local function is_task(id)
  return redis.call('HEXISTS', hotKey, id) == 1
end

-- A task that neither order nor index know: nobody would ever see it.
local function check_place(id, T)
  if T[NUMBER] == 0 then
    if id ~= B[LEAD] then report('order', id, 'a second task 0', B[LEAD]) end
    return
  end
  local at = (T[NUMBER] - 1) * 10
  if redis.call('ZSCORE', indexKey, id) or redis.call('GETRANGE', orderKey, at, at + 9) == id then return end
  report('order', id, 'listed nowhere', '#' .. T[NUMBER], not task_of_number(T[NUMBER]) and function()
    redis.call('SETRANGE', orderKey, at, id)
    redis.call('ZADD', indexKey, int(T[CODE] * BAND + T[NUMBER]), id)
  end or nil)
end

local function check_field(field, value)
  if name == 'hot' then
    local T = readable(field)
    if T then check_place(field, T) end
  elseif name == 'attempts' or (name == 'usage' and field:find(':', 1, true)) then
    local id, attempt = field:match('^(.*):(%d+)$')
    local T = id and readable(id)
    if not T or tonumber(attempt) > T[ATTEMPT] then report(name, id or field, 'attempt ' .. (attempt or '?'), 'none') end
  elseif name == 'repeats' and field:sub(1, 6) == 'claim:' then
    -- The claim of somebody outside, for as long as it holds.
    local T = readable(value)
    if not T or T[OWNER] .. '/' .. T[CLAIM_REQUEST] ~= field:sub(7) then report(name, value, field, 'none: that claim is over') end
  elseif name == 'keys' then
    local id = value:sub(1, 10)
    if not is_task(id) then
      report(name, id, 'key ' .. field, 'none: there is no such task', function() redis.call('HDEL', key, field) end)
    end
  elseif name == 'journals' and field:sub(1, 2) == 's:' then
    -- How many journals have this content.
    return
  elseif not is_task(field) then
    report(name, field, 'a field', 'none: there is no such task',
      name == 'unmet' and function() redis.call('HDEL', key, field) end or nil)
  elseif name == 'replaces' and not is_task(value) then
    report(name, field, 'replaces ' .. value, 'a task of this board')
  end
end

local scanned = redis.call('HSCAN', key, ARGV[3], 'COUNT', ARGV[4])
for i = 1, #scanned[2], 2 do
  -- '@' is the board itself.
  if scanned[2][i] ~= '@' or name == 'keys' then check_field(scanned[2][i], scanned[2][i + 1]) end
end
return { 'ok', findings, scanned[1] }

-- Checks what stands for the board as a whole; last, for counts follow the index.
-- ARGV: 1 mend 0|1, 2 how old an outbox entry may be, in ms
-- Returns 'ok', findings, outbox length, the lead as [ID, version, code, attempt, owner, outcome] or [], last event ID,
-- ms since the job's end or -1.
local outboxMs = tonumber(ARGV[2])
-- Outbox entries that are looked at, at most.
local LOOK = 1000
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end

local function set_field(at, value)
  return function() B[at] = value end
end

for code = 0, LAST_CODE do
  local counted = redis.call('ZCOUNT', indexKey, int(code * BAND), '(' .. int((code + 1) * BAND))
  if B[COUNTS + code] ~= counted then
    report('counts', '', B[COUNTS + code] .. ' ' .. code_text(code), counted, set_field(COUNTS + code, counted))
  end
end
local places = redis.call('STRLEN', orderKey) / 10
if places ~= B[LAST_NUMBER] then report('order', '', places .. ' places', B[LAST_NUMBER] .. ' numbers') end
local most = B[ALLOW_PARALLEL] == 1 and B[MAX_PARALLEL] or 1
local held = redis.call('ZCARD', windowKey)
-- A lowered maxParallel takes nothing out of the window.
if held > most and B[JOB_VERSION] == 1 then report('window', '', held .. ' members', 'at most ' .. most) end
if (B[ENDED] > 0) ~= (B[STATUS] == 'succeeded' or B[STATUS] == 'partial' or B[STATUS] == 'failed' or B[STATUS] == 'cancelled') then
  report('job', '', B[STATUS] .. (B[ENDED] > 0 and ' with' or ' without') .. ' an end', 'an end exactly when ended')
end

-- The outbox: how old its entries are, and what they say is still to come.
local entries, isHandedOn = redis.call('XRANGE', outboxKey, '-', '+', 'COUNT', LOOK), {}
for i, entry in ipairs(entries) do
  local kind, id = entry[2][4], entry[2][6]
  isHandedOn[kind .. ':' .. id] = true
  local age = now() - tonumber(entry[1]:match('^%d+'))
  if age > outboxMs and i <= 20 then
    report('outbox', id, kind .. ' waits for ' .. math.floor(age / 1000) .. ' s', 'carried out by a worker or the API')
  end
end

-- Can the outbox entry of this kind go on from what is noted of the slice?
local function goes_on(kind, id, noted)
  if kind == 'rerun' then return redis.call('HEXISTS', rerunsKey, id) == 1 end
  if not id or not readable(id) then return false end
  if kind == 'settle' then return tonumber(noted) ~= nil end
  if kind == 'lost' then return true end
  local isJson, note = pcall(cjson.decode, noted)
  return kind == 'cascade' and isJson and type(note) == 'table' and type(note.start) == 'number'
    and type(note.reason) == 'string' and type(note.by) == 'string'
end

local slices = redis.call('HLEN', slicesKey)
if slices < LOOK then
  local noted = redis.call('HGETALL', slicesKey)
  for i = 1, #noted, 2 do
    local field = noted[i]
    local kind, id = field:match('^(%l+):(t_%w+)$')
    if not kind then kind, id = field:match('^(rerun):(%d+)$') end
    if not kind then kind, id = 'settle', field:match('^t_%w+$') end
    if not goes_on(kind, id, noted[i + 1]) then
      -- Counted as under way, it would keep the job from its end for ever.
      slices = slices - 1
      report('slices', id or '', 'a slice that nothing can go on with: ' .. field, 'none',
        function() redis.call('HDEL', slicesKey, field) end)
    elseif #entries < LOOK and not isHandedOn[kind .. ':' .. id] then
      report('slices', id, 'under way, but not in the outbox', 'in the outbox',
        function() hand_on(kind, id, 0, 0) end)
    end
  end
end
if B[SLICES] ~= slices then report('slices', '', B[SLICES], slices, set_field(SLICES, slices)) end

-- Messages that wait: at most a few hundred, and each in one list.
local waiting, leads = 0, 0
for _, field in ipairs(redis.call('HKEYS', messagesKey)) do
  local id = field:match('^to:(.+)$')
  local length = id and redis.call('HSTRLEN', messagesKey, field) / MESSAGE_ID or 0
  waiting = waiting + length
  if id == B[LEAD] then leads = length end
end
if B[MESSAGES] ~= waiting then report('messages', '', B[MESSAGES], waiting, set_field(MESSAGES, waiting)) end
if B[LEAD_MESSAGES] ~= leads then report('messages', '', B[LEAD_MESSAGES] .. " for the lead", leads, set_field(LEAD_MESSAGES, leads)) end

local lead = {}
if redis.call('HEXISTS', jobKey, 'spec') == 0 then report('job', '', 'no settings', 'the job as submitted') end
if B[LEAD] ~= '' then
  local T = readable(B[LEAD])
  if not T or T[NUMBER] ~= 0 then
    report('record', B[LEAD], T and 'number ' .. T[NUMBER] or 'absent or unreadable', 'task 0')
  else
    lead = { B[LEAD], T[VERSION], T[CODE], T[ATTEMPT], T[OWNER], check_task(B[LEAD], T) }
  end
end
if mending and #findings > 0 then save_board(B) end
return { 'ok', findings, redis.call('XLEN', outboxKey), lead, last_event(), B[ENDED] > 0 and now() - B[ENDED] or -1 }

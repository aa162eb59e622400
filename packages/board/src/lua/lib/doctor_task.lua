-- Checks of one task: its record, and the sets and hashes that must agree with it.

-- The member of a sorted set that the task must be, with the score it takes when it is missing.
local function must_stand_in(check, key, id, score)
  if redis.call('ZSCORE', key, id) then return end
  report(check, id, 'not in ' .. check, 'in ' .. check, function() redis.call('ZADD', key, int(score), id) end)
end

-- The lease that a holder without one gets when its record does not tell: any that is alive renews it in that time.
local LONG_LEASE_MS = 900000

-- How long the lease of a task is that must have one, in ms; 0: none. People hold without.
local function lease_of(T, kind)
  local holds = T[CODE] == IN_PROGRESS or (T[CODE] == IN_REVIEW and T[TOKEN] ~= '')
  if not holds then return 0 end
  return T[LEASE_MS] or (kind == 'human' and 0 or LONG_LEASE_MS)
end

-- Checks of a submission that no runner has: without its place in due nobody would ever run them.
local function awaits_runner(T)
  return T[CODE] == IN_REVIEW and T[HOLD] == 'checks' and T[TOKEN] == ''
end

local function check_sets(id, T)
  local kind = T[OWNER]:match('^[^:]+') or ''
  local code = T[CODE]
  if code == SCHEDULED then
    local due = redis.call('ZSCORE', dueKey, id)
    -- The lead's time may be put off while the job is paused.
    if not due or (T[NUMBER] > 0 and tonumber(due) ~= T[NOT_BEFORE]) then
      report('due', id, due or 'not in due', int(T[NOT_BEFORE]),
        function() redis.call('ZADD', dueKey, int(T[NOT_BEFORE]), id) end)
    end
  end
  if awaits_runner(T) then must_stand_in('due', dueKey, id, now()) end
  if T[NUMBER] > 0 and (code == QUEUED or (code == IN_PROGRESS and kind == 'sub-agent')) then
    must_stand_in('window', windowKey, id, now())
  end
  -- Without its lease nobody would ever end the attempt of a holder that is gone.
  local leaseMs = lease_of(T, kind)
  if leaseMs > 0 then must_stand_in('lease', leaseKey, id, now() + leaseMs) end
end

-- Returns how the last attempt ended, '' while it runs or when there was none.
local function check_attempt(id, T)
  if T[CODE] == IN_PROGRESS and (T[TOKEN] == '' or T[OWNER] == '') then
    report('holder', id, 'in progress without ' .. (T[TOKEN] == '' and 'a token' or 'an owner'), 'a holder')
  elseif T[CODE] ~= IN_PROGRESS and T[CODE] ~= IN_REVIEW and T[TOKEN] ~= '' then
    report('holder', id, status_of(T[CODE]) .. ' with a claim token', 'no token')
  end
  if T[ATTEMPT] == 0 then return '' end
  local packed = redis.call('HGET', attemptsKey, id .. ':' .. T[ATTEMPT])
  local record = packed and cmsgpack.unpack(packed)
  if not record then
    report('attempts', id, 'no record of attempt ' .. T[ATTEMPT], 'a record')
  elseif T[CODE] == IN_PROGRESS and (record[4] > 0 or record[1] ~= T[TOKEN]) then
    report('attempts', id, 'attempt ' .. T[ATTEMPT] .. ' is over', 'under way')
  elseif T[CODE] ~= IN_PROGRESS and record[4] == 0 then
    report('attempts', id, 'attempt ' .. T[ATTEMPT] .. ' is under way', 'over')
  end
  return record and record[5] or ''
end

local function check_head(id)
  local text = redis.call('HGET', headKey, id)
  local readable, head = pcall(cjson.decode, text or '')
  if not readable or type(head) ~= 'table' then
    report('head', id, text and 'unreadable' or 'absent', 'its title and other short texts')
    return
  end
  if not head.key then return end
  local held = redis.call('HGET', keysKey, head.key)
  if not held or held:sub(1, 10) ~= id then
    report('keys', id, held and held:sub(1, 10) or 'nobody has key ' .. head.key, id)
  end
end

-- What a pending task's code must be by the readiness rule, given its unmet counter; nil when it is so.
local function other_readiness(id, T, unmet)
  local code = T[CODE]
  if not is_pending(code) and code ~= PROPOSAL then return nil end
  local expected = rest_code(T, unmet)
  if expected == code or (code == QUEUED and expected == READY + T[PRIORITY]) then return nil end
  -- Its time has come and no sweep has passed since.
  if code == SCHEDULED and is_ready(expected) then return nil end
  return expected
end

-- Everything about one task but its edges. Returns how its last attempt ended.
local function check_task(id, T)
  if T[NUMBER] > 0 then
    local score = int(T[CODE] * BAND + T[NUMBER])
    local indexed = redis.call('ZSCORE', indexKey, id)
    if not indexed or int(tonumber(indexed)) ~= score then
      report('index', id, indexed or 'not in index', score, function() redis.call('ZADD', indexKey, score, id) end)
    end
  end
  check_sets(id, T)
  check_head(id)
  return check_attempt(id, T)
end

-- The list of a task's dependents from edge `start` (0-based), `most` of them: each must depend on it, and stand at its
-- state now unless a slice is under way. Returns them as they stand now, and where the rest begins or -1.
local function check_edges(id, T, start, most)
  local edges = redis.call('HGET', edgesKey, id) or ''
  if #edges % 12 ~= 0 then
    report('edges', id, #edges .. ' bytes', 'entries of 12')
    return '', -1
  end
  local stop = math.min(#edges / 12, start + most)
  local underWay = redis.call('HEXISTS', slicesKey, id) == 1
  local parts, changed = {}, false
  for i = start, stop - 1 do
    local part = edges:sub(i * 12 + 1, i * 12 + 12)
    local dependent, condition, state = part:sub(1, 10), part:sub(11, 11), part:sub(12, 12)
    local wanted = edge_state(T[CODE], condition)
    if entries_of(redis.call('HGET', depsKey, dependent) or '', id .. condition, 11) == 0 then
      report('edges', id, 'dependent ' .. dependent, 'none: it does not depend on this task', function()
        part, changed = '', true
      end)
    elseif state ~= wanted and not underWay then
      report('edges', id, 'dependent ' .. dependent .. ' at ' .. state, wanted, function()
        part, changed = dependent .. condition .. wanted, true
      end)
    end
    parts[#parts + 1] = part
  end
  local kept = table.concat(parts)
  if changed then
    put(edgesKey, id, edges:sub(1, start * 12) .. kept .. edges:sub(stop * 12 + 1))
    -- As for any edge that is taken out: a slice under way starts over.
    if underWay then redis.call('HSET', slicesKey, id, '0') end
  end
  return kept, stop < #edges / 12 and start + #kept / 12 or -1
end

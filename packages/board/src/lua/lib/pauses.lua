-- Pauses: the set of causes for which a job stands still, each with its reason in the job's hash; and the clock of the
-- job's time limit, which stands still with it.

local function start_clock(B)
  if B[ACTIVE_FROM] == 0 then B[ACTIVE_FROM] = now() end
end

local function stop_clock(B)
  if B[ACTIVE_FROM] == 0 then return end
  B[ACTIVE_MS] = B[ACTIVE_MS] + now() - B[ACTIVE_FROM]
  B[ACTIVE_FROM] = 0
end

local function causes_of(B)
  local causes = {}
  for cause in B[PAUSES]:gmatch('[^,]+') do causes[#causes + 1] = cause end
  return causes
end

-- Why the job stands still: each cause and its reason; empty when it runs.
local function pause_reason(B)
  local parts = {}
  for i, cause in ipairs(causes_of(B)) do
    parts[i] = cause .. ': ' .. (redis.call('HGET', jobKey, 'pause:' .. cause) or '')
  end
  return table.concat(parts, '; ')
end

-- Adds a cause. False when it stood already.
local function add_pause(B, cause, reason, by)
  local causes = causes_of(B)
  for _, standing in ipairs(causes) do
    if standing == cause then return false end
  end
  stop_clock(B)
  causes[#causes + 1] = cause
  B[PAUSES] = table.concat(causes, ',')
  redis.call('HSET', jobKey, 'pause:' .. cause, reason)
  B[REASON] = pause_reason(B)
  emit('job.paused', '', nil, by, cjson.encode({ cause = cause, reason = reason, pauses = causes }))
  return true
end

-- The job runs again: what the pause kept back is queued. The caller saves the board.
local function run_again(B, by, reason)
  B[FAILED_SINCE] = 0
  start_clock(B)
  emit('job.resumed', '', nil, by, reason ~= '' and cjson.encode({ reason = reason }) or '')
  -- Deliveries of the meantime were dropped: what is still queued is queued again under a new number.
  if B[LEAD] ~= '' then
    local T = load_task(B[LEAD])
    if T[CODE] == QUEUED then
      queue_lead(T)
      save_task(B[LEAD], T)
    elseif T[HOLD] == 'news' and is_unread(B) then
      wake_lead(B, is_still(B))
    end
  end
  check_end(B, nil)
  dispatch(B)
end

-- Takes out one cause, or all with ''. False when that was none. While others are left, the event tells them.
local function lift_pauses(B, lifted, by, reason)
  local left, found = {}, false
  for _, cause in ipairs(causes_of(B)) do
    if lifted == '' or cause == lifted then
      found = true
      redis.call('HDEL', jobKey, 'pause:' .. cause)
    else
      left[#left + 1] = cause
    end
  end
  if not found then return false end
  B[PAUSES] = table.concat(left, ',')
  B[REASON] = pause_reason(B)
  if #left == 0 then
    run_again(B, by, reason)
  else
    emit('job.paused', '', nil, by, cjson.encode({ lifted = lifted, pauses = left }))
  end
  return true
end

-- Pauses: the set of causes for which a job stands still.

local function causes_of(B)
  local causes = {}
  for cause in B[PAUSES]:gmatch('[^,]+') do causes[#causes + 1] = cause end
  return causes
end

-- Adds a cause. False when it stood already.
local function add_pause(B, cause, reason, by)
  local causes = causes_of(B)
  for _, standing in ipairs(causes) do
    if standing == cause then return false end
  end
  causes[#causes + 1] = cause
  B[PAUSES] = table.concat(causes, ',')
  B[REASON] = cause .. ': ' .. reason
  emit('job.paused', '', nil, by, cjson.encode({ cause = cause, reason = reason }))
  return true
end

-- Takes out one cause, or all with ''. False when that was none. The caller saves the board.
local function lift_pauses(B, lifted, by)
  local left, found = {}, false
  for _, cause in ipairs(causes_of(B)) do
    if lifted == '' or cause == lifted then found = true else left[#left + 1] = cause end
  end
  if not found then return false end
  B[PAUSES] = table.concat(left, ',')
  if #left > 0 then return true end
  B[REASON] = ''
  emit('job.resumed', '', nil, by)
  -- Deliveries of the meantime were dropped: what is still queued is queued again under a new number.
  if B[LEAD] ~= '' then
    local T = load_task(B[LEAD])
    if T[CODE] == QUEUED then
      queue_lead(T)
      save_task(B[LEAD], T)
    elseif T[HOLD] == 'news' and is_after(B[NEWS], B[CURSOR]) then
      news(B, B[NEWS], is_still(B))
    end
  end
  check_end(B, nil)
  dispatch(B)
  return true
end

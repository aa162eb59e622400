-- What a change means for the job as a whole: the lead's wake by news, and the job's end.

-- Puts the lead (pending) into its queue.
local function queue_lead(T)
  T[HOLD] = ''
  T[NOT_BEFORE] = 0
  T[DISPATCH] = T[DISPATCH] + 1
  T[CODE] = QUEUED
  hand_on('enqueue', redis.call('HGET', jobKey, 'lead'), T[ATTEMPT], T[DISPATCH])
end

-- Stream IDs as numbers to compare: `a` after `b`. An empty ID is before all.
local function is_after(a, b)
  if a == '' then return false end
  if b == '' then return true end
  local aMs, aSeq = a:match('^(%d+)-(%d+)$')
  local bMs, bSeq = b:match('^(%d+)-(%d+)$')
  if aMs ~= bMs then return tonumber(aMs) > tonumber(bMs) end
  return tonumber(aSeq) > tonumber(bSeq)
end

local function total_of(B)
  local total = 0
  for code = 0, LAST_CODE do
    if not is_outside(code) then total = total + B[COUNTS + code] end
  end
  return total
end

-- True when no task can go on by itself or by people, and no slice is under way.
local function is_still(B)
  if B[SLICES] > 0 then return false end
  for code = 0, LAST_CODE do
    local rests = code == WAITING or code == UNREACHABLE or is_outside(code) or is_terminal(code)
    if not rests and B[COUNTS + code] > 0 then return false end
  end
  return true
end

-- Wakes by news are counted; at the bound one last is left for when all is settled.
local function may_wake(B, settled)
  return B[LEAD_RUNS] < B[MAX_LEAD_RUNS] or (settled and B[LEAD_RUNS] == B[MAX_LEAD_RUNS])
end

-- True while the lead has not been told of everything: news of the board, messages of people.
local function is_unread(B)
  return B[LEAD_MESSAGES] > 0 or is_after(B[NEWS], B[CURSOR])
end

-- True while something may bring news to a lead that waits: tasks, or people who were asked.
local function can_make_news(B)
  return B[PLAN] == 0 and (B[QUESTIONS] > 0 or not is_still(B))
end

-- Wakes the lead when it waits for news. First news wakes at once, later ones after the coalescing time; that all is
-- settled always wakes at once, and at maxLeadRuns only that does, once.
local function wake_lead(B, settled)
  -- What a job's last money is kept for is the lead's last run.
  if B[LEAD] == '' or (B[WINDING_UP] > 0 and not settled) then return end
  local T = load_task(B[LEAD])
  local forNews = T[HOLD] == 'news' or (T[HOLD] == 'woken' and T[CODE] == SCHEDULED)
  if not forNews or not is_open(B) then return end
  if not may_wake(B, settled) then return end
  local at = B[WOKEN] + B[COALESCE]
  if settled or at <= now() then
    redis.call('ZREM', dueKey, B[LEAD])
    B[WOKEN] = now()
    B[LEAD_RUNS] = B[LEAD_RUNS] + 1
    queue_lead(T)
  elseif T[HOLD] == 'news' then
    -- 'woken' holds nothing: it marks a wake under way, so that it counts once and may come early.
    T[HOLD] = 'woken'
    T[NOT_BEFORE] = at
    T[CODE] = SCHEDULED
    redis.call('ZADD', dueKey, int(at), B[LEAD])
  end
  save_task(B[LEAD], T)
end

-- News at event `id` for the lead.
local function news(B, id, settled)
  if is_after(id, B[NEWS]) then B[NEWS] = id end
  wake_lead(B, settled)
end

-- Failed tasks that count: those that no completed task replaces. Few tasks replace another, and this is asked only
-- when the board stands still.
local function failures_that_count(B)
  local failed, replaced = B[COUNTS + FAILED], {}
  if failed == 0 then return 0 end
  local pairs = redis.call('HGETALL', replacesKey)
  for i = 1, #pairs, 2 do
    local old = pairs[i + 1]
    if not replaced[old] and load_task(pairs[i])[CODE] == COMPLETED and load_task(old)[CODE] == FAILED then
      replaced[old] = true
      failed = failed - 1
    end
  end
  return failed
end

local function end_job(B, status, reason, by)
  B[STATUS] = status
  B[REASON] = reason
  B[ENDED] = now()
  if B[QUESTIONS] > 0 then redis.call('HDEL', jobKey, 'questions') end
  B[PLAN], B[QUESTIONS] = 0, 0
  expire_all_messages(B)
  emit('job.' .. status, '', nil, by, reason ~= '' and cjson.encode({ reason = reason }) or '')
  hand_on('archive', '', 0, 0)
end

-- Ends a job that has no lead (any more) once nothing can move, or tells the lead by the event `id`; without an ID
-- there is nothing new to tell.
local function check_end(B, id)
  if B[STATUS] == 'accepting' or is_ended(B) or B[CANCELLING] == 1 or not is_still(B) then return end
  local total = total_of(B)
  local leadFailed = ''
  if B[LEAD] ~= '' then
    local T = load_task(B[LEAD])
    local isSpent = T[HOLD] == 'news' and not may_wake(B, true)
    if not is_terminal(T[CODE]) and not isSpent then
      if total > 0 and id then news(B, id, true) end
      return
    end
    leadFailed = isSpent and 'lead: maxLeadRuns' or redis.call('HGET', jobKey, 'leadFailure') or ''
  end
  local completed = B[COUNTS + COMPLETED]
  local status = completed == 0 and 'failed' or 'partial'
  local short = total - completed - B[COUNTS + FAILED] + failures_that_count(B)
  if short == 0 and completed > 0 and leadFailed == '' then status = 'succeeded' end
  if status ~= 'succeeded' and leadFailed == '' and B[WINDING_UP] > 0 then leadFailed = 'budget: the budget is used up' end
  end_job(B, status, leadFailed, 'harness:board')
end

-- What follows from a change: index and counts, the dispatch window, dependents, the lead's wake, the job's end.

-- Edges that one script settles at most, over all the tasks that it ends; the rest goes on in slices through the
-- outbox.
local SLICE = 500
local edgesLeft = SLICE
-- Tasks that one script hands to the queue at most.
local DISPATCH_MOST = 200
-- unmet[<taskId>] = unmet dependencies + LOST_UNIT * lost ones.
local LOST_UNIT = 16777216

local function count(B, code, by)
  B[COUNTS + code] = B[COUNTS + code] + by
end

-- Gives the task its new code: record, counts and index. Task 0 stands outside counts and index.
local function recode(B, id, T, code)
  local isLost = code == FAILED or code == CANCELLED
  if isLost ~= (T[CODE] == FAILED or T[CODE] == CANCELLED) then mark_lost(id, isLost and 1 or 0) end
  if T[NUMBER] > 0 then
    count(B, T[CODE], -1)
    count(B, code, 1)
    redis.call('ZADD', indexKey, int(code * BAND + T[NUMBER]), id)
  end
  T[CODE] = code
end

-- A pending task's code by its holds, dependencies and time: the one readiness rule of the scripts.
-- `unmet` is its field of the unmet hash, or nil.
local function rest_code(T, unmet)
  local open = tonumber(unmet or 0)
  if T[HOLD] == 'proposal' then return PROPOSAL end
  if T[HOLD] == 'news' then return WAITING end
  if T[HOLD] ~= '' then return HELD end
  if open >= LOST_UNIT then return UNREACHABLE end
  if open > 0 then return WAITING end
  if T[NOT_BEFORE] > now() then return SCHEDULED end
  if T[EXECUTOR] >= 2 then return READY_OUTSIDE + T[PRIORITY] end
  return READY + T[PRIORITY]
end

-- A task waits for a person's word on the plan; the lead itself plans.
local function awaits_approval(B, T)
  return B[PLAN] > 0 and T[NUMBER] > 0
end

local function is_paused(B)
  return B[PAUSES] ~= ''
end

-- True while the board takes claims: accepted, not paused, not ending.
local function is_open(B)
  return B[STATUS] ~= 'accepting' and not is_ended(B) and B[CANCELLING] == 0 and not is_paused(B)
end

-- How many more tasks may go into the window now, and how many are in it.
local function room(B)
  if not is_open(B) or B[PLAN] > 0 or B[WINDING_UP] > 0 then return 0, 0 end
  local inFlight = redis.call('ZCARD', windowKey)
  if B[ALLOW_PARALLEL] == 1 then return B[MAX_PARALLEL] - inFlight, inFlight end
  return B[COUNTS + IN_PROGRESS] > 0 and 0 or 1 - inFlight, inFlight
end

-- Puts ready tasks into the window, each with an outbox entry.
local function queue_tasks(B, ids, inFlight)
  local hot, scores, window = {}, {}, {}
  for n, packed in ipairs(redis.call('HMGET', hotKey, unpack(ids))) do
    local id, T, at = ids[n], cmsgpack.unpack(packed), n * 2 - 1
    T[DISPATCH] = T[DISPATCH] + 1
    count(B, T[CODE], -1)
    count(B, QUEUED, 1)
    T[CODE] = QUEUED
    hot[at], hot[at + 1] = id, cmsgpack.pack(T)
    scores[at], scores[at + 1] = int(QUEUED * BAND + T[NUMBER]), id
    window[at], window[at + 1] = int(now()), id
    hand_on('enqueue', id, T[ATTEMPT], T[DISPATCH], inFlight + n)
  end
  redis.call('HSET', hotKey, unpack(hot))
  redis.call('ZADD', indexKey, unpack(scores))
  redis.call('ZADD', windowKey, unpack(window))
end

-- Fills the window with ready tasks, first by priority, then by number. It reads tasks from Redis: a script saves the
-- task it holds before it calls this. In a batch that happens once, at its end.
local function dispatch(B)
  if batch then
    batch.mayDispatch = true
    return
  end
  local ready = 0
  for code = READY, READY + 4 do ready = ready + B[COUNTS + code] end
  if ready == 0 then return end
  local free, inFlight = room(B)
  if free <= 0 then return end
  local most = math.min(free, DISPATCH_MOST)
  local ids = redis.call('ZRANGEBYSCORE', indexKey, '-inf', '(' .. int(QUEUED * BAND), 'LIMIT', 0, most)
  if #ids > 0 then queue_tasks(B, ids, inFlight) end
  if #ids == most and free > most then hand_on('dispatch', '', 0, 0) end
end

-- Does what the calls of a batch have left to its end.
local function end_batch()
  local done = batch
  batch = nil
  if done.mayDispatch then dispatch(done.board) end
  if done.isChanged then save_board(done.board) end
end

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

-- The state of an edge: m(et), l(ost) or u(nmet), by the dependency's code and the edge's condition.
local function edge_state(code, condition)
  if not is_terminal(code) then return 'u' end
  if condition == 's' or code == COMPLETED then return 'm' end
  return 'l'
end

local UNITS = { u = 1, l = LOST_UNIT, m = 0 }

local function kind_of(unmet)
  if unmet >= LOST_UNIT then return 'lost' end
  return unmet > 0 and 'unmet' or 'free'
end

-- What a pending task's new code brings with it: its place in due, or the news that it can't be reached.
local function settle_down(B, id, T, because)
  if T[CODE] == SCHEDULED then redis.call('ZADD', dueKey, int(T[NOT_BEFORE]), id) end
  if T[CODE] ~= UNREACHABLE or is_ended(B) or B[CANCELLING] == 1 or B[WINDING_UP] > 0 then return end
  if T[ON_LOST] == 1 then
    if redis.call('HSET', slicesKey, 'lost:' .. id, 1) == 1 then B[SLICES] = B[SLICES] + 1 end
    hand_on('lost', id, 0, 0)
    return
  end
  local event = emit('task.unreachable', id, T, 'harness:board', because and cjson.encode({ because = because }))
  news(B, event, false)
end

-- The code that a pending task gets by its new unmet count, or nil when it keeps its own.
local function turned_code(T, unmet)
  if not is_pending(T[CODE]) then return nil end
  local code = rest_code(T, unmet)
  if code == T[CODE] or (T[CODE] == QUEUED and code <= READY + 4) then return nil end
  return code
end

-- Adds `by[n]` to the unmet counter of `dependents[n]`, each of them once. Returns those that this may turn, and
-- their counters: one command for all, since a slice has many.
local function count_unmet(dependents, by)
  local unmets, written, turning, open = redis.call('HMGET', unmetKey, unpack(dependents)), {}, {}, {}
  for n, dependent in ipairs(dependents) do
    local before = tonumber(unmets[n] or 0)
    local unmet = before + by[n]
    written[n * 2 - 1], written[n * 2] = dependent, int(unmet)
    if kind_of(before) ~= kind_of(unmet) then
      turning[#turning + 1] = dependent
      open[#open + 1] = unmet
    end
  end
  redis.call('HSET', unmetKey, unpack(written))
  return turning, open
end

-- Moves edges to `dependents`; their readiness follows.
local function move_edges(B, dependents, by, because)
  if #dependents == 0 then return end
  local turning, open = count_unmet(dependents, by)
  if #turning == 0 then return end
  local packed = redis.call('HMGET', hotKey, unpack(turning))
  local hot, scores, turned = {}, {}, {}
  for n, dependent in ipairs(turning) do
    local T = cmsgpack.unpack(packed[n])
    local code = turned_code(T, open[n])
    if code then
      if T[CODE] == QUEUED then redis.call('ZREM', windowKey, dependent) end
      if T[CODE] == SCHEDULED then redis.call('ZREM', dueKey, dependent) end
      count(B, T[CODE], -1)
      count(B, code, 1)
      T[CODE] = code
      local at = #hot
      hot[at + 1], hot[at + 2] = dependent, cmsgpack.pack(T)
      scores[at + 1], scores[at + 2] = int(code * BAND + T[NUMBER]), dependent
      if code == SCHEDULED or code == UNREACHABLE then turned[#turned + 1] = { dependent, T } end
    end
  end
  if #hot == 0 then return end
  redis.call('HSET', hotKey, unpack(hot))
  redis.call('ZADD', indexKey, unpack(scores))
  for _, each in ipairs(turned) do settle_down(B, each[1], each[2], because) end
end

-- Sets the edges of `id`'s dependents from `start` (0-based) to its state now, at most SLICE of them.
-- Setting to a level instead of adding a delta makes repeating it harmless. Returns where it stopped, or nil at the end.
local function settle_from(B, id, code, start)
  local edges = redis.call('HGET', edgesKey, id)
  if not edges then return nil end
  local total = #edges / 12
  local stop = math.min(total, start + edgesLeft)
  edgesLeft = edgesLeft - (stop - start)
  local parts, moved, by = {}, {}, {}
  for i = start, stop - 1 do
    local at = i * 12 + 1
    local dependent, condition, state = edges:sub(at, at + 9), edges:sub(at + 10, at + 10), edges:sub(at + 11, at + 11)
    local wanted = edge_state(code, condition)
    if wanted ~= state then
      moved[#moved + 1] = dependent
      by[#by + 1] = UNITS[wanted] - UNITS[state]
    end
    parts[#parts + 1] = dependent .. condition .. wanted
  end
  move_edges(B, moved, by, id)
  redis.call('HSET', edgesKey, id, edges:sub(1, start * 12) .. table.concat(parts) .. edges:sub(stop * 12 + 1))
  return stop < total and stop or nil
end

-- Tells the dependents of `id`, whose code has just become or ceased to be terminal.
local function settle(B, id, code)
  local rest = settle_from(B, id, code, 0)
  if not rest then return end
  -- One slice task a dependency: a new settle while one is under way starts it over at the new state.
  if redis.call('HSET', slicesKey, id, int(rest)) == 1 then B[SLICES] = B[SLICES] + 1 end
  hand_on('settle', id, 0, 0)
end

-- Where a task stands: its code, index and counts; and the dispatch window of tasks that are handed to the queue.

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
  local hot, scores, window, at = {}, {}, {}, int(now())
  for n, packed in ipairs(redis.call('HMGET', hotKey, unpack(ids))) do
    local id, T, i = ids[n], cmsgpack.unpack(packed), n * 2 - 1
    T[DISPATCH] = T[DISPATCH] + 1
    count(B, T[CODE], -1)
    count(B, QUEUED, 1)
    T[CODE] = QUEUED
    hot[i], hot[i + 1] = id, cmsgpack.pack(T)
    scores[i], scores[i + 1] = int(QUEUED * BAND + T[NUMBER]), id
    window[i], window[i + 1] = at, id
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

-- The records of a board and what every script does with them. Key names (hotKey, indexKey, ...) and constants in
-- capitals become literals when a script is put together (lua-source.ts).
--
-- hot[<taskId>] is a task's hot state, hot["@"] the board's own, each one cmsgpack array: the positions below are
-- the format. A longer array is a newer writer's: positions are only ever added, BOARD_FORMAT counts meanings.
local BOARD_FORMAT = 1

-- The board record.
local FORMAT, JOB_VERSION, STATUS, LEAD, LAST_NUMBER, MAX_PARALLEL, ALLOW_PARALLEL, CANCELLING = 1, 2, 3, 4, 5, 6, 7, 8
-- 13 is no longer used.
local CREATED, STARTED, ENDED, SWEPT = 9, 10, 11, 12
local NEWS, CURSOR, WOKEN, LEAD_RUNS, SLICES, COALESCE, PAUSES = 14, 15, 16, 17, 18, 19, 20
local MAX_TASKS, REASON, MAX_LEAD_RUNS, HOLD_OPEN, GRAPH, FILL = 21, 22, 23, 24, 25, 26
local MAX_FAILURES, FAILED_SINCE, JOB_TIMEOUT = 27, 28, 29
local COUNTS = 30 -- + a task's code: how many tasks have that code; up to 52
local ACTIVE_MS, ACTIVE_FROM, JOB_ATTEMPTS = 53, 54, 55
local MESSAGES, LEAD_MESSAGES, PLAN, PLAN_NUMBER, QUESTIONS = 56, 57, 58, 59, 60
-- Caps of the budget in nano-USD and tokens (0: none); onLimit 0 pause | 1 finish | 2 fail; how the job ends by it, 0: not.
local BUDGET_MONEY, BUDGET_TOKENS, ON_LIMIT, WINDING_UP = 61, 62, 63, 64
local LAST_FIELD = 64
-- What is open is wound up, or the job fails.
local WINDS_UP, FAILS = 1, 2

-- A task's record.
local VERSION, CODE, NUMBER, PRIORITY, EXECUTOR, POLICY, ATTEMPT, TOKEN, OWNER = 1, 2, 3, 4, 5, 6, 7, 8, 9
local FAILURES, MAX_ATTEMPTS, STRIKES, STICKY, NOT_BEFORE, HOLD, DISPATCH, CLAIM_REQUEST = 10, 11, 12, 13, 14, 15, 16, 17
local GROWTH, OPEN_TOOLS, UPDATED, TASK_STARTED, TASK_ENDED, ATTEMPT_AT, FRESH, ON_LOST = 18, 19, 20, 21, 22, 23, 24, 25
local TASK_CREATED, LEASE_MS = 26, 27

-- A task's code: status and readiness in one number; index scores are code * BAND + number.
-- 0-4 ready for dispatch by priority, 17-21 ready for external and human holders by priority.
local READY, QUEUED, WAITING, SCHEDULED, UNREACHABLE, HELD = 0, 5, 6, 7, 8, 9
local IN_PROGRESS, IN_REVIEW, BLOCKED, COMPLETED, FAILED, CANCELLED = 10, 11, 12, 13, 14, 15
local PROPOSAL, READY_OUTSIDE, REJECTED, LAST_CODE = 16, 17, 22, 22
local BAND = 4294967296

local STATUS_NAMES = {
  [IN_PROGRESS] = 'in_progress', [IN_REVIEW] = 'in_review', [BLOCKED] = 'blocked',
  [COMPLETED] = 'completed', [FAILED] = 'failed', [CANCELLED] = 'cancelled', [REJECTED] = 'cancelled',
}

local function status_of(code)
  return STATUS_NAMES[code] or 'pending'
end

local function is_terminal(code)
  return (code >= COMPLETED and code <= CANCELLED) or code == REJECTED
end

local function is_ready(code)
  return code <= QUEUED or (code >= READY_OUTSIDE and code < REJECTED)
end

-- Pending in every way that counts as such; a proposal stands outside.
local function is_pending(code)
  return code <= HELD or (code >= READY_OUTSIDE and code < REJECTED)
end

-- Proposals, accepted or not yet, stand outside counts, lists of work and the job's end.
local function is_outside(code)
  return code == PROPOSAL or code == REJECTED
end

local clock
-- Redis' time in ms; read once a script, so that all it writes carries one time.
local function now()
  if not clock then
    local time = redis.call('TIME')
    clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return clock
end

-- Numbers above 2^31 as text that no Lua build prints in exponent form.
local function int(value)
  return string.format('%.0f', value)
end

local function unpack_record(packed)
  if not packed then return nil end
  return cmsgpack.unpack(packed)
end

-- The board record; what an older writer did not know is 0, and never a hole (cmsgpack would make it a map).
local function unpack_board(packed)
  local B = unpack_record(packed)
  if B then
    for field = #B + 1, LAST_FIELD do B[field] = 0 end
  end
  return B
end

-- In a script that takes several calls at once (lua-source.ts), what they share: the board's record is read once and
-- written at their end, and the window is filled then. Else nil.
local batch

-- Returns the board record and the task's, either nil when absent.
local function load(id)
  if batch and batch.board then return batch.board, unpack_record(redis.call('HGET', hotKey, id)) end
  local packed = redis.call('HMGET', hotKey, '@', id)
  local B = unpack_board(packed[1])
  if batch then batch.board = B end
  return B, unpack_record(packed[2])
end

local function load_board()
  if batch and batch.board then return batch.board end
  return unpack_board(redis.call('HGET', hotKey, '@'))
end

local function load_task(id)
  return unpack_record(redis.call('HGET', hotKey, id))
end

local function save_board(B)
  if batch then
    batch.isChanged = true
    return
  end
  redis.call('HSET', hotKey, '@', cmsgpack.pack(B))
end

local function save_task(id, T)
  redis.call('HSET', hotKey, id, cmsgpack.pack(T))
end

local function save(B, id, T)
  if batch then
    batch.isChanged = true
    return save_task(id, T)
  end
  redis.call('HSET', hotKey, '@', cmsgpack.pack(B), id, cmsgpack.pack(T))
end

-- A refusal; T, when given, is shown to the caller as the current state.
local function refuse(code, id, T, extra)
  local current = extra or {}
  if T then
    current.taskId = id
    current.status = status_of(T[CODE])
    current.code = T[CODE]
    current.version = T[VERSION]
    current.attempt = T[ATTEMPT]
    current.owner = T[OWNER]
    current.hold = T[HOLD]
    current.notBefore = T[NOT_BEFORE]
    if T[CODE] == IN_REVIEW then current.review = T[HOLD] end
  end
  return { 'refused', code, cjson.encode(current) }
end

-- The refusal for a board that can't be used at all, or nil: absent, or written by a newer version.
local function refuse_board(B)
  if not B then return refuse('not_found', nil, nil, { what = 'job' }) end
  if B[FORMAT] > BOARD_FORMAT then
    return refuse('newer_format', nil, nil, { format = B[FORMAT], known = BOARD_FORMAT })
  end
  return nil
end

-- The job's attempts where a board of an older version does not tell them.
local OLD_ATTEMPTS = 3

-- Attempts that may fail before the task has failed: its own number, or the job's, which may change.
local function attempts_of(B, T)
  if T[MAX_ATTEMPTS] > 0 then return T[MAX_ATTEMPTS] end
  return B[JOB_ATTEMPTS] > 0 and B[JOB_ATTEMPTS] or OLD_ATTEMPTS
end

local function is_ended(B)
  return B[ENDED] > 0
end

-- Appends an event; all fields always and in one order, which keeps the stream small. Returns its ID.
local function emit(type, id, T, by, extra)
  if T then
    return redis.call('XADD', eventsKey, '*', 't', type, 'k', id, 'a', T[ATTEMPT], 'b', by,
      's', status_of(T[CODE]), 'n', T[VERSION], 'o', T[OWNER], 'x', extra or '')
  end
  return redis.call('XADD', eventsKey, '*', 't', type, 'k', '', 'a', '', 'b', by, 's', '', 'n', '', 'o', '',
    'x', extra or '')
end

-- One thing to hand on; carried out at least once, then removed by its ID. `rank`: how many of the job are in flight
-- with it, for what goes into a queue.
local function hand_on(kind, id, attempt, dispatch, rank)
  redis.call('XADD', outboxKey, '*', 'v', 1, 'kind', kind, 'task', id, 'attempt', attempt, 'dispatch', dispatch,
    'rank', rank or 0)
end

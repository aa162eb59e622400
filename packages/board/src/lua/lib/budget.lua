-- The caps of a job and of its tasks, and what happens at them.

local ON_LIMIT_PAUSE, ON_LIMIT_FINISH = 0, 1

-- The cap of a task's own in nano-USD; 0: none.
local function task_cap(id)
  local head = redis.call('HGET', headKey, id) or ''
  if not head:find('"budgetUsd"', 1, true) then return 0 end
  local limits = cjson.decode(head).limits
  return limits and limits.budgetUsd and math.floor(limits.budgetUsd * 1000000000 + 0.5) or 0
end

-- The lead's last run: everything is settled, or is being wound up for it.
local function is_last_run(B, T)
  if T[NUMBER] > 0 then return false end
  return B[WINDING_UP] == WINDS_UP or (total_of(B) > 0 and is_still(B))
end

-- The caps that a call has to fit. `input` is what its input takes at most, `perToken` what a token of output does.
-- A tenth of the job's is kept for the lead's last run.
local function caps_of(B, id, T, call)
  local J, caps = spend_of('@'), {}
  local keeps = B[LEAD] ~= '' and not is_last_run(B, T)
  local function add(scope, unit, whole, kept, S, tokens, input, perToken)
    if whole == 0 then return end
    caps[#caps + 1] = { scope = scope, unit = unit, whole = whole, most = whole - kept, input = input, perToken = perToken,
      used = S[SETTLED + tokens] + S[ESTIMATED + tokens], reserved = S[RESERVED + tokens] }
  end
  local function tenth(whole) return keeps and math.floor(whole / 10) or 0 end
  add('job', 'usd', B[BUDGET_MONEY], tenth(B[BUDGET_MONEY]), J, 0, call.money, call.perToken)
  add('job', 'tokens', B[BUDGET_TOKENS], tenth(B[BUDGET_TOKENS]), J, TOKENS, call.tokens, 1)
  add('task', 'usd', task_cap(id), 0, spend_of(id), 0, call.money, call.perToken)
  return caps
end

-- How many tokens of output fit beside the input into `free`; -1 when not even the input does.
local function output_in(free, cap, wanted)
  if free < cap.input then return -1 end
  if cap.perToken == 0 then return wanted end
  return math.min(wanted, math.floor((free - cap.input) / cap.perToken))
end

-- The output that all caps allow; else nil, the cap in the way, and true while only calls under way are in it.
-- `isPatient`: also while those are all that is in the way of the whole output.
local function fit(caps, wanted, least, isPatient)
  local granted, busy = wanted, nil
  for _, cap in ipairs(caps) do
    local most = output_in(cap.most - cap.used - cap.reserved, cap, wanted)
    local later = output_in(cap.most - cap.used, cap, wanted)
    if later < least then return nil, cap, false end
    if most < least or (isPatient and most < later) then busy = cap end
    granted = math.min(granted, most)
  end
  if busy then return nil, busy, true end
  return granted
end

-- How much of the caps is used, in thousandths of the one that is used most.
local function used_share(caps)
  local share = 0
  for _, cap in ipairs(caps) do share = math.max(share, math.floor(cap.used / cap.whole * 1000)) end
  return share
end

local function amount(cap, value)
  if cap.unit == 'usd' then return string.format('%.4f USD', value / 1000000000) end
  return int(value) .. ' tokens'
end

-- Why a call does not fit, in one line.
local function cap_reason(cap, least)
  local kept = cap.whole - cap.most
  return 'of ' .. amount(cap, cap.whole) .. (kept > 0 and ' (' .. amount(cap, kept) .. " kept for the lead's last run)" or '')
    .. ' ' .. amount(cap, cap.used) .. ' are spent'
    .. (cap.reserved > 0 and ', ' .. amount(cap, cap.reserved) .. ' are reserved for calls under way' or '') .. ', and the next call may take ' .. amount(cap, cap.input + least * cap.perToken)
end

-- The job's budget is used up: once, what `onLimit` says.
local function trip(B, cap, reason)
  local by = 'harness:budget'
  local extra = cjson.encode({ reason = reason, unit = cap.unit })
  if B[ON_LIMIT] == ON_LIMIT_PAUSE then
    if add_pause(B, 'budget', reason, by) then emit('budget.exhausted', '', nil, by, extra) end
    return
  end
  if B[WINDING_UP] > 0 then return end
  local event = emit('budget.exhausted', '', nil, by, extra)
  B[REASON] = 'budget: ' .. reason
  if B[ON_LIMIT] == ON_LIMIT_FINISH then
    B[WINDING_UP] = WINDS_UP
    if is_after(event, B[NEWS]) then B[NEWS] = event end
    hand_on('wind_up', '', 0, 0)
  else
    B[WINDING_UP], B[CANCELLING] = FAILS, 1
    redis.call('HSET', jobKey, 'cancelledBy', by)
    hand_on('cancel', '', 0, 0)
  end
end

-- Open tasks that nobody works on and that are in no review, at most so many.
local function idle_tasks(most)
  local ids = {}
  for _, range in ipairs({ { READY, IN_PROGRESS }, { BLOCKED, COMPLETED }, { PROPOSAL, REJECTED } }) do
    if #ids < most then
      local some = redis.call('ZRANGEBYSCORE', indexKey, int(range[1] * BAND), '(' .. int(range[2] * BAND), 'LIMIT', 0, most - #ids)
      for _, id in ipairs(some) do ids[#ids + 1] = id end
    end
  end
  return ids
end

-- Gives the job other caps (nano-USD and tokens, 0: none). One that was raised lifts the pause `budget` and ends the
-- winding up; what is cancelled stays so. Says so only when something changes.
local function change_caps(B, money, tokens, onLimit, by)
  if money == B[BUDGET_MONEY] and tokens == B[BUDGET_TOKENS] and onLimit == B[ON_LIMIT] then return end
  local function raised(from, to) return from > 0 and (to == 0 or to > from) end
  local isRaised = raised(B[BUDGET_MONEY], money) or raised(B[BUDGET_TOKENS], tokens)
  B[BUDGET_MONEY], B[BUDGET_TOKENS], B[ON_LIMIT] = money, tokens, onLimit
  emit('budget.changed', '', nil, by, cjson.encode({ budgetUsd = money / 1000000000, budgetTokens = tokens,
    onLimit = ({ 'pause', 'finish', 'fail' })[onLimit + 1] }))
  if not isRaised or is_ended(B) then return end
  if B[WINDING_UP] == WINDS_UP then
    B[WINDING_UP], B[REASON] = 0, pause_reason(B)
    dispatch(B)
  end
  lift_pauses(B, 'budget', by, '')
end

-- One round over a board: expired leases, due times, the window, and what the caller must look at outside.
-- ARGV: 1 intervalMs (rounds closer than this are skipped), 2 leaseMs of built-in attempts,
--       3 strikes at which a task fails, 4 staleMs after which a queued task's queue job is looked up,
--       5 gapMs: a longer time without a sweep is a gap (lib/gap.lua)
-- Returns 'ok', status, ended 0|1, age in ms, filled 0|1, outbox length, stale: {task ID, attempt, dispatch, ...},
-- checks that no runner has, in the same form, how many attempts have expired;
-- 'recent' when another process swept just now; 'none' without a board.
local intervalMs, leaseMs, strikes, staleMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local MOST = 200
local B = load_board()
if not B then return { 'none' } end
if B[FORMAT] > BOARD_FORMAT then return { 'recent' } end
local before = B[SWEPT]
local gap = now() - before
-- A clock that was set back makes a negative gap: swept at once, not when it has caught up.
if gap >= 0 and gap < intervalMs then return { 'recent' } end
if before > 0 and gap > tonumber(ARGV[5]) then note_gap(gap) end
-- Nobody swept for long: that time was not active.
if before > 0 and gap > math.max(leaseMs / 2, intervalMs * 4) and B[ACTIVE_FROM] > 0 then
  B[ACTIVE_FROM] = math.min(now(), B[ACTIVE_FROM] + gap)
end
B[SWEPT] = now()
save_board(B)

local expired = 0
local function end_lease(id, T)
  if T[CODE] == IN_PROGRESS then
    expired = expired + 1
    return expire_attempt(load_board(), id, T, strikes)
  end
  redis.call('ZREM', leaseKey, id)
  if T[CODE] == IN_REVIEW then lose_runner(load_board(), id, T, strikes) end
end

if not is_ended(B) then
  local over = redis.call('ZRANGEBYSCORE', leaseKey, '-inf', int(now()), 'WITHSCORES', 'LIMIT', 0, MOST)
  local lastGap = #over > 0 and last_gap()
  for at = 1, #over, 2 do
    local id, T = over[at], load_task(over[at])
    local isPutOff = put_off(lastGap, id, tonumber(over[at + 1]), T[LEASE_MS] or leaseMs, intervalMs)
    if not isPutOff then end_lease(id, T) end
  end
end
B = load_board()
local reviews = {}
if not is_ended(B) then
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', dueKey, '-inf', int(now()), 'LIMIT', 0, MOST)) do
    redis.call('ZREM', dueKey, id)
    local T = load_task(id)
    if T[CODE] == SCHEDULED then
      if T[NUMBER] > 0 then
        T[NOT_BEFORE] = 0
        recode(B, id, T, rest_code(T, nil))
      elseif is_open(B) then
        if T[HOLD] == 'woken' then
          B[WOKEN] = now()
          B[LEAD_RUNS] = B[LEAD_RUNS] + 1
        end
        queue_lead(T)
      else
        redis.call('ZADD', dueKey, int(now() + intervalMs), id)
      end
      save_task(id, T)
    elseif T[CODE] == IN_REVIEW and T[HOLD] == 'checks' and T[TOKEN] == '' then
      for _, part in ipairs({ id, T[ATTEMPT], T[DISPATCH] }) do reviews[#reviews + 1] = part end
      redis.call('ZADD', dueKey, int(now() + staleMs), id)
    end
  end
  check_end(B, nil)
  if not is_ended(B) and B[CANCELLING] == 0 and is_time_over(B) then
    end_early(B, 'timeout: the job was active for its jobTimeoutMs of ' .. int(B[JOB_TIMEOUT]), 'harness:sweeper')
  end
  if B[WINDING_UP] == WINDS_UP and #idle_tasks(1) > 0 then hand_on('wind_up', '', 0, 0) end
  dispatch(B)
end
save_board(B)

local stale = {}
local function look_at(id, T)
  stale[#stale + 1] = id
  stale[#stale + 1] = T[ATTEMPT]
  stale[#stale + 1] = T[DISPATCH]
end
if is_open(B) then
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', windowKey, '-inf', int(now() - staleMs), 'LIMIT', 0, MOST)) do
    local T = load_task(id)
    if T[CODE] == QUEUED then look_at(id, T) end
    -- Looked at again only after another staleMs; a task that is running keeps its place in the window.
    if T[CODE] == QUEUED or T[CODE] == IN_PROGRESS then
      redis.call('ZADD', windowKey, int(now()), id)
    else
      redis.call('ZREM', windowKey, id)
    end
  end
  if B[LEAD] ~= '' then
    local T = load_task(B[LEAD])
    if T[CODE] == QUEUED and now() - B[WOKEN] > staleMs then
      look_at(B[LEAD], T)
      B[WOKEN] = now()
      save_board(B)
    end
  end
end
return { 'ok', B[STATUS], B[ENDED] > 0 and 1 or 0, now() - B[CREATED], B[FILL] == '' and 1 or 0,
  redis.call('XLEN', outboxKey), stale, reviews, expired }

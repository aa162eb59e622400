-- Tasks under review that are looked at for checks under way.
local REVIEWS_SEEN = 20

-- Can the board go on by itself: by an agent, its checks, the lead, a time that comes, a slice under way? If not, only
-- people and holders outside can move it, or nobody.
local function moves_by_itself(B)
  for code = READY, QUEUED do
    if B[COUNTS + code] > 0 then return true end
  end
  if B[COUNTS + SCHEDULED] > 0 or B[SLICES] > 0 then return true end
  -- What is in progress and stands outside the window is held outside, too.
  if redis.call('ZCARD', windowKey) > 0 then return true end
  local from, to = int(IN_REVIEW * BAND), '(' .. int((IN_REVIEW + 1) * BAND)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', indexKey, from, to, 'LIMIT', 0, REVIEWS_SEEN)) do
    if load_task(id)[HOLD] == 'checks' then return true end
  end
  if B[LEAD] == '' then return false end
  local T = load_task(B[LEAD])
  return not is_terminal(T[CODE]) and T[HOLD] ~= 'news'
end

-- The end of a job at one of its limits: like a cancel, a flag first and the tasks in slices; but nobody wanted it to
-- end, so it counts as failed, or partial when something was completed.

local function end_early(B, reason, by)
  B[CANCELLING] = 1
  B[REASON] = reason
  redis.call('HSET', jobKey, 'cancelledBy', by, 'endsEarly', 1)
  hand_on('cancel', '', 0, 0)
end

-- What a job whose last task is cancelled has come to.
local function cancelled_status(B)
  if redis.call('HEXISTS', jobKey, 'endsEarly') == 0 then return 'cancelled' end
  return B[COUNTS + COMPLETED] > 0 and 'partial' or 'failed'
end

-- True once the job was active, neither paused nor without any process, for as long as it may be.
local function is_time_over(B)
  if B[JOB_TIMEOUT] == 0 or B[ACTIVE_FROM] == 0 then return false end
  return B[ACTIVE_MS] + now() - B[ACTIVE_FROM] >= B[JOB_TIMEOUT]
end

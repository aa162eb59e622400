-- Submitted tasks that wait for their checks. Each stands in `due` until a runner has it, so that the sweeper finds the
-- ones that nobody took; runners[<taskId>] says who runs them since when, or why the last runner did not end.

-- A queue job gets this long before the sweeper looks it up.
local REVIEW_LOOK_MS = 2000

-- Without a runner from now on; a new dispatch number, for the queue job of the last one may still be there.
local function without_runner(id, T, lookAt, problem)
  T[TOKEN] = ''
  T[DISPATCH] = T[DISPATCH] + 1
  redis.call('ZREM', leaseKey, id)
  redis.call('ZADD', dueKey, int(lookAt), id)
  if problem == '' then
    redis.call('HDEL', runnersKey, id)
  else
    redis.call('HSET', runnersKey, id, cjson.encode({ problem = problem, at = now() }))
  end
end

-- Hands the checks to the queue at once. Does not save the task.
local function queue_checks(id, T, problem)
  without_runner(id, T, now() + REVIEW_LOOK_MS, problem)
  hand_on('checks', id, T[ATTEMPT], T[DISPATCH])
end

-- The submission does not hold: the attempt that made it has failed after all, and its result is gone.
local function fail_review(B, id, T, class, reason, retryable, delayMs, by)
  redis.call('HDEL', outputKey, id)
  redis.call('HDEL', outcomeKey, id)
  forget_calls(id)
  local field = id .. ':' .. T[ATTEMPT]
  local record = cmsgpack.unpack(redis.call('HGET', attemptsKey, field))
  record[5], record[6], record[7] = 'failed', class, reason
  redis.call('HSET', attemptsKey, field, cmsgpack.pack(record))
  fail_spend(id, T[ATTEMPT])
  fail_task(B, id, T, class, reason, retryable, delayMs, by)
end

-- The lease of a runner is over: another one takes the checks, unless they keep losing their runners. Saves the task.
local function lose_runner(B, id, T, strikes)
  T[STRIKES] = T[STRIKES] + 1
  if T[STRIKES] < strikes then
    queue_checks(id, T, 'the runner was lost')
    save_task(id, T)
    return
  end
  redis.call('ZREM', leaseKey, id)
  redis.call('HDEL', runnersKey, id)
  T[TOKEN], T[HOLD] = '', ''
  T[VERSION] = T[VERSION] + 1
  T[UPDATED] = now()
  local reason = 'the runner of its checks was lost ' .. T[STRIKES] .. ' times in a row'
  fail_review(B, id, T, 'infra', reason, false, 0, 'harness:sweeper')
end

-- Makes a board in `accepting`: job record, board record, and task 0 when the job has a lead.
-- ARGV: 1 job JSON, 2 maxParallel, 3 allowParallel 0|1, 4 maxTasks, 5 maxLeadRuns, 6 coalesceMs, 7 hold 0|1,
--       8 lead ID or '', 9 lead head JSON, 10 lead body JSON, 11 fill token (who may add to it and flip it),
--       12 maxAttempts, 13 maxFailures or 0, 14 jobTimeoutMs or 0,
--       15 plan mode: 0 without, 1 the lead plans, 2 the given tasks wait for approval,
--       16 budget in nano-USD, 17 in tokens (0: none), 18 onLimit 0 pause | 1 finish | 2 fail
-- Returns 'ok' and the time, or 'already' when the board exists.
if redis.call('EXISTS', hotKey) == 1 then return { 'already', now() } end
local lead = ARGV[8]
local B = { BOARD_FORMAT, 1, 'accepting', lead, 0, tonumber(ARGV[2]), tonumber(ARGV[3]), 0,
  now(), 0, 0, 0, 0, '', '', 0, 0, 0, tonumber(ARGV[6]), '', tonumber(ARGV[4]), '', tonumber(ARGV[5]),
  tonumber(ARGV[7]), 0, ARGV[11], 0, 0, 0 }
B[MAX_FAILURES], B[JOB_TIMEOUT] = tonumber(ARGV[13]), tonumber(ARGV[14])
for code = 0, LAST_CODE do B[COUNTS + code] = 0 end
for field = #B + 1, LAST_FIELD do B[field] = 0 end
B[JOB_ATTEMPTS], B[PLAN] = tonumber(ARGV[12]), tonumber(ARGV[15])
B[BUDGET_MONEY], B[BUDGET_TOKENS], B[ON_LIMIT] = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18])
save_board(B)
redis.call('HSET', jobKey, 'spec', ARGV[1])
if lead ~= '' then
  redis.call('HSET', jobKey, 'lead', lead)
  redis.call('HSET', headKey, lead, ARGV[9])
  redis.call('HSET', bodyKey, lead, ARGV[10])
  save_task(lead, { 1, HELD, 0, 0, 0, 0, 0, '', '', 0, 1, 0, 0, 0, 'accepting', 0, '', 0, 0, now(), 0, 0, 0, 0, 0, now(), 0 })
end
return { 'ok', now() }

-- Changes the limits of a job at the version that the caller saw.
-- ARGV: 1 by, 2 version, 3 the job's JSON with the new limits, 4 data of the event, JSON,
--       5 budget in nano-USD, 6 in tokens (0: none), 7 onLimit 0 pause | 1 finish | 2 fail,
--       8 0|1: these are the limits that the job has
-- Returns 'ok' and the new version.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if is_ended(B) or B[CANCELLING] == 1 then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
if tonumber(ARGV[2]) ~= B[JOB_VERSION] then
  return refuse('stale_version', nil, nil, { what = 'job', version = B[JOB_VERSION] })
end
if ARGV[8] == '1' then return { 'ok', B[JOB_VERSION] } end
local limits = cjson.decode(ARGV[3]).limits
B[JOB_VERSION] = B[JOB_VERSION] + 1
B[MAX_PARALLEL], B[MAX_TASKS], B[MAX_LEAD_RUNS] = limits.maxParallel, limits.maxTasks, limits.maxLeadRuns
B[JOB_ATTEMPTS], B[MAX_FAILURES] = limits.maxAttempts, limits.maxFailures or 0
B[JOB_TIMEOUT] = limits.jobTimeoutMs or 0
redis.call('HSET', jobKey, 'spec', ARGV[3])
emit('job.edited', '', nil, ARGV[1], ARGV[4])
change_caps(B, tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[1])
if B[STATUS] ~= 'accepting' and not is_paused(B) then
  -- A board of an older version has no clock yet.
  start_clock(B)
  local lead = B[LEAD] ~= '' and load_task(B[LEAD])
  -- More runs for a lead that has used its up, and has unread news.
  if lead and lead[HOLD] == 'news' and is_unread(B) then wake_lead(B, is_still(B)) end
  dispatch(B)
end
save_board(B)
return { 'ok', B[JOB_VERSION] }

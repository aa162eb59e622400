-- A runner gives checks back that it did not end: to the queue at once, or to be tried again after a while.
-- ARGV: 1 task ID, 2 token of the runner, 3 delayMs, 4 why, '' for no fault
-- Returns 'ok' and the version.
local id, token, delayMs, problem = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if not T then return refuse('not_found', id, nil, { what = 'task' }) end
if T[CODE] ~= IN_REVIEW or T[TOKEN] ~= token then return refuse('lease_lost', id, T) end
if delayMs > 0 then
  -- When that time is over the sweeper finds no queue job and adds one.
  without_runner(id, T, now() + delayMs, problem)
else
  queue_checks(id, T, problem)
end
save_task(id, T)
return { 'ok', T[VERSION] }

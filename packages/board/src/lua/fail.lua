-- A holder, or its runtime, gives up: again with backoff while it may, else the task has failed.
-- ARGV: 1 task ID, 2 token, 3 name of the call (lib/holder.lua), 4 class, 5 reason, 6 retryable 0|1, 7 delayMs of the next attempt,
--       8 version or '', 9 strikes at which a failure of class infra is the last
-- Returns 'ok' | 'already' and the version.
local id, token, name = ARGV[1], ARGV[2], ARGV[3]
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, name, tonumber(ARGV[8]))
if refused and refused[1] == 'already' then return { 'already', T[VERSION] } end
if refused then return refused end
remember(id, name)
local class, retryable = ARGV[4], ARGV[6] == '1'
if class == 'infra' then
  T[STRIKES] = T[STRIKES] + 1
  retryable = retryable and T[STRIKES] < tonumber(ARGV[9])
end
fail_attempt(B, id, T, class, ARGV[5], retryable, tonumber(ARGV[7]), T[OWNER])
return { 'ok', T[VERSION] }

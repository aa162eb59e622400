-- A holder gives the task back without failing: at once (release), later (park until a time), or on news (the lead).
-- ARGV: 1 task ID, 2 token, 3 name of the call (lib/holder.lua), 4 outcome "released"|"parked", 5 delayMs,
--       6 hold '' | 'news', 7 reason,
--       8 strikes at which the task fails when this is one (failing model calls without growth), 0: an end
--       without failing, -1: neither, the strikes stay, 9 version or '', 10 cause of a park that was not its doing, or ''
-- Returns 'ok' and the version, and 1 when that strike was the last and the task has failed; 'already', the version and 1
-- when the attempt goes on all the same; 'still' when the lead waits for news though nothing can make any.
local id, token, name, outcome = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local delayMs, hold, reason, strikes = tonumber(ARGV[5]), ARGV[6], ARGV[7], tonumber(ARGV[8])
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, name, tonumber(ARGV[9]))
-- A wait that an earlier attempt made and whose news nobody was told of yet is not to be waited for again.
if refused and refused[1] == 'already' then return { 'already', T[VERSION], T[TOKEN] == token and 1 or 0 } end
if refused then return refused end
local unread = is_unread(B)
if hold == 'news' and not unread and not can_make_news(B) then return { 'still' } end
local by = T[OWNER]
remember(id, name)
if strikes > 0 and T[GROWTH] == 0 then
  if strike(B, id, T, strikes, reason, by) then return { 'ok', T[VERSION], 1 } end
elseif strikes == 0 or (T[GROWTH] > 0 and T[STICKY] == 0) then
  T[STRIKES], T[STICKY] = 0, 0
end
end_attempt(id, T, outcome, '', reason, ARGV[10])
T[NOT_BEFORE] = delayMs > 0 and now() + delayMs or 0
T[HOLD] = hold
if hold == 'news' and unread and may_wake(B, is_still(B)) then
  -- News came while it was running: its wait is over at once.
  T[HOLD] = ''
  B[WOKEN] = now()
  B[LEAD_RUNS] = B[LEAD_RUNS] + 1
end
rest(B, id, T)
local extra = ''
if reason ~= '' or T[NOT_BEFORE] > 0 then
  extra = cjson.encode({ reason = reason, notBefore = T[NOT_BEFORE] > 0 and T[NOT_BEFORE] or nil })
end
local event = emit('task.' .. outcome, id, T, by, extra)
save_task(id, T)
if T[NUMBER] > 0 then check_end(B, event) end
dispatch(B)
save_board(B)
return { 'ok', T[VERSION] }

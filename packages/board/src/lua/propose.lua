-- A holder proposes another task: it stands outside counts until somebody accepts it.
-- ARGV: 1 task ID, 2 token, 3 requestId, 4 hash, 5 unused '', 6 header JSON (lib/add.lua, one, hold 'proposal'),
--       7 and 8 unused '', 9 head, 10 body
-- Returns 'ok', its ID and number; 'collision'.
local id, token, requestId, hash = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, '')
if not refused or refused[2] == 'lease_lost' then
  local ids, mismatch = earlier_answer(requestId, hash)
  if mismatch then return mismatch end
  if ids then return { 'ok', ids[1], load_task(ids[1])[NUMBER] } end
end
if refused then return refused end
local plan
refused, plan = check_adds(B, cjson.decode(ARGV[6]))
if refused then return refused end
apply_adds(B, plan, T[OWNER], 7)
keep_answer(requestId, hash, plan.standing)
news(B, last_event(), false)
save_board(B)
return { 'ok', plan.standing[1], load_task(plan.standing[1])[NUMBER] }

-- A holder proposes another task: it stands outside counts until somebody accepts it.
-- ARGV: 1 task ID, 2 token, 3 requestId, 4 hash, 5 unused '', 6 header JSON (lib/add.lua, one, hold 'proposal'),
--       7 and 8 unused '', 9 head, 10 body
-- Returns 'ok', its ID and number; 'collision'.
local id, token, hash = ARGV[1], ARGV[2], ARGV[4]
-- Request IDs are the holder's own: another task's may have the same.
local requestId = ARGV[3] ~= '' and id .. '/' .. ARGV[3] or ''
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, '')
if not refused or refused[2] == 'lease_lost' then
  local earlier, mismatch = earlier_answer(requestId, hash)
  if mismatch then return mismatch end
  if earlier then return earlier end
end
if refused then return refused end
local plan
refused, plan = check_adds(B, cjson.decode(ARGV[6]))
if refused then return refused end
apply_adds(B, plan, T[OWNER], 7)
news(B, last_event(), false)
save_board(B)
local answer = { 'ok', plan.standing[1], load_task(plan.standing[1])[NUMBER] }
keep_answer(requestId, hash, answer)
return answer

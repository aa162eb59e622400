-- A holder's note or progress: an event, no new version.
-- ARGV: 1 task ID, 2 token, 3 name of the call (lib/holder.lua), 4 event type, 5 extra JSON, 6 progress text or '',
--       7 version or '', 8 news for the lead 0|1, 9 who says it, absent for the holder
-- Returns 'ok' | 'already' and the version.
local id, token, name = ARGV[1], ARGV[2], ARGV[3]
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, name, tonumber(ARGV[7]))
if refused and refused[1] == 'already' then return { 'already', T[VERSION] } end
if refused then return refused end
if ARGV[6] ~= '' then redis.call('HSET', progressKey, id, ARGV[6]) end
local event = emit(ARGV[4], id, T, ARGV[9] or T[OWNER], ARGV[5])
if ARGV[8] == '1' and T[NUMBER] > 0 then
  news(B, event, false)
  save_board(B)
end
remember(id, name)
return { 'ok', T[VERSION] }

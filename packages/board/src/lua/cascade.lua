-- Goes on cancelling the dependents of a cancelled task.
-- ARGV: 1 task ID
local id = ARGV[1]
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local noted = redis.call('HGET', slicesKey, 'cascade:' .. id)
if not noted then return { 'ok' } end
local isJson, note = pcall(cjson.decode, noted)
local rest = isJson and not is_ended(B) and cascade_from(B, id, note.start, note.reason, note.by, note.first) or nil
if rest then
  cascade_on(B, id, rest, note.reason, note.by, note.first)
else
  redis.call('HDEL', slicesKey, 'cascade:' .. id)
  B[SLICES] = B[SLICES] - 1
end
check_end(B, last_event())
dispatch(B)
save_board(B)
return { 'ok' }

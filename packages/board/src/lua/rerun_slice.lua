-- Opens a bounded number of a rerun's tasks again. One that was changed since it was selected keeps what became of it.
-- ARGV: 1 number of the rerun, 2 number of its slice, then for each task of the slice its new body or ''
-- Returns 'ok'.
local number, at = ARGV[1], tonumber(ARGV[2])
local field = 'rerun:' .. number
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local noted = redis.call('HGET', slicesKey, field)
if not noted then return { 'ok' } end
local note = cjson.decode(noted)
if note.next ~= at then return { 'ok' } end

local function reopen_selected(selected, body)
  local id = selected:sub(1, 10)
  local T = load_task(id)
  if not T or not is_terminal(T[CODE]) or is_outside(T[CODE]) or T[VERSION] ~= tonumber(selected:sub(11)) then return end
  if body ~= '' then
    redis.call('HSET', bodyKey, id, body)
    T[VERSION] = T[VERSION] + 1
    emit('task.edited', id, T, note.by, cjson.encode({ fields = { 'instructions' } }))
  end
  reopen_task(B, id, T, note.reason, note.by)
end

local isOver = is_ended(B) or B[CANCELLING] == 1
if not isOver then
  local selected = redis.call('HGET', rerunsKey, number .. ':' .. at) or ''
  for i = 1, #selected / 20 do
    reopen_selected(selected:sub(i * 20 - 19, i * 20), ARGV[i + 2] or '')
  end
end
repeat
  redis.call('HDEL', rerunsKey, number .. ':' .. at)
  at = at + 1
until not isOver or at >= note.slices
if at < note.slices then
  note.next = at
  redis.call('HSET', slicesKey, field, cjson.encode(note))
  hand_on('rerun', number, 0, 0)
else
  redis.call('HDEL', slicesKey, field)
  B[SLICES] = B[SLICES] - 1
end
check_end(B, last_event())
dispatch(B)
save_board(B)
return { 'ok' }

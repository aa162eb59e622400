-- A holder can't go on: the task is blocked until somebody answers; with kind `dependency` it waits for another task
-- instead and is pending at once.
-- ARGV: 1 task ID, 2 token, 3 name of the call (lib/holder.lua), 4 version or '', 5 kind, 6 reason, 7 question or '',
--       8 the task it waits for or '', 9 graph version that was checked for cycles or ''
-- Returns 'ok' | 'already' and the version; 'graph': check for cycles again.
local id, token, name, version = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local kind, reason, question, on = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, name, version)
if refused and refused[1] == 'already' then return { 'already', T[VERSION] } end
if refused then return refused end
local target
if on ~= '' then
  target = load_task(on)
  local unfit = not target and 'unknown_dependency' or target[NUMBER] == 0 and 'names_lead'
    or is_outside(target[CODE]) and 'names_proposal'
  if unfit then return refuse(unfit, id, T, { reference = on }) end
  if on == id then return refuse('dependency_cycle', id, T, { path = { id, id } }) end
  if ARGV[9] ~= int(B[GRAPH]) then return { 'graph' } end
end
local by = T[OWNER]
remember(id, name)
T[STRIKES], T[STICKY] = 0, 0
end_attempt(id, T, 'blocked', '', reason)
local extra = cjson.encode({ kind = kind, reason = reason, on = on ~= '' and on or nil })
if on ~= '' then
  local wanted, deps, has = {}, redis.call('HGET', depsKey, id) or '', false
  for at = 1, #deps, 11 do
    local dependency = deps:sub(at, at + 9)
    has = has or dependency == on
    wanted[#wanted + 1] = { dependency, dependency == on and 'c' or deps:sub(at + 10, at + 10) }
  end
  if not has then wanted[#wanted + 1] = { on, 'c' } end
  set_dependencies(B, id, wanted)
  rest(B, id, T)
  emit('task.blocked', id, T, by, extra)
  save_task(id, T)
else
  recode(B, id, T, BLOCKED)
  redis.call('HSET', outcomeKey, id,
    cjson.encode({ block = { kind = kind, reason = reason, question = question ~= '' and question or nil } }))
  local event = emit('task.blocked', id, T, by, extra)
  save_task(id, T)
  news(B, event, false)
end
check_end(B, last_event())
dispatch(B)
save_board(B)
return { 'ok', T[VERSION] }

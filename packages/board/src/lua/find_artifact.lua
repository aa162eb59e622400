-- An artifact by its ref, or by a path: the task's own before what shows.
-- ARGV: 1 ref or path, 2 the task that reads: its own and those that its dependencies submitted; '' for all of the board
-- Returns 'ok' and the record, or 'none'.
local name, reader = ARGV[1], ARGV[2]
local refused = refuse_board(load_board())
if refused then return refused end
local ref, A = name, load_artifact(name)
if not A and reader ~= '' then
  local own = staged_by_name(reader)[name]
  if own then ref, A = own[1], own[2] end
end
if not A then
  ref = redis.call('HGET', artifactsKey, 'p:' .. name)
  A = ref and load_artifact(ref)
end
if not A then return { 'none' } end
if reader ~= '' and A[ART_TASK] ~= reader then
  local deps = redis.call('HGET', depsKey, reader) or ''
  local isBehind = false
  for at = 1, #deps, 11 do isBehind = isBehind or deps:sub(at, at + 9) == A[ART_TASK] end
  if not isBehind or A[ART_ACCEPTED] == 0 then return { 'none' } end
end
return { 'ok', artifact_row(ref, A) }

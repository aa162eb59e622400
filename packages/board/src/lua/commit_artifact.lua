-- A holder's artifact, whose content is in the store: it belongs to the attempt, and shows nowhere before an accepted
-- submit takes it up. The same path again in one conversation replaces.
-- ARGV: 1 task ID, 2 token, 3 name of the call (lib/holder.lua), 4 ref (of task, path and content), 5 path, 6 bytes, 7 sha256, 8 content type,
--       9 an output that is kept whole 0|1
-- Returns 'ok' | 'already' and the record.
local id, token, name, ref, path = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, name)
local A = load_artifact(ref)
local new = { path, tonumber(ARGV[6]), ARGV[7], ARGV[8], id, T and T[ATTEMPT] or 0, now(), tonumber(ARGV[9]), 0, 0 }
-- It may have been replaced since: what was answered then is answered again.
if refused and refused[1] == 'already' then return { 'already', artifact_row(ref, A or new) } end
if refused then return refused end

local staged, kept = staged_of(id) or {}, {}
for _, other in ipairs(staged) do
  local old = load_artifact(other)
  if other ~= ref and old[ART_PATH] == path then drop_artifact(other, old)
  elseif other ~= ref then kept[#kept + 1] = other end
end
if #kept >= STAGED_MOST then return refuse('too_many_artifacts', id, T, { most = STAGED_MOST }) end
kept[#kept + 1] = ref
if not A then
  A = new
  save_artifact(ref, A)
  redis.call('HINCRBY', artifactsKey, 's:' .. A[ART_SHA], 1)
end
redis.call('HSET', artifactsKey, 't:' .. id, cmsgpack.pack(kept))
remember(id, name)
return { 'ok', artifact_row(ref, A) }

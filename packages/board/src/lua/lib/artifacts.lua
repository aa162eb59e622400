-- The artifacts of a board: who made which file, and what shows under a path. Fields of the hash:
--   r:<ref>             a record (cmsgpack array, positions below)
--   t:<taskId>          the refs of the task's conversation in hand that no accepted submit has taken up yet
--   p:<path>            the ref that shows under the path
--   #<number>, n        the refs that show under a path by number, and the last number
--   s:<sha256>          how many records have this content: the store may throw away what has none
local ART_PATH, ART_BYTES, ART_SHA, ART_TYPE, ART_TASK, ART_ATTEMPT, ART_AT = 1, 2, 3, 4, 5, 6, 7
local ART_KEPT, ART_ACCEPTED, ART_SHOWN = 8, 9, 10 -- an output kept whole 0|1, accepted 0|1, number under its path or 0
-- Of one conversation: what an accepted submit goes through in one script.
local STAGED_MOST = 500

local function load_artifact(ref)
  local packed = redis.call('HGET', artifactsKey, 'r:' .. ref)
  return packed and cmsgpack.unpack(packed) or nil
end

local function save_artifact(ref, A)
  redis.call('HSET', artifactsKey, 'r:' .. ref, cmsgpack.pack(A))
end

-- Read once a script: most tasks have none.
local stagedBy = {}
local function staged_of(id)
  if stagedBy[id] == nil then
    local packed = redis.call('HGET', artifactsKey, 't:' .. id)
    stagedBy[id] = packed and cmsgpack.unpack(packed) or false
  end
  return stagedBy[id]
end

local function unstage(id)
  redis.call('HDEL', artifactsKey, 't:' .. id)
  stagedBy[id] = false
end

-- Forgets a record that was never accepted; its content may go when no other record has it.
local function drop_artifact(ref, A)
  if A[ART_ACCEPTED] == 1 then return end
  redis.call('HDEL', artifactsKey, 'r:' .. ref)
  if redis.call('HINCRBY', artifactsKey, 's:' .. A[ART_SHA], -1) <= 0 then
    redis.call('HDEL', artifactsKey, 's:' .. A[ART_SHA])
  end
end

-- A conversation that does not go on takes what it made with it.
local function drop_staged(id)
  local staged = staged_of(id)
  if not staged then return end
  for _, ref in ipairs(staged) do
    local A = load_artifact(ref)
    if A then drop_artifact(ref, A) end
  end
  unstage(id)
end

-- Shows an accepted artifact under its path, in the place of what was there. Of the same task that is an older version
-- and is forgotten; another task's stays to be read by its ref.
local function show_artifact(ref, A)
  local before = redis.call('HGET', artifactsKey, 'p:' .. A[ART_PATH])
  if before == ref then return end
  if before then
    local old = load_artifact(before)
    redis.call('HDEL', artifactsKey, '#' .. old[ART_SHOWN])
    old[ART_SHOWN] = 0
    if old[ART_TASK] == A[ART_TASK] then
      old[ART_ACCEPTED] = 0
      drop_artifact(before, old)
    else
      save_artifact(before, old)
    end
  end
  A[ART_SHOWN] = redis.call('HINCRBY', artifactsKey, 'n', 1)
  redis.call('HSET', artifactsKey, 'p:' .. A[ART_PATH], ref, '#' .. A[ART_SHOWN], ref)
end

-- An accepted submit: what its conversation made is there for others from now on.
local function accept_staged(id)
  local staged = staged_of(id)
  if not staged then return end
  for _, ref in ipairs(staged) do
    local A = load_artifact(ref)
    A[ART_ACCEPTED] = 1
    if A[ART_KEPT] == 0 then show_artifact(ref, A) end
    save_artifact(ref, A)
  end
  unstage(id)
end

-- What a task has staged, by ref and by path: { ref, record }.
local function staged_by_name(id)
  local staged, found = staged_of(id), {}
  if not staged or not staged[1] then return found end
  local fields = {}
  for i, ref in ipairs(staged) do fields[i] = 'r:' .. ref end
  for i, packed in ipairs(redis.call('HMGET', artifactsKey, unpack(fields))) do
    local A = packed and cmsgpack.unpack(packed)
    if A then
      found[staged[i]] = { staged[i], A }
      found[A[ART_PATH]] = found[staged[i]]
    end
  end
  return found
end

-- The refs that a submit names; without names all files of the conversation. A kept output that is named becomes one
-- of the files. Returns nil and the name when there is no such artifact; nothing has changed then.
local function take_up(id, names)
  local refs, outputs = {}, {}
  if names and not names[1] then return refs end
  local staged = staged_by_name(id)
  for _, name in ipairs(names or staged_of(id) or {}) do
    local found = staged[name]
    if not found then return nil, name end
    local isKept = found[2][ART_KEPT] == 1
    if names or not isKept then refs[#refs + 1] = found[1] end
    if names and isKept then outputs[#outputs + 1] = found end
  end
  for _, found in ipairs(outputs) do
    found[2][ART_KEPT] = 0
    save_artifact(found[1], found[2])
  end
  return refs
end

-- The first of the names that is no artifact which this task may point at: its own, or one of the board.
local function first_unknown(id, names)
  local staged = staged_by_name(id)
  for _, name in ipairs(names) do
    local isKnown = staged[name] or redis.call('HEXISTS', artifactsKey, 'r:' .. name) == 1
      or redis.call('HEXISTS', artifactsKey, 'p:' .. name) == 1
    if not isKnown then return name end
  end
  return nil
end

-- A submit's outcome with the refs of its artifacts. `named`: JSON list of refs and paths, '' for all files of the
-- attempt; `pointedAt`: those in evidence and output, or ''. Returns nil and the name that is unknown; nothing has
-- changed then.
local function with_artifacts(id, outcome, named, pointedAt)
  if pointedAt ~= '' then
    local unknown = first_unknown(id, cjson.decode(pointedAt))
    if unknown then return nil, unknown end
  end
  local refs, unknown = take_up(id, named ~= '' and cjson.decode(named) or nil)
  if unknown then return nil, unknown end
  if not refs[1] then return outcome end
  return outcome:sub(1, -2) .. ',"artifacts":["' .. table.concat(refs, '","') .. '"]}'
end

-- A record as readers get it.
local function artifact_row(ref, A)
  return { ref, A[ART_PATH], A[ART_BYTES], A[ART_SHA], A[ART_TYPE], A[ART_TASK], A[ART_AT] }
end

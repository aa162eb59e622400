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

-- The ref of a name (a ref or a path) among the staged ones of a task, and its record.
local function find_staged(staged, name)
  for i = #staged, 1, -1 do
    local A = load_artifact(staged[i])
    if A and (staged[i] == name or A[ART_PATH] == name) then return staged[i], A end
  end
  return nil
end

-- The refs that a submit names; without names all files of the conversation. A kept output that is named becomes one
-- of the files. Returns nil and the name when there is no such artifact.
local function take_up(id, names)
  local staged, refs = staged_of(id) or {}, {}
  if not names then
    for _, ref in ipairs(staged) do
      if load_artifact(ref)[ART_KEPT] == 0 then refs[#refs + 1] = ref end
    end
    return refs
  end
  for _, name in ipairs(names) do
    local ref, A = find_staged(staged, name)
    if not ref then return nil, name end
    if A[ART_KEPT] == 1 then
      A[ART_KEPT] = 0
      save_artifact(ref, A)
    end
    refs[#refs + 1] = ref
  end
  return refs
end

-- The first of the names that is no artifact which this task may point at: its own, or one that shows.
local function first_unknown(id, names)
  local staged = staged_of(id) or {}
  for _, name in ipairs(names) do
    if redis.call('HEXISTS', artifactsKey, 'r:' .. name) == 0 and redis.call('HEXISTS', artifactsKey, 'p:' .. name) == 0
      and not find_staged(staged, name) then
      return name
    end
  end
  return nil
end

-- A record as readers get it.
local function artifact_row(ref, A)
  return { ref, A[ART_PATH], A[ART_BYTES], A[ART_SHA], A[ART_TYPE], A[ART_TASK], A[ART_AT] }
end

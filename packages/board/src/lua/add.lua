-- Adds a batch of tasks, all or nothing. Cycles can't arise here: a task depends only on tasks that exist or stand in
-- the same batch, whose own graph the caller has checked.
-- ARGV: 1 by, 2 lead token or '' (the lead's writes are fenced), 3 requestId or '' (the lead's, or a person's
--       Idempotency-Key), 4 hash of the body, 5 headers: JSON [[id, key, hash, number or 0, priority, executor, policy, maxAttempts, onLost,
--         [[reference, condition], ...], parent]...], then head JSON and body JSON of each task.
-- Returns 'ok', the IDs, numbers and the ID under which each now stands (a key with the same content is a no-op).
local by, token, requestId, hash = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local headers = cjson.decode(ARGV[5])

-- Answers of earlier calls by their request, so that a repeat gets the true one; only the last ANSWERS_KEPT.
local ANSWERS_KEPT = 256
local function earlier_answer()
  if requestId == '' then return nil end
  local packed = redis.call('HGET', jobKey, 'answer:' .. requestId)
  if not packed then return nil end
  local answer = cmsgpack.unpack(packed)
  if answer[1] ~= hash then return refuse('idempotency_mismatch') end
  local numbers = {}
  for i, id in ipairs(answer[2]) do numbers[i] = load_task(id)[NUMBER] end
  return { 'ok', answer[2], numbers, 0 }
end
local function keep_answer(ids)
  if requestId == '' then return end
  local packed = redis.call('HGET', jobKey, 'answers')
  local kept = packed and cmsgpack.unpack(packed) or {}
  kept[#kept + 1] = requestId
  if #kept > ANSWERS_KEPT then redis.call('HDEL', jobKey, 'answer:' .. table.remove(kept, 1)) end
  redis.call('HSET', jobKey, 'answers', cmsgpack.pack(kept), 'answer:' .. requestId, cmsgpack.pack({ hash, ids }))
end

local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local lead
if token ~= '' then
  lead = load_task(B[LEAD])
  refused = refuse_holder(B, B[LEAD], lead, token, '')
end
-- A repeat is answered before an outdated token is refused, but never to a stranger.
local isKnown = not refused or refused[2] == 'lease_lost' or refused[2] == 'terminal'
local answer = isKnown and earlier_answer()
if answer then return answer end
if refused then return refused end
if is_ended(B) or B[CANCELLING] == 1 then return refuse('terminal', nil, nil, { job = B[STATUS] }) end

-- Pass 1: which are new, and what each key and reference means. Nothing is written before all is known.
local byKey, standing, fresh = {}, {}, {}
for i, header in ipairs(headers) do
  local id, key, hash = header[1], header[2], header[3]
  standing[i] = id
  local held = key ~= '' and redis.call('HGET', keysKey, key)
  if held and held:sub(11) == hash then
    standing[i] = held:sub(1, 10)
  elseif held then
    return refuse('duplicate_key', held:sub(1, 10), load_task(held:sub(1, 10)), { key = key })
  else
    if redis.call('HEXISTS', hotKey, id) == 1 then return { 'collision' } end
    fresh[#fresh + 1] = i
  end
  if key ~= '' then byKey[key] = standing[i] end
  byKey[id] = id
end
local added = B[LAST_NUMBER] + #fresh
if B[STATUS] ~= 'accepting' and added > B[MAX_TASKS] then
  return refuse('limit_exceeded', nil, nil, { maxTasks = B[MAX_TASKS], tasks = B[LAST_NUMBER], adding = #fresh })
end

local codes = {}
local function resolve(reference)
  local id = byKey[reference]
  if not id then
    if redis.call('HEXISTS', hotKey, reference) == 1 then
      id = reference
    else
      local held = redis.call('HGET', keysKey, reference)
      id = held and held:sub(1, 10)
    end
  end
  if not id or id == '@' or id == B[LEAD] then return nil end
  return id
end
local isFresh = {}
for _, i in ipairs(fresh) do isFresh[headers[i][1]] = true end
local links = {}
for _, i in ipairs(fresh) do
  local header, seen, deps = headers[i], {}, {}
  for _, reference in ipairs(header[10]) do
    local id = resolve(reference[1])
    if not id then
      return refuse('unknown_dependency', nil, nil, { reference = reference[1], index = i - 1, key = header[2] })
    end
    if not isFresh[id] and not codes[id] then
      codes[id] = load_task(id)[CODE]
      if codes[id] == PROPOSAL then
        return refuse('unknown_dependency', nil, nil, { reference = reference[1], index = i - 1, key = header[2] })
      end
    end
    if not seen[id] then
      seen[id] = true
      deps[#deps + 1] = { id, reference[2] }
    end
  end
  if header[11] ~= '' then
    local parent = resolve(header[11])
    if not parent then
      return refuse('unknown_dependency', nil, nil, { reference = header[11], index = i - 1, key = header[2] })
    end
    header[11] = parent
  end
  links[i] = deps
end

-- Pass 2: write. Commands with many arguments go in blocks, far below Lua's limit on unpack.
local function block(command, key, arguments)
  if #arguments > 0 then redis.call(command, key, unpack(arguments)) end
end
local edges = {}
local lastEvent
for from = 1, #fresh, 500 do
  local hot, heads, bodies, keys, scores, unmets, deps = {}, {}, {}, {}, {}, {}, {}
  for at = from, math.min(from + 499, #fresh) do
    local i = fresh[at]
    local header = headers[i]
    local id, number = header[1], header[4]
    if number == 0 then number = B[LAST_NUMBER] + 1 end
    if number > B[LAST_NUMBER] then B[LAST_NUMBER] = number end
    header[4] = number
    redis.call('SETRANGE', orderKey, (number - 1) * 10, id)
    local unmet, text = 0, {}
    for n, link in ipairs(links[i]) do
      local state = isFresh[link[1]] and 'u' or edge_state(codes[link[1]], link[2])
      unmet = unmet + UNITS[state]
      text[n] = link[1] .. link[2]
      local list = edges[link[1]]
      if not list then list = {} edges[link[1]] = list end
      list[#list + 1] = id .. link[2] .. state
    end
    local T = { 1, 0, number, header[5], header[6], header[7], 0, '', '', 0, header[8], 0, 0, 0, '', 0, '', 0, 0,
      now(), 0, 0, 0, 0, header[9], now() }
    T[CODE] = rest_code(T, unmet)
    count(B, T[CODE], 1)
    local score = int(T[CODE] * BAND + number)
    hot[#hot + 1] = id
    hot[#hot + 1] = cmsgpack.pack(T)
    scores[#scores + 1] = score
    scores[#scores + 1] = id
    heads[#heads + 1] = id
    local head = ARGV[4 + i * 2]
    -- The parent's ID is known only here; the caller leaves it out of the head.
    if header[11] ~= '' then head = head:sub(1, -2) .. ',"parent":"' .. header[11] .. '"}' end
    heads[#heads + 1] = head
    if ARGV[5 + i * 2] ~= '' then
      bodies[#bodies + 1] = id
      bodies[#bodies + 1] = ARGV[5 + i * 2]
    end
    if header[2] ~= '' then
      keys[#keys + 1] = header[2]
      keys[#keys + 1] = id .. header[3]
    end
    if unmet > 0 then
      unmets[#unmets + 1] = id
      unmets[#unmets + 1] = int(unmet)
    end
    local extra = ''
    if #text > 0 then
      deps[#deps + 1] = id
      deps[#deps + 1] = table.concat(text)
      extra = deps[#deps]
    end
    lastEvent = emit('task.added', id, T, by, extra)
  end
  block('HSET', hotKey, hot)
  block('ZADD', indexKey, scores)
  block('HSET', headKey, heads)
  block('HSET', bodyKey, bodies)
  block('HSET', keysKey, keys)
  block('HSET', unmetKey, unmets)
  block('HSET', depsKey, deps)
end
for id, list in pairs(edges) do
  redis.call('HSET', edgesKey, id, (redis.call('HGET', edgesKey, id) or '') .. table.concat(list))
end
keep_answer(standing)
if B[STATUS] ~= 'accepting' and #fresh > 0 then
  if B[STATUS] == 'planning' then
    B[STATUS] = 'running'
    emit('job.running', '', nil, by)
  end
  -- A task added behind one that is lost for good is unreachable from the start; the lead must hear of it.
  for _, i in ipairs(fresh) do
    local T = load_task(headers[i][1])
    if T[CODE] == UNREACHABLE then settle_down(B, headers[i][1], T) end
  end
  dispatch(B)
end
save_board(B)
local numbers = {}
for i, id in ipairs(standing) do numbers[i] = load_task(id)[NUMBER] end
return { 'ok', standing, numbers, #fresh }

-- Adding tasks, all or nothing: first what each key and reference means, then the writes. Cycles can't arise here: a
-- task refers only to tasks that exist or stand in the same batch, whose own graph the caller has checked.
-- A header is [id, key, hash, number or 0, priority, executor, policy, maxAttempts, onLost,
-- [[reference, 'c' | 's'], ...], parent, hold, replaces].

-- What a reference of a batch means: a key or ID of the batch, then of the board. Nil: nothing that can be named, and
-- the refusal that says why.
local function resolve(B, names, reference)
  local id = names[reference]
  if not id then
    -- '@' is the board's own record.
    if reference ~= '@' and redis.call('HEXISTS', hotKey, reference) == 1 then
      id = reference
    else
      local held = redis.call('HGET', keysKey, reference)
      id = held and held:sub(1, 10)
    end
  end
  -- Whoever fills a board has checked the job as a whole, and names by ID what a later chunk of it brings.
  if not id and B[FILL] ~= '' and #reference == 10 and reference:find('^t_[0-9a-z]+$') then return reference end
  if not id then return nil, 'unknown_dependency' end
  if id == B[LEAD] then return nil, 'names_lead' end
  return id
end

-- The edges that references stand for, each task once; `codes` remembers the codes of tasks that exist already.
-- Returns nil, the refusal and the reference that can't be depended on.
local function resolve_edges(B, plan, references)
  local edges, seen = {}, {}
  for _, reference in ipairs(references) do
    local id, word = resolve(B, plan.names, reference[1])
    if not id then return nil, word, reference[1] end
    if not plan.isFresh[id] then
      plan.codes[id] = plan.codes[id] or load_task(id)[CODE]
      -- Nobody may depend on a proposal: it may never become a task.
      if is_outside(plan.codes[id]) then return nil, 'names_proposal', reference[1] end
    end
    -- By key and by ID it is one task; with two conditions either would be a guess.
    if (seen[id] or reference[2]) ~= reference[2] then return nil, 'two_conditions', reference[1] end
    if not seen[id] then
      seen[id] = reference[2]
      edges[#edges + 1] = { id, reference[2] }
    end
  end
  return edges
end

-- Checks a batch of headers. Returns a refusal (or {'collision'}), or nil and the plan that apply_adds carries out.
local function check_adds(B, headers)
  local plan = { headers = headers, names = {}, isFresh = {}, codes = {}, standing = {}, fresh = {}, links = {} }
  for i, header in ipairs(headers) do
    local id, key, hash = header[1], header[2], header[3]
    plan.standing[i] = id
    local held = key ~= '' and redis.call('HGET', keysKey, key)
    if held and held:sub(11) == hash then
      plan.standing[i] = held:sub(1, 10)
    elseif held then
      return refuse('duplicate_key', held:sub(1, 10), load_task(held:sub(1, 10)), { key = key })
    else
      if plan.names[id] or redis.call('HEXISTS', hotKey, id) == 1 then return { 'collision' } end
      plan.fresh[#plan.fresh + 1] = i
      plan.isFresh[id] = true
    end
    if key ~= '' then plan.names[key] = plan.standing[i] end
    plan.names[id] = id
  end
  -- While it is filled, whoever fills it has counted.
  if B[FILL] == '' and B[LAST_NUMBER] + #plan.fresh > B[MAX_TASKS] then
    return refuse('limit_exceeded', nil, nil,
      { maxTasks = B[MAX_TASKS], tasks = B[LAST_NUMBER], adding = #plan.fresh })
  end
  for _, i in ipairs(plan.fresh) do
    local header = headers[i]
    local links, word, reference = resolve_edges(B, plan, header[10])
    for _, at in ipairs({ 11, 13 }) do
      if links and header[at] ~= '' then
        reference = header[at]
        header[at], word = resolve(B, plan.names, reference)
        if not header[at] then links = nil end
      end
    end
    if not links then
      return refuse(word, nil, nil, { reference = reference, index = i - 1, key = header[2] })
    end
    plan.links[i] = links
  end
  return nil, plan
end

local function push(list, a, b)
  list[#list + 1] = a
  list[#list + 1] = b
end

-- Commands with many arguments go in blocks, far below Lua's limit on unpack: fields with their values.
local BLOCK = 500
-- Redis keeps a hash of up to 512 fields as a list, unless it has a value longer than 64 bytes.
local MANY_FIELDS = 400
local longValue = ('.'):rep(65)

-- Writes a block of a hash. A list is walked for each of the fields, so that many cost the square of their number: a
-- long value makes a table of it first.
local function write_block(key, arguments)
  if #arguments == 0 then return end
  if #arguments < MANY_FIELDS * 2 then
    redis.call('HSET', key, unpack(arguments))
    return
  end
  push(arguments, '', longValue)
  redis.call('HSET', key, unpack(arguments))
  redis.call('HDEL', key, '')
end

-- Appends to the lists of dependents; those of tasks that the batch itself adds are new.
local function write_edges(edges, isFresh)
  local lists = {}
  for id, list in pairs(edges) do
    local earlier = not isFresh[id] and redis.call('HGET', edgesKey, id) or ''
    push(lists, id, earlier .. table.concat(list))
    if #lists >= BLOCK * 2 then
      write_block(edgesKey, lists)
      lists = {}
    end
  end
  write_block(edgesKey, lists)
end

-- Writes the fresh tasks of a checked plan; ARGV[textAt + 2 * i] and the one after it are the texts of header i
-- (1-based). Saves neither the board nor dispatches.
local function apply_adds(B, plan, by, textAt)
  local headers, fresh, edges, unreachable = plan.headers, plan.fresh, {}, {}
  for from = 1, #fresh, BLOCK do
    local hot, heads, bodies, keys, scores, unmets, deps = {}, {}, {}, {}, {}, {}, {}
    for at = from, math.min(from + BLOCK - 1, #fresh) do
      local i = fresh[at]
      local header = headers[i]
      local id, number = header[1], header[4]
      if number == 0 then number = B[LAST_NUMBER] + 1 end
      if number > B[LAST_NUMBER] then B[LAST_NUMBER] = number end
      redis.call('SETRANGE', orderKey, (number - 1) * 10, id)
      local unmet, text = 0, {}
      for n, link in ipairs(plan.links[i]) do
        local state = plan.isFresh[link[1]] and 'u' or edge_state(plan.codes[link[1]], link[2])
        unmet = unmet + UNITS[state]
        text[n] = link[1] .. link[2]
        edges[link[1]] = edges[link[1]] or {}
        table.insert(edges[link[1]], id .. link[2] .. state)
      end
      local T = { 1, 0, number, header[5], header[6], header[7], 0, '', '', 0, header[8], 0, 0, 0, header[12] or '', 0,
        '', 0, 0, now(), 0, 0, 0, 0, header[9], now(), 0 }
      T[CODE] = rest_code(T, unmet)
      count(B, T[CODE], 1)
      push(hot, id, cmsgpack.pack(T))
      push(scores, int(T[CODE] * BAND + number), id)
      -- The IDs that parent and replaces mean are known only here; the caller leaves them out of the head.
      local head, body = ARGV[textAt + i * 2], ARGV[textAt + i * 2 + 1]
      if header[11] ~= '' then head = head:sub(1, -2) .. ',"parent":"' .. header[11] .. '"}' end
      if header[13] ~= '' then
        head = head:sub(1, -2) .. ',"replaces":"' .. header[13] .. '"}'
        redis.call('HSET', replacesKey, id, header[13])
      end
      push(heads, id, head)
      if body ~= '' then push(bodies, id, body) end
      if header[2] ~= '' then push(keys, header[2], id .. header[3]) end
      if unmet > 0 then push(unmets, id, int(unmet)) end
      if #text > 0 then push(deps, id, table.concat(text)) end
      emit(T[CODE] == PROPOSAL and 'task.proposed' or 'task.added', id, T, by, table.concat(text))
      if T[CODE] == UNREACHABLE then unreachable[#unreachable + 1] = { id, T } end
    end
    write_block(hotKey, hot)
    redis.call('ZADD', indexKey, unpack(scores))
    write_block(headKey, heads)
    write_block(bodyKey, bodies)
    write_block(keysKey, keys)
    write_block(unmetKey, unmets)
    write_block(depsKey, deps)
  end
  write_edges(edges, plan.isFresh)
  if B[STATUS] == 'planning' and B[PLAN] == 0 and #fresh > 0 then
    B[STATUS] = 'running'
    emit('job.running', '', nil, by)
  end
  -- A task added behind one that is lost is unreachable from the start; people and the lead must hear of it.
  for _, entry in ipairs(unreachable) do settle_down(B, entry[1], entry[2]) end
end

-- Changing what a task is: texts, priority, policy, executor, attempts, dependencies. An edit is
-- { id, version, fields: [name, ...], priority?, policy?, executor?, maxAttempts?, onLost?, parent?, replaces?, deps?: [[reference, c|s]] }.
-- `fields` are those whose values are other than before, but for parent, replaces and dependencies: what their
-- references mean is known only here. Parent and replaces of '' are taken away.

-- Checks one edit against the board and the batch it stands in. Returns a refusal, or nil and its resolved edges.
local function check_edit(B, plan, edit)
  local T = load_task(edit.id)
  local extra = { taskId = edit.id, what = 'task' }
  local refused = T and T[NUMBER] == 0 and refuse('invalid_transition', edit.id, T, extra)
    or refuse_change(B, edit.id, T, edit.version, false, extra)
  if refused then return refused end
  for _, field in ipairs({ 'parent', 'replaces' }) do
    local reference, word = edit[field], nil
    if reference and reference ~= '' then
      edit[field], word = resolve(B, plan.names, reference)
      if not edit[field] then return refuse(word, edit.id, T, { reference = reference }) end
    end
  end
  if not edit.deps then return nil end
  if not is_pending(T[CODE]) and T[CODE] ~= BLOCKED then
    return refuse('fixed_dependencies', edit.id, T, extra)
  end
  local links, word, reference = resolve_edges(B, plan, edit.deps)
  if not links then return refuse(word, edit.id, T, { reference = reference }) end
  for _, link in ipairs(links) do
    if link[1] == edit.id then
      return refuse('dependency_cycle', edit.id, T, { path = { edit.id, edit.id } })
    end
  end
  return nil, links
end

-- Are these the very dependencies that the task has, in whatever order?
local function has_links(id, links)
  local deps, conditionOf = redis.call('HGET', depsKey, id) or '', {}
  if #deps ~= #links * 11 then return false end
  for at = 1, #deps, 11 do conditionOf[deps:sub(at, at + 9)] = deps:sub(at + 10, at + 10) end
  for _, link in ipairs(links) do
    if conditionOf[link[1]] ~= link[2] then return false end
  end
  return true
end

-- The names of the fields that a checked edit really changes.
local function changed_fields(edit, links)
  local fields, id = edit.fields, edit.id
  if edit.parent and (cjson.decode(redis.call('HGET', headKey, id)).parent or '') ~= edit.parent then
    fields[#fields + 1] = 'parent'
  end
  if edit.replaces and (redis.call('HGET', replacesKey, id) or '') ~= edit.replaces then
    fields[#fields + 1] = 'replaces'
  end
  if links and not has_links(id, links) then fields[#fields + 1] = 'dependsOn' end
  return fields
end

-- Carries out a checked edit; `head` and `body` are the whole new texts (the head without what parent and replaces
-- are set to), or '' to leave them. One that changes nothing leaves the task as it is.
local function apply_edit(B, edit, links, head, body, by)
  local id, T, fields = edit.id, load_task(edit.id), changed_fields(edit, links)
  if #fields == 0 then return end
  for _, field in ipairs({ 'parent', 'replaces' }) do
    local named = edit[field] or ''
    if named ~= '' then head = head:sub(1, -2) .. ',"' .. field .. '":"' .. named .. '"}' end
  end
  if head ~= '' then redis.call('HSET', headKey, id, head) end
  if body ~= '' then redis.call('HSET', bodyKey, id, body) end
  if edit.priority then T[PRIORITY] = edit.priority end
  if edit.policy then T[POLICY] = edit.policy end
  if edit.executor then T[EXECUTOR] = edit.executor end
  if edit.maxAttempts then T[MAX_ATTEMPTS] = edit.maxAttempts end
  local asksToCancel = edit.onLost == 1 and T[ON_LOST] == 0
  if edit.onLost then T[ON_LOST] = edit.onLost end
  if edit.replaces == '' then
    redis.call('HDEL', replacesKey, id)
  elseif edit.replaces then
    redis.call('HSET', replacesKey, id, edit.replaces)
  end
  -- Their graphs are checked as that of dependencies is.
  if edit.parent or edit.replaces then B[GRAPH] = B[GRAPH] + 1 end
  T[VERSION] = T[VERSION] + 1
  T[UPDATED] = now()
  local deps = links and set_dependencies(B, id, links) or nil
  emit('task.edited', id, T, by, cjson.encode({ fields = fields, deps = deps }))
  save_task(id, T)
  local before = T[CODE]
  replace(B, id, T)
  if asksToCancel and T[CODE] == before then settle_down(B, id, T) end
end

-- Changing what a task is: texts, priority, policy, executor, attempts, dependencies. An edit is
-- { id, version, fields: [name, ...], priority?, policy?, executor?, maxAttempts?, onLost?, parent?, replaces?, deps?: [[reference, c|s]] }.

-- Checks one edit against the board and the batch it stands in. Returns a refusal, or nil and its resolved edges.
local function check_edit(B, plan, edit, index)
  local T = load_task(edit.id)
  local extra = { index = index, what = 'task' }
  local refused = T and T[NUMBER] == 0 and refuse('invalid_transition', edit.id, T, extra)
    or refuse_change(B, edit.id, T, edit.version, false, extra)
  if refused then return refused end
  for _, reference in ipairs({ edit.parent or false, edit.replaces or false }) do
    if reference and (not redis.call('HGET', hotKey, reference) or reference == '@' or reference == B[LEAD] or reference == edit.id) then
      return refuse('unknown_dependency', edit.id, T, { reference = reference, index = index })
    end
  end
  if not edit.deps then return nil end
  if not is_pending(T[CODE]) and T[CODE] ~= BLOCKED then
    return refuse('invalid_transition', edit.id, T, extra)
  end
  local links, unknown = resolve_edges(B, plan, edit.deps)
  if not links then
    return refuse('unknown_dependency', edit.id, T, { reference = unknown, index = index })
  end
  for _, link in ipairs(links) do
    if link[1] == edit.id then
      return refuse('dependency_cycle', edit.id, T, { path = { edit.id, edit.id }, index = index })
    end
  end
  return nil, links
end

-- Carries out a checked edit; `head` and `body` are the whole new texts, or '' to leave them.
local function apply_edit(B, edit, links, head, body, by)
  local id, T = edit.id, load_task(edit.id)
  if head ~= '' then redis.call('HSET', headKey, id, head) end
  if body ~= '' then redis.call('HSET', bodyKey, id, body) end
  if edit.priority then T[PRIORITY] = edit.priority end
  if edit.policy then T[POLICY] = edit.policy end
  if edit.executor then T[EXECUTOR] = edit.executor end
  if edit.maxAttempts then T[MAX_ATTEMPTS] = edit.maxAttempts end
  local asksToCancel = edit.onLost == 1 and T[ON_LOST] == 0
  if edit.onLost then T[ON_LOST] = edit.onLost end
  if edit.replaces then redis.call('HSET', replacesKey, id, edit.replaces) end
  T[VERSION] = T[VERSION] + 1
  T[UPDATED] = now()
  local deps = links and set_dependencies(B, id, links) or nil
  emit('task.edited', id, T, by, cjson.encode({ fields = edit.fields, deps = deps }))
  save_task(id, T)
  local before = T[CODE]
  replace(B, id, T)
  if asksToCancel and T[CODE] == before then settle_down(B, id, T) end
end

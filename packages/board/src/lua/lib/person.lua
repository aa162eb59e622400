-- Refusals of calls that name the version they saw, in the order that the design fixes: job, task, [terminal],
-- version. `terminal`: what the call needs: true (reopen, retry), false (everything else).
local function refuse_change(B, id, T, version, terminal, extra)
  if not T then return refuse('not_found', id, nil, extra or { what = 'task' }) end
  if not terminal and is_terminal(T[CODE]) then return refuse('terminal', id, T, extra) end
  if version and version ~= T[VERSION] then return refuse('stale_version', id, T, extra) end
  if terminal and not is_terminal(T[CODE]) then return refuse('invalid_transition', id, T, extra) end
  return nil
end

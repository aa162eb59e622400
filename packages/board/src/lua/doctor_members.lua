-- Checks that the members of a sorted set belong there.
-- ARGV: 1 mend 0|1, 2 'index' | 'window' | 'lease' | 'due', 3 start (rank), 4 most members
-- Returns 'ok', findings, the rank where the rest begins or -1.
local name, start, most = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local refused = refuse_board(load_board())
if refused then return refused end
local sets = {
  index = { indexKey, function(T) return T[NUMBER] > 0 end, 'a task' },
  window = { windowKey, function(T)
    return T[NUMBER] > 0 and (T[CODE] == QUEUED or T[CODE] == IN_PROGRESS)
  end, 'queued or in progress' },
  lease = { leaseKey, function(T)
    return T[CODE] == IN_PROGRESS or (T[CODE] == IN_REVIEW and T[TOKEN] ~= '')
  end, 'in progress or being checked' },
  due = { dueKey, function(T) return T[CODE] == SCHEDULED or awaits_runner(T) end, 'scheduled, or checks without a runner' },
}
local key, belongs, expected = unpack(sets[name])
local members, removed = redis.call('ZRANGE', key, start, start + most - 1), 0
for _, id in ipairs(members) do
  local T, isDamaged = readable(id)
  if not isDamaged and (not T or not belongs(T)) then
    report(name, id, 'in ' .. name .. ': ' .. (T and code_text(T[CODE]) or 'no task'), expected, function()
      removed = removed + redis.call('ZREM', key, id)
    end)
  end
end
return { 'ok', findings, #members == most and start + most - removed or -1 }

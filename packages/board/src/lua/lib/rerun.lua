-- Reruns of many tasks: reruns[<n>] is the record of one, reruns["<n>:<chunk>"] a part of what it chose, in the order
-- of the tasks' numbers, each as "<task ID>:<version>;". Chunks go as they are carried out; the last RERUNS_KEPT records stay.
local RERUNS_KEPT = 256
local RERUN_BY, RERUN_REASON, RERUN_TOLD, RERUN_MATCHED, RERUN_CHUNKS, RERUN_CHUNK, RERUN_AT = 1, 2, 3, 4, 5, 6, 7
local RERUN_REOPENED, RERUN_SKIPPED, RERUN_STARTED = 8, 9, 10
-- Started dependents that a rerun tells.
local STARTED_TOLD = 100

local function load_rerun(n)
  return unpack_record(redis.call('HGET', rerunsKey, n))
end

local function rerun_reply(n, R)
  return { 'ok', tonumber(n), R[RERUN_MATCHED], R[RERUN_REOPENED], R[RERUN_SKIPPED], R[RERUN_STARTED] }
end

-- Where the dependent stands among those that are told, or nil.
local function started_at(R, id)
  for at = 1, #R[RERUN_STARTED], 10 do
    if R[RERUN_STARTED]:sub(at, at + 9) == id then return at end
  end
  return nil
end

-- Notes dependents that have started on an earlier result; a task that runs again itself is none of them any more.
local function note_started(R, id, started)
  local at = started_at(R, id)
  if at then R[RERUN_STARTED] = R[RERUN_STARTED]:sub(1, at - 1) .. R[RERUN_STARTED]:sub(at + 10) end
  for _, dependent in ipairs(started) do
    if #R[RERUN_STARTED] >= STARTED_TOLD * 10 then return end
    if not started_at(R, dependent) then R[RERUN_STARTED] = R[RERUN_STARTED] .. dependent end
  end
end

-- A batch of changes by a person or the lead, all or nothing: adds, edits, cancels, reopens.
-- ARGV: 1 by, 2 lead token or '' (the lead's writes are fenced), 3 requestId or '', 4 hash of the call,
--       5 graph version that the caller checked for cycles, or '' without edits of dependencies,
--       6 headers JSON (lib/add.lua), 7 changes JSON {edits: [...] (lib/edit.lua),
--         cancels: [{id, version, reason, cascade}], reopens: [{id, version, reason}],
--         dryRun: only check, approve: version of the plan whose tasks these are},
--       8 fill token while the board is accepting,
--       then head and body of each header, then head and body of each edit
-- Returns 'ok', IDs and numbers of the added in input order, how many are new, changed IDs and their versions,
-- started dependents of what was reopened; 'collision' (take other IDs), 'graph' (check for cycles again).
local by, token, requestId, hash, graph = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local headers, changes = cjson.decode(ARGV[6]), cjson.decode(ARGV[7])
local edits, cancels, reopens = changes.edits or {}, changes.cancels or {}, changes.reopens or {}
local TEXTS = 7

local function numbers_of(ids)
  local numbers = {}
  for i, id in ipairs(ids) do numbers[i] = load_task(id)[NUMBER] end
  return numbers
end

local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if token ~= '' then refused = refuse_holder(B, B[LEAD], load_task(B[LEAD]), token, '') end
-- A repeat is answered before an outdated token is refused, but never to a stranger.
if not refused or refused[2] == 'lease_lost' or refused[2] == 'terminal' then
  local earlier, mismatch = earlier_answer(requestId, hash)
  if mismatch then return mismatch end
  if earlier then return earlier end
end
if refused then return refused end
if B[STATUS] == 'accepting' and B[FILL] ~= ARGV[8] then return refuse('overtaken') end
if token ~= '' and B[PLAN] > 0 and not changes.dryRun then return refuse('plan_mode') end
if changes.approve then
  refused = refuse_decision(B, changes.approve)
  if refused then return refused end
end
local onlyReopens = #headers == 0 and #edits == 0 and #cancels == 0
if (is_ended(B) and not onlyReopens) or (B[CANCELLING] == 1 and not is_ended(B)) then
  return refuse('terminal', nil, nil, { job = B[STATUS] })
end

-- Everything is checked before anything is written.
local plan
refused, plan = check_adds(B, headers)
if refused then return refused end
local links, movesGraph = {}, false
for i, edit in ipairs(edits) do
  refused, links[i] = check_edit(B, plan, edit)
  if refused then return refused end
  movesGraph = movesGraph or links[i] ~= nil or (edit.parent or '') ~= '' or (edit.replaces or '') ~= ''
end
for _, cancel in ipairs(cancels) do
  local T = load_task(cancel.id)
  refused = T and T[NUMBER] == 0 and refuse('invalid_transition', cancel.id, T)
    or refuse_change(B, cancel.id, T, cancel.version, false, { taskId = cancel.id, what = 'task' })
  if refused then return refused end
end
for _, reopen in ipairs(reopens) do
  local T = load_task(reopen.id)
  refused = refuse_change(B, reopen.id, T, reopen.version, true, { taskId = reopen.id, what = 'task' })
  if not refused and T[CODE] == REJECTED then refused = refuse('invalid_transition', reopen.id, T) end
  if refused then return refused end
end
if movesGraph and graph ~= int(B[GRAPH]) then return { 'graph' } end
if changes.dryRun then return { 'ok', plan.standing, {}, #plan.fresh, {}, {}, {} } end

if changes.approve then approve_plan(B, by, plan.standing) end
apply_adds(B, plan, by, TEXTS)
for i, edit in ipairs(edits) do
  local at = TEXTS + 2 * (#headers + i)
  apply_edit(B, edit, links[i], ARGV[at], ARGV[at + 1], by)
end
for _, cancel in ipairs(cancels) do
  cancel_task(B, cancel.id, load_task(cancel.id), cancel.reason, by)
  if cancel.cascade then cascade_on(B, cancel.id, 0, cancel.reason, by, cancel.id) end
end
local started = {}
local reopensLead = false
for _, reopen in ipairs(reopens) do reopensLead = reopensLead or reopen.id == B[LEAD] end
if #reopens > 0 then reopen_job(B, by, reopensLead) end
for _, reopen in ipairs(reopens) do
  local T = load_task(reopen.id)
  for _, id in ipairs(reopen_task(B, reopen.id, T, reopen.reason, by)) do started[#started + 1] = id end
end

if B[STATUS] ~= 'accepting' then
  if #plan.fresh > 0 or #reopens > 0 then lift_pauses(B, 'stall', by, '') end
  if #cancels > 0 or #edits > 0 then check_end(B, last_event()) end
  dispatch(B)
end
save_board(B)
local changed, versions = {}, {}
for _, list in ipairs({ edits, cancels, reopens }) do
  for _, change in ipairs(list) do
    changed[#changed + 1] = change.id
    versions[#versions + 1] = load_task(change.id)[VERSION]
  end
end
local answer = { 'ok', plan.standing, numbers_of(plan.standing), #plan.fresh, changed, versions, started }
keep_answer(requestId, hash, answer)
return answer

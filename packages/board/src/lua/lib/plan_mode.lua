-- Plan mode: no task starts before a person has approved the plan. B[PLAN] is 0 without it or once approved, 1 while
-- the lead plans, 2 while a plan waits for people; B[PLAN_NUMBER] counts the plans that were proposed.
-- job["plan"] is the plan that waits, job["planDecision"] what people said of the last one.

-- Puts a plan before people; what it would add stands in job["plan"], and what is on the board belongs to it.
local function propose_plan(B, by, tasks)
  B[PLAN] = 2
  B[PLAN_NUMBER] = B[PLAN_NUMBER] + 1
  B[STATUS] = 'awaiting_approval'
  emit('plan.proposed', '', nil, by, cjson.encode({ version = B[PLAN_NUMBER], tasks = tasks }))
end

-- Refuses a decision when no plan waits for one, or another plan than the one that was seen.
local function refuse_decision(B, version)
  if is_ended(B) or B[CANCELLING] == 1 then return refuse('terminal', nil, nil, { job = B[STATUS] }) end
  if B[PLAN] ~= 2 then return refuse('no_plan') end
  if version ~= B[PLAN_NUMBER] then return refuse('stale_plan', nil, nil, { plan = B[PLAN_NUMBER] }) end
  return nil
end

-- The lead, which waits for the decision, goes on.
local function free_lead(B, decision)
  redis.call('HDEL', jobKey, 'plan')
  redis.call('HSET', jobKey, 'planDecision', cjson.encode(decision))
  if B[LEAD] == '' then return end
  local T = load_task(B[LEAD])
  if T[HOLD] ~= 'approval' then return end
  queue_lead(T)
  save_task(B[LEAD], T)
end

local function approve_plan(B, by, added)
  B[PLAN] = 0
  B[STATUS] = 'running'
  emit('plan.approved', '', nil, by, cjson.encode({ version = B[PLAN_NUMBER] }))
  emit('job.running', '', nil, by)
  free_lead(B, { version = B[PLAN_NUMBER], decision = 'approved', tasks = #added > 0 and added or nil })
end

-- A lead that failed before its plan was made leaves what is on the board to people.
local function leave_plan(B)
  if B[PLAN] == 1 and total_of(B) > 0 then propose_plan(B, 'harness:board', 0) end
end

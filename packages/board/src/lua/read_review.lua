-- What a submitted task waits for. ARGV: 1 task ID
-- Returns 'ok', 'checks' | 'review' or '', 1 while a runner has its checks, and what is known of the last runner as JSON.
local id = ARGV[1]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if not T then return refuse('not_found', id, nil, { what = 'task' }) end
if T[CODE] ~= IN_REVIEW then return { 'ok', '', 0, '' } end
return { 'ok', T[HOLD], T[TOKEN] ~= '' and 1 or 0, redis.call('HGET', runnersKey, id) or '' }
